"""A report as Markdown: for the summary of a CI job or a comment on a change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmdctl.findings.model import Finding
from llmdctl.findings.report import Report
from llmdctl.findings.text import OBJECTS, escape, folded, summary

# Markup, tables, mathematics, references (#1), emoji (:x:) and what is made a link by itself (https://, www.).
_SPECIAL = re.compile(r"[\\`*_\[\]#|~>$]|:(?=\S)|(?<=www)\.", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", "@": "&#64;"}

ROWS = 200
"""Findings that are listed; GitHub takes summaries of up to 1 MiB. What is left out is counted."""


def render_markdown(report: Report) -> str:
    """A heading, one row a finding, and why and how to mend it below; consequences stand under their cause."""
    blocks = folded(report.findings)
    lines = ["## llmdctl validate", "", _text(summary(report)), ""]
    if blocks:
        lines += ["| severity | code | object | where | finding |", "|---|---|---|---|---|"]
        lines += [_row(finding) for finding, _ in blocks[:ROWS]]
        lines.append("")
    if len(blocks) > ROWS:
        lines += [f"{len(blocks) - ROWS} more are not listed here.", ""]
    for finding, consequences in blocks[:ROWS]:
        lines.extend(_details(finding, consequences))
    skipped = [check for check in report.skipped if check.code == OBJECTS]
    if skipped:
        lines += ["Not checked:", ""]
        for check in skipped[:ROWS]:
            where = f" ({check.source})" if check.source else ""
            lines.append(f"- {_text(f'{check.object or str()}{where}: {check.reason}')}")
        if len(skipped) > ROWS:
            lines.append(f"- {len(skipped) - ROWS} more")
        lines.append("")
    return "\n".join(lines)


def _row(finding: Finding) -> str:
    cells = (
        str(finding.severity),
        finding.code,
        str(finding.object or ""),
        str(finding.source or ""),
        finding.title,
    )
    return f"| {' | '.join(_text(cell) for cell in cells)} |"


def _details(finding: Finding, consequences: list[Finding]) -> Iterator[str]:
    head = f"{finding.code} {finding.object or ''} {finding.title}"
    yield f"<details><summary>{_html(head)}</summary>"
    yield ""
    if finding.pointer:
        yield f"- field: {_text(finding.pointer)}"
    for item in finding.evidence:
        yield f"- seen: {_text(f'{item.text} ({item.source})' if item.source else item.text)}"
    if finding.why:
        yield f"- why: {_text(finding.why)}"
    if finding.fix:
        yield f"- fix: {_text(finding.fix)}"
    for other in consequences:
        yield f"- also: {_text(f'{other.severity} {other.code} {other.title}')}"
    yield f"- docs: {_text(f'llmdctl explain {finding.code}')}"
    yield ""
    yield "</details>"
    yield ""


def _text(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no link, no mention of anybody."""
    return _html(_SPECIAL.sub(lambda match: "\\" + match[0], escape(text)))


def _html(text: str) -> str:
    return "".join(_ENTITIES.get(character, character) for character in escape(text))
