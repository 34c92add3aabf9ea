"""A report as text for people: one line a finding that stands alone, then where, why and fix."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from llmdctl.findings.model import Evidence, Finding, ObjectRef, Severity
from llmdctl.findings.report import Report, SkippedCheck
from llmdctl.findings.words import counted

# Control characters, bidirectional overrides, invisible and tag characters, lone surrogates: a manifest could use them
# to move the cursor, recolour the terminal or make a text read otherwise than it is.
_HOSTILE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}
_DIM = "2"

OBJECTS = "SCH"
"""Code under which a report lists objects that it could not check; the others are checks that did not run."""

LISTED = 3
"""Objects that could not be checked for one reason and are named; the others are counted (`-v` names all)."""


def escape(text: str) -> str:
    """`text` on one line, with every character that could disturb a terminal written as an escape."""
    return _HOSTILE.sub(lambda match: _written_out(ord(match[0])), text)


def _written_out(code: int) -> str:
    if code <= 0xFF:
        return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def render_text(report: Report, *, colour: bool = False, verbose: int = 0, quiet: bool = False) -> str:
    """The report as text. It ends with one summary line that can be grepped; the exit code is not decided here.

    `quiet` leaves only the first line of each finding. Objects that could not be checked are told, one line a reason;
    `verbose` of 1 or more lists each of them, and what else was skipped, suppressed or could not be resolved.
    `colour` adds ANSI codes.
    """
    paint = _Paint(colour)
    if quiet:
        return _joined(_head(finding, paint) for finding in report.findings)
    lines: list[str] = []
    for finding, consequences in folded(report.findings):
        lines.extend(_block(finding, consequences, paint))
    lines.extend(_unseen(report, paint) if verbose else _unchecked_objects(report, paint))
    lines.append(summary(report))
    return _joined(lines)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def summary(report: Report) -> str:
    """The last line of a report: what was looked at and what was found."""
    seen = report.coverage
    parts = [
        f"{counted(seen.objects_total, 'object')}: {seen.objects_validated} validated, {seen.objects_skipped} skipped",
        f"rules: {seen.rules_run} run, {seen.rules_skipped} skipped"
        + (f", {seen.rules_deselected} deselected" if seen.rules_deselected else ""),
        found(report),
    ]
    partly = sum(1 for check in report.skipped if check.code != OBJECTS) - seen.rules_skipped
    if partly > 0:
        parts.append(f"{counted(partly, 'check')} left out where something was not known (-v lists them)")
    if report.suppressed:
        parts.append(f"{len(report.suppressed)} suppressed")
    if report.unresolved:
        parts.append(f"{len(report.unresolved)} unresolved")
    if report.stale:
        parts.append(f"{len(report.stale)} stale (-v lists them)")
    if report.hidden:
        parts.append(f"{report.hidden} below --min-severity not listed")
    return "; ".join(parts)


def found(report: Report) -> str:
    """How many errors, warnings and infos, and how many of each stand folded under their cause."""
    shown = Counter(finding.severity for finding, _ in folded(report.findings))
    counts = []
    for severity in Severity:
        number = report.count(severity)
        if number or severity is not Severity.INFO:
            under = number - shown[severity]
            counts.append(counted(number, str(severity)) + (f" ({under} folded under their cause)" if under else ""))
    return ", ".join(counts)


class _Paint:
    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def label(self, word: str) -> str:
        return self(_DIM, f"{word:<6}")


def folded(findings: tuple[Finding, ...]) -> list[tuple[Finding, list[Finding]]]:
    """Each finding with the consequences that are listed under it; those get no block of their own."""
    roots = {finding.fingerprint for finding in findings if not finding.root_cause}
    under: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.root_cause in roots:
            under[finding.root_cause].append(finding)
    shown: set[str] = set()
    out = []
    for finding in findings:
        if finding.root_cause in roots:
            continue
        print_ = finding.fingerprint
        out.append((finding, [] if print_ in shown else under.get(print_, [])))
        shown.add(print_)
    return out


def _block(finding: Finding, consequences: list[Finding], paint: _Paint) -> list[str]:
    lines = [_head(finding, paint)]
    where = [escape(str(finding.source))] if finding.source else []
    if finding.pointer:
        where.append(escape(finding.pointer))
    if where:
        lines.append("  " + "  ".join(where))
    lines.extend(f"  {paint.label('seen')}{_evidence(item)}" for item in finding.evidence)
    for word, text in (("why", finding.why), ("fix", finding.fix)):
        if text:
            lines.append(f"  {paint.label(word)}{escape(text)}")
    lines.extend(f"  {paint.label('also')}{_head(item, paint)}" for item in consequences)
    lines.append(f"  {paint.label('docs')}llmdctl explain {finding.code}")
    return lines


def _head(finding: Finding, paint: _Paint) -> str:
    parts = [paint(_COLOURS[finding.severity], str(finding.severity)), finding.code]
    if finding.object is not None and finding.object != ObjectRef():
        parts.append(escape(str(finding.object)))
    parts.append(escape(finding.title))
    return " ".join(parts)


def _evidence(item: Evidence) -> str:
    return escape(f"{item.text} ({item.source})" if item.source else item.text)


def _unchecked_objects(report: Report, paint: _Paint) -> list[str]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for check in report.skipped:
        if check.code == OBJECTS:
            by_reason[check.reason].append(_skipped_object(check))
    lines = []
    for reason, objects in by_reason.items():
        more = len(objects) - LISTED
        names = ", ".join(objects[:LISTED]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"{paint(_DIM, 'skipped')} {escape(names)}: {escape(reason)}")
    return lines


def _skipped_object(check: SkippedCheck) -> str:
    if check.object is None or not check.object.name:
        return check.source.file if check.source else "object"
    return f"{check.object} ({check.source})" if check.source else str(check.object)


def _unseen(report: Report, paint: _Paint) -> list[str]:
    lines = []
    for check in report.skipped:
        about = f" {_skipped_object(check)}" if check.object else ""
        lines.append(f"{paint(_DIM, 'skipped')} {check.code}{escape(about)} {escape(check.reason)}")
    for item in report.suppressed:
        lines.append(
            f"{paint(_DIM, 'suppressed')} {_unseen_finding(item.finding)} {escape(f'[{item.by}: {item.reason}]')}"
        )
    lines.extend(f"{paint(_DIM, 'unresolved')} {_unseen_finding(finding)}" for finding in report.unresolved)
    lines.extend(
        f"{paint(_DIM, 'stale')} {escape(f'{item.code} {item.object} {item.about} [{item.by}]')}"
        for item in report.stale
    )
    return lines


def _unseen_finding(finding: Finding) -> str:
    where = f" ({finding.source})" if finding.source else ""
    about = f"{finding.object} " if finding.object else ""
    return f"{finding.code} {escape(about + finding.title + where)}"
