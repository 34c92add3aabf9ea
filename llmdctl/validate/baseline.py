"""Baselines: findings that were there before, kept in a file, so that a check fails for new ones only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import PurePath
from typing import Any

from llmdctl.findings import Finding, Report, SourceRef, Stale, Suppressed, SuppressedBy, UserError
from llmdctl.manifest import read_text
from llmdctl.manifest.emit import emit_yaml
from llmdctl.manifest.files import read_bytes
from llmdctl.manifest.record import record
from llmdctl.manifest.typed import TypedError, doc, dump, json_schema, load
from llmdctl.validate.select import Selection

API_VERSION = "baseline.llmdctl.io/v1"
BASELINE_SCHEMA_ID = "https://llmdctl.io/schemas/baseline-v1.json"


@record
class Known:
    """A finding that is known. The fingerprint decides; the rest is for people who read the file."""

    fingerprint: str = field(metadata=doc("Fingerprint of the finding.", pattern="[0-9a-f]{16}"))
    code: str = field(metadata=doc("Its code.", pattern="[A-Z]{3}[0-9]{3}"))
    object: str = field(default="", metadata=doc("Kind/name of its object."))
    namespace: str = field(default="", metadata=doc("Namespace of its object."))
    pointer: str = field(default="", metadata=doc("The field."))
    title: str = field(default="", metadata=doc("What it said."))
    count: int = field(default=1, metadata=doc("How many findings have this fingerprint.", minimum=1))


@record
class Baseline:
    """The content of a baseline file."""

    api_version: str = field(metadata=doc("baseline.llmdctl.io/v1", pattern="baseline\\.llmdctl\\.io/v1"))
    kind: str = field(metadata=doc("Baseline", pattern="Baseline"))
    findings: list[Known] = field(default_factory=list, metadata=doc("What is known."))


def baseline_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a baseline."""
    return json_schema(Baseline, identifier=BASELINE_SCHEMA_ID, title=f"Baseline ({API_VERSION})")


def load_baseline(path: str) -> Baseline:
    """Reads a baseline. Raises UserError when it can't be read or has another shape."""
    documents = read_text(read_bytes(path), path).require()
    if len(documents) != 1:
        raise UserError("a baseline is one document", source=SourceRef(path), fix="write one with --write-baseline")
    try:
        return load(Baseline, documents[0].object)
    except TypedError as error:
        first, *others = (UserError(str(item), source=SourceRef(path), fix=item.fix) for item in error.problems)
        raise UserError(first.what, source=first.source, fix=first.fix, others=others) from error


def baseline_of(findings: Sequence[Finding]) -> Baseline:
    """A baseline of these findings, sorted so that a diff of two baselines is short."""
    counts = Counter(finding.fingerprint for finding in findings)
    first = {finding.fingerprint: finding for finding in reversed(findings)}
    known = [_known(finding, counts[fingerprint]) for fingerprint, finding in first.items()]
    known.sort(key=lambda item: (item.code, item.namespace, item.object, item.pointer, item.fingerprint))
    return Baseline(api_version=API_VERSION, kind="Baseline", findings=known)


def _known(finding: Finding, count: int) -> Known:
    ref = finding.object
    return Known(
        fingerprint=finding.fingerprint,
        code=finding.code,
        object=str(ref) if ref else "",
        namespace=ref.namespace if ref else "",
        pointer=finding.pointer,
        title=finding.title,
        count=count,
    )


def baseline_text(baseline: Baseline) -> str:
    """The file's text."""
    head = "# Findings that `llmdctl validate --baseline` does not count. Written by --write-baseline.\n"
    return head + emit_yaml(dump(baseline))


def with_baseline(report: Report, baseline: Baseline, path: str, selection: Selection) -> Report:
    """The report with the known findings suppressed, and the entries that fit nothing any more as stale.

    An entry of a rule that did not run is not stale: nothing was looked at.
    """
    left = Counter({item.fingerprint: item.count for item in baseline.findings})
    name = PurePath(path).name
    kept, suppressed = [], []
    for finding in report.findings:
        if left[finding.fingerprint] > 0:
            left[finding.fingerprint] -= 1
            suppressed.append(Suppressed(finding, SuppressedBy.BASELINE, f"known in {name}"))
        else:
            kept.append(finding)
    unseen = {check.code for check in report.skipped if check.object is None}
    stale = [
        Stale(SuppressedBy.BASELINE, item.code, item.object, item.pointer)
        for item in baseline.findings
        if left[item.fingerprint] == item.count and selection.wants(item.code) and item.code not in unseen
    ]
    return replace(
        report,
        findings=tuple(kept),
        suppressed=(*report.suppressed, *suppressed),
        stale=(*report.stale, *stale),
    )
