from __future__ import annotations

import json
import re
from dataclasses import replace

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
from llmdctl.findings.text import escape, render_text, summary

STACK = ObjectRef("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", "llm-d", "gpt-oss-pd")
PORT = Finding(
    code="PRT004",
    severity=Severity.ERROR,
    title="the sidecar forwards to port 8001, the engine listens on 8200",
    object=STACK,
    pointer="spec.roles[1].spec",
    source=SourceRef("stack.yaml", 214, 15),
    evidence=(Evidence("--port=8200", SourceRef("stack.yaml", 230, 11)), Evidence("sidecar v0.9.0")),
    why="every request ends in 502",
    fix="add --vllm-port=8200",
)
PROBE = Finding("PRT005", Severity.WARNING, "the probe asks another port", STACK, root_cause=PORT.fingerprint)
NOTE = Finding("IMG001", Severity.INFO, "an inferred tag")


def report(*findings: Finding, **rest: object) -> Report:
    return Report.of(findings, coverage=Coverage(12, 11, 1, 15, 2), **rest)


def test_a_finding_stands_alone_then_says_where_why_and_what_to_do() -> None:
    assert render_text(report(PORT)) == (
        "error PRT004 DisaggregatedSet/gpt-oss-pd the sidecar forwards to port 8001, the engine listens on 8200\n"
        "  stack.yaml:214:15  spec.roles[1].spec\n"
        "  seen  --port=8200 (stack.yaml:230:11)\n"
        "  seen  sidecar v0.9.0\n"
        "  why   every request ends in 502\n"
        "  fix   add --vllm-port=8200\n"
        "  docs  llmdctl explain PRT004\n"
        "12 objects: 11 validated, 1 skipped; rules: 15 run, 2 skipped; 1 error, 0 warnings\n"
    )


def test_what_is_unknown_is_left_out() -> None:
    assert render_text(report(NOTE)).splitlines()[:-1] == [
        "info IMG001 an inferred tag",
        "  docs  llmdctl explain IMG001",
    ]


@pytest.mark.parametrize("order", [(PORT, PROBE), (PROBE, PORT)])
def test_consequences_are_folded_under_their_cause(order: tuple[Finding, ...]) -> None:
    text = render_text(report(*order))
    assert "  also  warning PRT005 DisaggregatedSet/gpt-oss-pd the probe asks another port\n" in text
    assert "\nwarning PRT005" not in text
    assert text.endswith("1 error, 1 warning (1 folded under their cause)\n")


def test_a_consequence_whose_cause_is_not_listed_stands_by_itself() -> None:
    assert render_text(report(PROBE)).startswith("warning PRT005 ")
    circle = replace(PORT, root_cause=PROBE.fingerprint)
    both = render_text(report(circle, PROBE))
    assert "error PRT004" in both
    assert "warning PRT005" in both


def test_no_finding_is_lost_when_two_share_a_fingerprint() -> None:
    twin = replace(PORT, title="another title")
    text = render_text(report(PORT, twin, PROBE))
    assert text.count("\n  docs ") == 2
    assert text.count("PRT005") == 1


def test_quiet_prints_first_lines_only() -> None:
    assert render_text(report(), quiet=True) == ""
    assert render_text(report(PORT, NOTE), quiet=True).splitlines() == [
        "error PRT004 DisaggregatedSet/gpt-oss-pd the sidecar forwards to port 8001, the engine listens on 8200",
        "info IMG001 an inferred tag",
    ]


def test_verbose_lists_what_was_not_checked() -> None:
    full = report(
        skipped=(SkippedCheck("RES001", "no node shapes given"), SkippedCheck("SCH000", "no schema", STACK)),
        suppressed=(Suppressed(PORT, SuppressedBy.FILE, "not ours"),),
        unresolved=(replace(NOTE, title="Secret hf-token", source=SourceRef("f", 3, 1)),),
    )
    assert len(render_text(full).splitlines()) == 1
    assert [line.removesuffix(" (stack.yaml:214:15)") for line in render_text(full, verbose=1).splitlines()] == [
        "skipped RES001 no node shapes given",
        "skipped SCH000 DisaggregatedSet/gpt-oss-pd no schema",
        "suppressed PRT004 DisaggregatedSet/gpt-oss-pd the sidecar forwards to port 8001, the engine listens on 8200 "
        "(stack.yaml:214:15) [file: not ours]",
        "unresolved IMG001 Secret hf-token (f:3:1)",
        summary(full),
    ]
    assert summary(full).endswith("0 errors, 0 warnings; 1 suppressed; 1 unresolved")


