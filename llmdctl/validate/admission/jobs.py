"""Job and CronJob.

Source of the facts: k8s.io/kubernetes pkg/apis/batch/validation/validation.go; the schedule's grammar is that of
github.com/robfig/cron/v3 ParseStandard.
"""

from __future__ import annotations

import re

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, number, struct, text
from llmdctl.validate.admission.job_policies import check_failure_policy, check_success_policy
from llmdctl.validate.admission.metadata import check_selector
from llmdctl.validate.admission.names import label_value
from llmdctl.validate.admission.pod import RESTART, check_pod_spec, check_template_metadata
from llmdctl.validate.admission.violation import Out

CODE = "ADM026"

_NEGATIVE = "must be greater than or equal to 0"
_COUNTS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: tuple[tuple[int, int, list[str]], ...] = (
    (0, 59, []),
    (0, 23, []),
    (1, 31, []),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_MACROS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_ZONE = re.compile(r"[A-Za-z0-9][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+)*")
_EVERY = re.compile(r"@every ([0-9.]+(ns|us|µs|ms|s|m|h))+")


def check_job(obj: Object, out: Out) -> None:
    """A Job."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    name = text(child(obj, "metadata") or {}, "name")
    if name:
        # The server labels the pods with the Job's name, so a name that is no label value is refused there.
        out.each_invalid(("spec", "template", "labels"), "ADM002", name, label_value(name))
    if spec.get("selector") is not None and spec.get("manualSelector") is not True:
        out.invalid(("spec", "selector"), CODE, spec["selector"], "`selector` not auto-generated")
    check_job_spec(spec, ("spec",), out)


def check_job_spec(spec: Object, path: Path, out: Out) -> None:
    """The spec of a Job or of a CronJob's template."""
    for key in _COUNTS:
        value = number(spec, key)
        if value is not None and value < 0:
            out.invalid((*path, key), CODE, value, _NEGATIVE)
    selector = child(spec, "selector")
    if selector:
        check_selector(selector, (*path, "selector"), out)
    _check_modes(spec, path, out)
    check_failure_policy(spec, path, out)
    check_success_policy(spec, path, out)
    template = struct(spec, "template")
    if template is None:
        return
    at = (*path, "template")
    check_template_metadata(template, at, out)
    pod = struct(template, "spec")
    if pod is None:
        return
    check_pod_spec(pod, (*at, "spec"), out)
    restart = text(pod, "restartPolicy")
    where = (*at, "spec", "restartPolicy")
    if restart == "":
        out.required(where, RESTART, 'valid values: "OnFailure", "Never"')
    elif restart is not None and restart not in ("Never", "OnFailure"):
        out.unsupported(where, RESTART, restart, ("Never", "OnFailure"))
    elif restart == "OnFailure" and spec.get("podFailurePolicy") is not None:
        out.invalid(where, RESTART, restart, 'only "Never" is supported when podFailurePolicy is specified')


def _check_modes(spec: Object, path: Path, out: Out) -> None:
    mode = spec.get("completionMode")
    if isinstance(mode, str) and mode not in ("Indexed", "NonIndexed"):
        out.unsupported((*path, "completionMode"), CODE, mode, ("Indexed", "NonIndexed"))
    if mode == "Indexed" and spec.get("completions") is None:
        out.required((*path, "completions"), CODE, "when completion mode is Indexed")
    replacement = spec.get("podReplacementPolicy")
    policies = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    if isinstance(replacement, str) and replacement not in policies:
        out.unsupported((*path, "podReplacementPolicy"), CODE, replacement, policies)


def check_cron_job(obj: Object, out: Out) -> None:
    """A CronJob."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    schedule = text(spec, "schedule")
    if schedule == "":
        out.required(("spec", "schedule"), CODE)
    elif schedule is not None:
        _check_schedule(schedule, spec.get("timeZone"), out)
    zone = spec.get("timeZone")
    if zone == "":
        out.invalid(("spec", "timeZone"), CODE, zone, "timeZone must be nil or non-empty string")
    elif isinstance(zone, str) and zone.lower() == "local":
        out.invalid(("spec", "timeZone"), CODE, zone, "timeZone must be an explicit time zone")
    elif isinstance(zone, str) and not _is_time_zone(zone):
        out.invalid(("spec", "timeZone"), CODE, zone, f"unknown time zone {zone}")
    policy = text(spec, "concurrencyPolicy")
    if policy and policy not in ("Allow", "Forbid", "Replace"):
        out.unsupported(("spec", "concurrencyPolicy"), CODE, policy, ("Allow", "Forbid", "Replace"))
    for key in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        value = number(spec, key)
        if value is not None and value < 0:
            out.invalid(("spec", key), CODE, value, _NEGATIVE)
    template = struct(spec, "jobTemplate")
    job = struct(template, "spec") if template is not None else None
    if job is not None:
        check_job_spec(job, ("spec", "jobTemplate", "spec"), out)


def _is_time_zone(name: str) -> bool:
    """False for names that no time zone can have; without a database of zones here, every well-formed one is taken."""
    import zoneinfo

    if not _ZONE.fullmatch(name):
        return False
    known = zoneinfo.available_timezones()
    return not known or name in known


def _check_schedule(schedule: str, zone: object, out: Out) -> None:
    path = ("spec", "schedule")
    if "TZ" in schedule:
        detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule" if zone else "use the timeZone field"
        out.invalid(path, CODE, schedule, f"cannot use TZ or CRON_TZ in schedule, {detail}")
        return
    if schedule.startswith("@"):
        if schedule not in _MACROS and not _EVERY.fullmatch(schedule):
            out.invalid(path, CODE, schedule, "unrecognized descriptor")
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        out.invalid(path, CODE, schedule, f"expected exactly 5 fields, found {len(fields)}: {fields}")
        return
    for value, (low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in value.split(","):
            if not _is_range(part.lower(), low, high, words):
                out.invalid(path, CODE, schedule, f"failed to parse {part!r}: must be within {low}-{high}")


def _is_range(part: str, low: int, high: int, words: list[str]) -> bool:
    """`*`, `?`, `n`, `a-b`, each with an optional `/step`."""
    span, slash, step = part.partition("/")
    if slash and not (step.isdecimal() and int(step) > 0):
        return False
    if span in ("*", "?"):
        return True
    ends = [_cron_number(item, low, words) for item in span.split("-")]
    if not 1 <= len(ends) <= 2 or any(end is None for end in ends):
        return False
    first, last = ends[0] or 0, ends[-1] or 0
    return low <= first <= last <= high


def _cron_number(item: str, low: int, words: list[str]) -> int | None:
    if item in words:
        return words.index(item) + low
    return int(item) if item.isdecimal() else None
