"""A report as workflow commands of GitHub Actions, which shows them as annotations on the lines of a change."""

from __future__ import annotations

from llmdctl.findings.model import Finding, Severity
from llmdctl.findings.report import Report
from llmdctl.findings.text import OBJECTS, escape, summary

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(report: Report) -> str:
    """One command a finding and an unchecked object, then the summary as an ordinary line of the log."""
    lines = [_command(finding) for finding in report.findings]
    for check in report.skipped:
        if check.code == OBJECTS:
            file = f"file={_property(check.source.file)}," if check.source else ""
            about = f"{check.object} was not checked: " if check.object and check.object.name else "not checked: "
            lines.append(f"::notice {file}title=skipped::{_message(about + check.reason)}")
    lines.append(summary(report))
    return "".join(f"{line}\n" for line in lines)


def _command(finding: Finding) -> str:
    properties = []
    if finding.source and finding.source.template:
        properties.append(f"file={_property(finding.source.template)}")
    elif finding.source:
        properties.append(f"file={_property(finding.source.file)}")
        if finding.source.line:
            properties.append(f"line={finding.source.line}")
        if finding.source.column:
            properties.append(f"col={finding.source.column}")
    about = f" {finding.object}" if finding.object and finding.object.name else ""
    properties.append(f"title={_property(finding.code + about)}")
    parts = [escape(finding.title)]
    if finding.pointer:
        parts.append(f"at: {escape(finding.pointer)}")
    if finding.why:
        parts.append(f"why: {escape(finding.why)}")
    if finding.fix:
        parts.append(f"fix: {escape(finding.fix)}")
    message = "%0A".join(_message(part) for part in parts)
    return f"::{_COMMANDS[finding.severity]} {','.join(properties)}::{message}"


def _message(text: str) -> str:
    """A command's message, escaped as the runner's own toolkit does it."""
    return escape(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
