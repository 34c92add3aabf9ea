"""A report as JUnit XML: a test case a finding, so that CI systems show them where they show failed tests.

The form is the one that CI systems agree on (Jenkins' junit-10.xsd): testsuites, testsuite, testcase with failure,
skipped or system-out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmdctl.findings.model import Finding, ObjectRef, Severity
from llmdctl.findings.report import Report
from llmdctl.findings.text import escape, summary

_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_NO_XML = re.compile(r"[\ufffe\uffff]")
_SUITE = "llmdctl"


def render_junit(report: Report, threshold: Severity | None = Severity.ERROR) -> str:
    """The report as XML. Findings at or over `threshold` are failures, the others pass with their text as output.

    What was skipped is a skipped test; one more test, which passes, says what was covered.
    """
    failures = sum(1 for item in report.findings if _fails(item, threshold))
    tests = len(report.findings) + len(report.skipped) + 1
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{len(report.skipped)}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="{_SUITE}" {counts}>',
        f'  <testsuite name="{_SUITE}" {counts}>',
        f'    <testcase classname="{_SUITE}" name="coverage">',
        f"      <system-out>{_xml(summary(report))}</system-out>",
        "    </testcase>",
    ]
    for finding in report.findings:
        lines.extend(_case(finding, _fails(finding, threshold)))
    for check in report.skipped:
        name = f"{check.code} {check.object}" if check.object and check.object.name else check.code
        classname = check.source.file if check.source else _SUITE
        lines.append(f"    <testcase {_attributes(classname=classname, name=name)}>")
        lines.append(f"      <skipped {_attributes(message=check.reason)}/>")
        lines.append("    </testcase>")
    lines += ["  </testsuite>", "</testsuites>"]
    return "\n".join(lines) + "\n"


def _fails(finding: Finding, threshold: Severity | None) -> bool:
    return threshold is not None and finding.severity.reaches(threshold)


def _case(finding: Finding, fails: bool) -> Iterator[str]:
    about = finding.object or ObjectRef()
    name = " ".join(filter(None, (finding.code, str(about), finding.pointer)))
    source = finding.source
    file = (source.template or source.file) if source else ""
    where = {"file": file} if file else {}
    if source and source.line and not source.template:
        where["line"] = str(source.line)
    classname = file or _SUITE
    yield f"    <testcase {_attributes(classname=classname, name=name, **where)}>"
    text = "\n".join(_xml(line) for line in _lines(finding))
    if fails:
        attributes = _attributes(type=str(finding.severity), message=f"{finding.code} {finding.title}")
        yield f"      <failure {attributes}>{text}</failure>"
    else:
        yield f"      <system-out>{text}</system-out>"
    yield "    </testcase>"


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.severity} {finding.code} {finding.object or ''} {finding.title}"
    if finding.source:
        yield str(finding.source)
    for item in finding.evidence:
        yield f"seen: {item.text} ({item.source})" if item.source else f"seen: {item.text}"
    if finding.why:
        yield f"why: {finding.why}"
    if finding.fix:
        yield f"fix: {finding.fix}"
    yield f"docs: llmdctl explain {finding.code}"


def _attributes(**values: str) -> str:
    return " ".join(f'{name}="{_xml(value)}"' for name, value in values.items())


def _xml(text: str) -> str:
    """Text for an element or an attribute; characters that XML can't hold are written as escapes."""
    text = _NO_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", escape(text))
    return "".join(_SPECIAL.get(character, character) for character in text)