def test_summary_counts_in_words() -> None:
    assert summary(Report(coverage=Coverage(1, 1, 0, 3, 0))) == (
        "1 object: 1 validated, 0 skipped; rules: 3 run, 0 skipped; 0 errors, 0 warnings"
    )
    assert summary(report(PORT, PORT, PROBE, NOTE)).endswith("2 errors, 1 warning (1 folded under their cause), 1 info")


def test_objects_that_could_not_be_checked_are_named_by_reason() -> None:
    where = [SourceRef("chart/values.yaml", 1, 1), *(SourceRef("a.yaml", line, 1) for line in (1, 5, 9, 13))]
    others = [ObjectRef("x/v1", "Moon", "", f"m{number}") for number in range(4)]
    skipped = [
        SkippedCheck("SCH", "as Helm values do", ObjectRef(), where[0]),
        *(SkippedCheck("SCH", "no schema", ref, at) for ref, at in zip(others, where[1:], strict=True)),
        SkippedCheck("RES001", "no node shapes given"),
    ]
    full = report(skipped=tuple(skipped))
    assert render_text(full).splitlines()[:-1] == [
        "skipped chart/values.yaml: as Helm values do",
        "skipped Moon/m0 (a.yaml:1:1), Moon/m1 (a.yaml:5:1), Moon/m2 (a.yaml:9:1) and 1 more: no schema",
    ]
    assert render_text(full, quiet=True) == ""
    assert "skipped SCH Moon/m3 (a.yaml:13:1) no schema" in render_text(full, verbose=1).splitlines()


def test_colour_adds_codes_and_nothing_else() -> None:
    full = report(PORT, PROBE, NOTE, skipped=(SkippedCheck("RES001", "why"),))
    painted = render_text(full, colour=True, verbose=1)
    assert "\x1b[1;31merror\x1b[0m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render_text(full, verbose=1)


HOSTILE = [
    "\x1b[2J",
    "\x9b31m",
    "\n",
    "\r",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u2028",
    "\ufeff",
    "\U000e0041",
    "\x00",
]


@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_characters_are_written_out_everywhere(bad: str) -> None:
    text = f"a{bad}b"
    source = SourceRef(text, 1, 1)
    finding = Finding(
        "TST001",
        Severity.ERROR,
        text,
        ObjectRef(text, text, text, text),
        text,
        source,
        (Evidence(text, source),),
        text,
        text,
    )
    full = Report.of(
        [finding, replace(NOTE, title=text)],
        skipped=(SkippedCheck("TST002", text, ObjectRef(kind=text)),),
        unresolved=(finding,),
        suppressed=(Suppressed(finding, SuppressedBy.BASELINE, text),),
        stale=(Stale(SuppressedBy.FILE, "TST002", text, text),),
    )
    out = render_text(full, verbose=1)
    assert len(out.split("\n")) == 14
    assert bad == "\n" or bad not in out
    assert out.encode()


def test_escapes_can_be_read() -> None:
    assert escape("half \ud800") == "half \\ud800"
    assert escape("tab\there \x1b[0m \u202e é 日本 \U0001f600") == "tab\\there \\x1b[0m \\u202e é 日本 \U0001f600"


def test_json_form_holds_the_same_findings() -> None:
    data = json.loads(json.dumps(report(PORT, PROBE).as_dict(), indent=2))
    assert [item["code"] for item in data["findings"]] == ["PRT004", "PRT005"]
    assert data["summary"]["errors"] == 1
    assert data["findings"][1]["rootCause"] == data["findings"][0]["fingerprint"]
