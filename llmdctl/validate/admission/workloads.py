"""Deployment, ReplicaSet, DaemonSet and StatefulSet.

Source of the facts: k8s.io/kubernetes pkg/apis/apps/validation/validation.go. It leaves the pod spec of a StatefulSet
unchecked, so what is wrong there shows only when the pods are made.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, number, objects, struct, text
from llmdctl.validate.admission.claims import check_claim_spec
from llmdctl.validate.admission.metadata import check_selector, is_empty_selector, labels_of, selects
from llmdctl.validate.admission.names import percent
from llmdctl.validate.admission.pod import RESTART, check_pod_spec, check_template_metadata
from llmdctl.validate.admission.violation import Out

CODE = "ADM014"

UNMATCHED = "`selector` does not match template `labels`"
NEGATIVE = "must be greater than or equal to 0"
_COUNTS = ("replicas", "minReadySeconds", "revisionHistoryLimit")
_SPEC: Path = ("spec",)
_TEMPLATE: Path = ("spec", "template")


def check_deployment(obj: Object, out: Out) -> None:
    """A Deployment."""
    spec = _check_common(obj, "deployment", out)
    if spec is None:
        return
    strategy = struct(spec, "strategy")
    if strategy:
        _check_deployment_strategy(strategy, out)
    deadline = number(spec, "progressDeadlineSeconds")
    if deadline is not None:
        at = ("spec", "progressDeadlineSeconds")
        if deadline < 0:
            out.invalid(at, CODE, deadline, NEGATIVE)
        if deadline <= (number(spec, "minReadySeconds") or 0):
            out.invalid(at, CODE, deadline, "must be greater than minReadySeconds")


def check_replica_set(obj: Object, out: Out) -> None:
    """A ReplicaSet."""
    _check_common(obj, "replicaset", out)


def check_daemon_set(obj: Object, out: Out) -> None:
    """A DaemonSet."""
    spec = _check_common(obj, "daemonset", out)
    strategy = struct(spec, "updateStrategy") if spec is not None else None
    if not strategy:
        return
    path = ("spec", "updateStrategy")
    kind = text(strategy, "type")
    if kind and kind not in ("OnDelete", "RollingUpdate"):
        out.unsupported((*path, "type"), CODE, kind, ("OnDelete", "RollingUpdate"))
    rolling = child(strategy, "rollingUpdate")
    if rolling is not None and kind in ("", "RollingUpdate"):
        at = (*path, "rollingUpdate")
        surge = check_int_or_percent(rolling.get("maxSurge"), (*at, "maxSurge"), out, CODE, ceiling=100)
        down = check_int_or_percent(rolling.get("maxUnavailable"), (*at, "maxUnavailable"), out, CODE, ceiling=100)
        down = 1 if rolling.get("maxUnavailable") is None else down
        surge = 0 if rolling.get("maxSurge") is None else surge
        if down and surge:
            out.invalid(
                (*at, "maxSurge"), CODE, rolling.get("maxSurge"), "may not be set when maxUnavailable is non-zero"
            )
        elif down == 0 and surge == 0:
            detail = "cannot be 0 when maxSurge is 0"
            out.invalid((*at, "maxUnavailable"), CODE, rolling.get("maxUnavailable"), detail)


_TEMPLATES_CHECKED_MINOR = 34
"""Read in the sources of 1.34 to 1.37; those of 1.33 were not at hand."""


def check_stateful_set(obj: Object, out: Out) -> None:
    """A StatefulSet. Before 1.34 faults in its pod spec only surface with the pods."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    _check_counts(spec, out)
    _check_selector(spec, "statefulset", out)
    template = struct(spec, "template")
    if template is not None:
        check_template_metadata(template, _TEMPLATE, out)
        _check_pod_basics(template, "StatefulSet", out)
        pod = struct(template, "spec")
        if pod is not None:
            names = [
                text(child(item, "metadata") or {}, "name") or "" for _, item in objects(spec, "volumeClaimTemplates")
            ]
            check_pod_spec(pod, (*_TEMPLATE, "spec"), _pods_judge(out), claim_templates=names)
    _check_claim_templates(spec, out)
    _check_stateful_policies(spec, out)


def _pods_judge(out: Out) -> Out:
    return out if out.minor >= _TEMPLATES_CHECKED_MINOR else out.failing_later()


def _check_claim_templates(spec: Object, out: Out) -> None:
    late = _pods_judge(out)
    for index, item in objects(spec, "volumeClaimTemplates"):
        claim = struct(item, "spec")
        if claim is not None:
            check_claim_spec(claim, ("spec", "volumeClaimTemplates", index, "spec"), late)


