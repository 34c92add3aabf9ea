"""A report as SARIF 2.1.0 (OASIS), which code scanning services take."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from llmdctl._version import __version__
from llmdctl.findings.model import Evidence, Finding, Severity, SourceRef
from llmdctl.findings.registry import Rule, RuleRegistry
from llmdctl.findings.report import Report, Suppressed, SuppressedBy
from llmdctl.findings.text import escape

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_STDIN = "-"
_FINGERPRINT = "llmdctl/v1"


def render_sarif(report: Report, rules: RuleRegistry | None = None, *, ascii_only: bool = False) -> str:
    """The report as a SARIF log of one run. `rules` describes the codes; without it their names alone are given.

    Suppressed findings are results with a suppression, what was skipped a notification of the run.
    """
    return json.dumps(sarif_log(report, rules), indent=2, ensure_ascii=ascii_only) + "\n"


def sarif_log(report: Report, rules: RuleRegistry | None = None) -> dict[str, Any]:
    """The same as plain data."""
    suppressed = [item.finding for item in report.suppressed]
    codes = sorted({finding.code for finding in (*report.findings, *suppressed)})
    index = {code: number for number, code in enumerate(codes)}
    results = [_result(finding, index) for finding in report.findings]
    results += [{**_result(item.finding, index), "suppressions": [_suppression(item)]} for item in report.suppressed]
    numbers = replace(report, findings=(), suppressed=(), unresolved=(), skipped=(), stale=()).as_dict()
    counts = {"target": numbers["target"], "coverage": numbers["coverage"], "summary": report.summary()}
    run = {
        "tool": {
            "driver": {
                "name": "llmdctl",
                "version": __version__,
                "rules": [_descriptor(code, rules.get(code) if rules else None) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "results": results,
        "properties": counts,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(code: str, rule: Rule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": code}
    text = f"{rule.title}.\nWhy: {rule.why}.\nFix: {rule.fix}.\nMore: llmdctl explain {code}"
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["kubernetes", code[:3]]},
    }


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    parts = [finding.title]
    if finding.why:
        parts.append(f"Why: {finding.why}")
    if finding.fix:
        parts.append(f"Fix: {finding.fix}")
    location: dict[str, Any] = {}
    if finding.source:
        location["physicalLocation"] = _physical(finding.source)
    if finding.object is not None:
        location["logicalLocations"] = [_logical(finding)]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": _message("\n".join(map(escape, parts)))},
        "locations": [location] if location else [],
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
    }
    related = [_related(item, number) for number, item in enumerate(finding.evidence) if item.source]
    if related:
        result["relatedLocations"] = related
    if finding.root_cause or finding.explains:
        result["properties"] = {"rootCause": finding.root_cause, "explains": list(finding.explains)}
    return result


def _message(text: str) -> str:
    """Text in which nothing reads as SARIF's own links `[text](id)` and placeholders `{0}`."""
    for character in "\\[]":
        text = text.replace(character, "\\" + character)
    return text.replace("{", "{{").replace("}", "}}")


def _physical(source: SourceRef) -> dict[str, Any]:
    if source.template:
        # Lines of rendered text say nothing about the template.
        return {"artifactLocation": _artifact(source.template)}
    place: dict[str, Any] = {"artifactLocation": _artifact(source.file)}
    if source.line:
        place["region"] = {"startLine": source.line, **({"startColumn": source.column} if source.column else {})}
    return place


def _artifact(file: str) -> dict[str, Any]:
    from urllib.parse import quote

    path = quote("stdin" if file == _STDIN else file.removeprefix("./"), safe="/", errors="backslashreplace")
    if file.startswith("/"):
        return {"uri": f"file://{path}"}
    return {"uri": path, "uriBaseId": "%SRCROOT%"}


def _logical(finding: Finding) -> dict[str, Any]:
    ref = finding.object
    assert ref is not None  # noqa: S101 - the caller looked
    name = "/".join(filter(None, (ref.namespace, ref.kind or "object", ref.name)))
    return {
        "name": escape(ref.name or ref.kind or "object"),
        "fullyQualifiedName": escape(f"{name}:{finding.pointer}" if finding.pointer else name),
        "kind": "object",
    }


def _related(item: Evidence, number: int) -> dict[str, Any]:
    assert item.source is not None  # noqa: S101 - the caller looked
    return {
        "id": number,
        "physicalLocation": _physical(item.source),
        "message": {"text": _message(escape(item.text))},
    }


def _suppression(item: Suppressed) -> dict[str, Any]:
    kind = "inSource" if item.by is SuppressedBy.ANNOTATION else "external"
    return {"kind": kind, "status": "accepted", "justification": escape(item.reason)}


def _notifications(report: Report) -> list[dict[str, Any]]:
    out = []
    for check in report.skipped:
        about = f" {check.object}" if check.object and check.object.name else ""
        notification: dict[str, Any] = {
            "level": "note",
            "message": {"text": _message(escape(f"{check.code} was skipped{about}: {check.reason}"))},
        }
        if check.source:
            notification["locations"] = [{"physicalLocation": _physical(check.source)}]
        out.append(notification)
    return out
