"""Reports for machines: JSON by its published schema, SARIF by OASIS' schema, JUnit, GitHub, Markdown."""

from __future__ import annotations

import gzip
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from llmdctl.findings import (
    Coverage,
    Evidence,
    Finding,
    ObjectRef,
    Report,
    Severity,
    SkippedCheck,
    SourceRef,
    Stale,
    Suppressed,
    SuppressedBy,
)
from llmdctl.findings.github import render_github
from llmdctl.findings.junit import render_junit
from llmdctl.findings.markdown import render_markdown
from llmdctl.findings.sarif import render_sarif
from llmdctl.findings.schema import report_schema
from llmdctl.manifest import read_paths
from llmdctl.validate.pipeline import validate
from llmdctl.validate.registry import EXAMPLES, all_rules

HOSTILE = [
    "plain",
    "a%0A::error::x",
    "a\n::set-output name=x::y",
    "[link](javascript:x) `code` | <b> @all {0} \\",
    "]]> & < > \" '",
    "\x00\x1b[2J\u202e\ufffe\U000e0041",
    "größer 日本 \U0001f600",
    "half \ud800",
]


def full_report(text: str = "plain") -> Report:
    """A report that has something of everything, with `text` in every place that input can reach."""
    source = SourceRef(text, 3, 5)
    ref = ObjectRef("v1", text, text, text)
    error = Finding("TST001", Severity.ERROR, text, ref, text, source, (Evidence(text, source),), text, text)
    warning = Finding("TST002", Severity.WARNING, text, root_cause=error.fingerprint)
    info = replace(error, code="TST003", severity=Severity.INFO, source=SourceRef("/abs/ü.yaml"))
    return Report.of(
        [replace(error, explains=(warning.fingerprint,)), warning, info],
        coverage=Coverage(4, 3, 1, 10, 2),
        skipped=(SkippedCheck("SCH", text, ref, source), SkippedCheck("TST004", text)),
        suppressed=(
            Suppressed(replace(error, code="TST005"), SuppressedBy.ANNOTATION, text),
            Suppressed(replace(error, code="TST006"), SuppressedBy.BASELINE, text),
        ),
        unresolved=(info,),
        stale=(Stale(SuppressedBy.FILE, "TST007", text, text),),
    )


def closed(schema: Any) -> Any:
    """The schema with no other fields allowed than it names."""
    if isinstance(schema, dict):
        out = {key: closed(value) for key, value in schema.items()}
        return {**out, "additionalProperties": False} if "properties" in out else out
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


@pytest.fixture(scope="module")
def sarif_schema() -> Any:
    """OASIS' schema; see scripts/make_sarif_schema.py."""
    data = gzip.decompress((Path(__file__).parent / "data" / "sarif-2.1.0.json.gz").read_bytes())
    return jsonschema.Draft4Validator(json.loads(data))


@pytest.mark.parametrize("text", HOSTILE)
def test_the_json_form_is_what_its_schema_says(text: str) -> None:
    data = json.loads(json.dumps(full_report(text).as_dict()))
    jsonschema.Draft202012Validator.check_schema(report_schema())
    jsonschema.Draft202012Validator(closed(report_schema())).validate(data)


def test_reports_on_all_examples_fit_both_schemas(sarif_schema: Any) -> None:
    checker = jsonschema.Draft202012Validator(closed(report_schema()))
    for folder in sorted(EXAMPLES.iterdir()):
        reading = read_paths([str(folder / "bad.yaml")])
        if reading.errors:
            continue
        report = validate(reading.documents, findings=reading.findings)
        checker.validate(report.as_dict())
        sarif_schema.validate(json.loads(render_sarif(report, all_rules())))


@pytest.mark.parametrize("text", HOSTILE)
def test_sarif_fits_the_schema_of_oasis(text: str, sarif_schema: Any) -> None:
    log = json.loads(render_sarif(full_report(text), all_rules(), ascii_only=True))
    sarif_schema.validate(log)
    assert not list(sarif_schema.iter_errors(json.loads(render_sarif(Report()))))


def test_sarif_says_where_what_and_why_not() -> None:
    log = json.loads(render_sarif(full_report("deploy/a b.yaml"), all_rules()))
    (run,) = log["runs"]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note", "error", "error"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "deploy/a%20b.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 3, "startColumn": 5}
    absolute = run["results"][2]["locations"][0]["physicalLocation"]
    assert absolute["artifactLocation"] == {"uri": "file:///abs/%C3%BC.yaml"}
    assert [result.get("suppressions", [{}])[0].get("kind") for result in run["results"][3:]] == [
        "inSource", "external",
    ]  # fmt: skip
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(ids[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == 2


def test_sarif_describes_the_rules_it_names() -> None:
    report = validate(read_paths([str(EXAMPLES / "PRT004" / "bad.yaml")]).documents)
    (rule,) = json.loads(render_sarif(report, all_rules()))["runs"][0]["tool"]["driver"]["rules"]
    known = all_rules().get("PRT004")
    assert known is not None
    assert (rule["id"], rule["shortDescription"]["text"]) == ("PRT004", known.title)
    assert known.fix in rule["help"]["text"]


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_is_xml_and_counts_right(text: str) -> None:
    root = ET.fromstring(render_junit(full_report(text)).encode("utf-8", "backslashreplace"))  # noqa: S314 - ours
    (suite,) = root
    assert (root.attrib["tests"], suite.attrib["failures"], suite.attrib["skipped"]) == ("6", "1", "2")
    assert len(suite.findall("testcase")) == 6
    assert len(suite.findall("testcase/failure")) == 1
    assert len(suite.findall("testcase/skipped")) == 2


@pytest.mark.parametrize(("threshold", "failures"), [(None, 0), (Severity.WARNING, 2), (Severity.INFO, 3)])
def test_junit_fails_what_fails_the_run(threshold: Severity | None, failures: int) -> None:
    assert render_junit(full_report(), threshold).count("<failure ") == failures


@pytest.mark.parametrize("text", HOSTILE)
def test_github_commands_stay_one_line_each(text: str) -> None:
    lines = render_github(full_report(text)).split("\n")
    assert [line.partition(" ")[0] for line in lines[:-2]] == ["::error", "::warning", "::notice", "::notice"]
    assert not lines[-2].startswith("::")
    assert lines[-1] == ""


def test_github_escapes_properties_and_messages() -> None:
    source = SourceRef("a,b:c%.yaml", 7, 2)
    report = Report.of([Finding("TST001", Severity.ERROR, "100% of a: b", source=source, fix="do this\nthen that")])
    assert render_github(report).splitlines()[0] == (
        "::error file=a%2Cb%3Ac%25.yaml,line=7,col=2,title=TST001::100%25 of a: b%0Afix: do this\\nthen that"
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_text_as_text(text: str) -> None:
    out = render_markdown(full_report(text))
    body = re.sub(r"</?(details|summary)>", "", out)
    assert "<" not in body
    assert "@" not in body
    rows = [line for line in out.splitlines() if line.startswith("| ")]
    # A header, and a row for each finding that is no consequence.
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 6 for row in rows)
    # Inside a line of HTML nothing is Markdown.
    assert not re.search(r"(?<!\\)\]\(", re.sub(r"<summary>.*</summary>", "", out))


def test_markdown_of_a_clean_run_is_short_and_a_huge_one_is_cut() -> None:
    assert render_markdown(Report()).count("\n") <= 4
    many = Report.of([Finding("TST001", Severity.ERROR, "x", pointer=f"p{number}") for number in range(1000)])
    out = render_markdown(many)
    assert "800 more are not listed here." in out
    assert len(out) < 100_000