def _check_stateful_policies(spec: Object, out: Out) -> None:
    management = text(spec, "podManagementPolicy")
    if management and management not in ("OrderedReady", "Parallel"):
        detail = "must be 'OrderedReady' or 'Parallel'"
        out.invalid(("spec", "podManagementPolicy"), CODE, management, detail)
    strategy = struct(spec, "updateStrategy") or {}
    kind = text(strategy, "type")
    if kind and kind not in ("OnDelete", "RollingUpdate"):
        out.invalid(("spec", "updateStrategy", "type"), CODE, kind, "must be 'RollingUpdate' or 'OnDelete'")
    rolling = child(strategy, "rollingUpdate")
    if rolling is not None:
        at = ("spec", "updateStrategy", "rollingUpdate")
        if kind == "OnDelete":
            out.invalid(at, CODE, rolling, "only allowed for updateStrategy 'RollingUpdate'")
        _check_not_negative(rolling, ("partition",), at, out)
        down = rolling.get("maxUnavailable")
        if check_int_or_percent(down, (*at, "maxUnavailable"), out, CODE, ceiling=100) == 0:
            out.invalid((*at, "maxUnavailable"), CODE, down, "cannot be 0")
    retention = child(spec, "persistentVolumeClaimRetentionPolicy") or {}
    for key in ("whenDeleted", "whenScaled"):
        policy = text(retention, key)
        if policy and policy not in ("Delete", "Retain"):
            at = ("spec", "persistentVolumeClaimRetentionPolicy", key)
            out.unsupported(at, CODE, policy, ("Delete", "Retain"))
    ordinals = child(spec, "ordinals")
    if ordinals is not None:
        _check_not_negative(ordinals, ("start",), ("spec", "ordinals"), out)


def _check_common(obj: Object, kind: str, out: Out) -> Object | None:
    """What Deployment, ReplicaSet and DaemonSet share; the spec, None when it is of a wrong type."""
    spec = struct(obj, "spec")
    if spec is None:
        return None
    _check_counts(spec, out)
    _check_selector(spec, kind, out)
    template = struct(spec, "template")
    if template is not None:
        check_template_metadata(template, _TEMPLATE, out)
        pod = struct(template, "spec")
        if pod is not None:
            check_pod_spec(pod, (*_TEMPLATE, "spec"), out)
            _check_pod_basics(template, kind, out)
    return spec


def _check_pod_basics(template: Object, kind: str, out: Out) -> None:
    pod = child(template, "spec") or {}
    restart = text(pod, "restartPolicy")
    if restart and restart != "Always":
        out.unsupported((*_TEMPLATE, "spec", "restartPolicy"), RESTART, restart, ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        at = (*_TEMPLATE, "spec", "activeDeadlineSeconds")
        out.forbidden(at, CODE, f"activeDeadlineSeconds in {kind} is not supported")


def _check_counts(spec: Object, out: Out) -> None:
    _check_not_negative(spec, _COUNTS, _SPEC, out)


def _check_not_negative(holder: Object, keys: tuple[str, ...], path: Path, out: Out) -> None:
    for key in keys:
        value = holder.get(key)
        if type(value) is int and value < 0:
            out.invalid((*path, key), CODE, value, NEGATIVE)


def _check_selector(spec: Object, kind: str, out: Out) -> None:
    template = struct(spec, "template")
    selector = spec.get("selector")
    if selector is None:
        out.required(("spec", "selector"), CODE)
    elif not isinstance(selector, dict):
        return
    else:
        check_selector(selector, ("spec", "selector"), out)
        if is_empty_selector(selector):
            out.invalid(("spec", "selector"), CODE, {}, f"empty selector is invalid for {kind}")
            return
    if template is None:
        return
    labels = labels_of(template)
    if selector is None or not selects(selector, labels):
        at = ("spec", "template", "metadata", "labels")
        out.invalid(at, CODE, labels or None, UNMATCHED)


def _check_deployment_strategy(strategy: Object, out: Out) -> None:
    path: Path = ("spec", "strategy")
    kind = text(strategy, "type")
    rolling = child(strategy, "rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            out.forbidden((*path, "rollingUpdate"), CODE, detail)
    elif kind not in ("", "RollingUpdate", None):
        out.unsupported((*path, "type"), CODE, kind, ("Recreate", "RollingUpdate"))
    elif rolling is not None:
        check_rolling(rolling, (*path, "rollingUpdate"), out, CODE)


def check_rolling(rolling: Object, path: Path, out: Out, code: str) -> None:
    """maxSurge and maxUnavailable of a Deployment, both 25% when absent."""
    surge, down = rolling.get("maxSurge", "25%"), rolling.get("maxUnavailable", "25%")
    down_value = check_int_or_percent(down, (*path, "maxUnavailable"), out, code, ceiling=100)
    surge_value = check_int_or_percent(surge, (*path, "maxSurge"), out, code)
    if down_value == 0 and surge_value in (0, None) and isinstance(surge, int | str):
        out.invalid((*path, "maxUnavailable"), code, down, "may not be 0 when `maxSurge` is 0")


def check_int_or_percent(value: object, path: Path, out: Out, code: str, *, ceiling: int | None = None) -> int | None:
    """A count or percentage: the number in it, None when absent or faulty. `ceiling` bounds percentages."""
    if type(value) is int:
        if value < 0:
            out.invalid(path, code, value, NEGATIVE)
            return None
        return value
    if not isinstance(value, str):
        return None
    reasons = percent(value)
    if reasons:
        out.each_invalid(path, code, value, reasons)
        return None
    amount = int(value[:-1])
    if ceiling is not None and amount > ceiling:
        out.invalid(path, code, value, f"must not be greater than {ceiling}%")
    return amount
