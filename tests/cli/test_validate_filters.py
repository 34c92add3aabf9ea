"""`llmdctl validate`: choosing rules, what is listed, ignoring with reasons, baselines."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from cli_run import Cli

from llmdctl.validate.registry import EXAMPLES

BAD = str(EXAMPLES / "PRT004" / "bad.yaml")
OTHER = str(EXAMPLES / "PRT005" / "bad.yaml")
WARNING = str(EXAMPLES / "LBL005" / "bad.yaml")


def found(cli: Cli, *args: str) -> list[str]:
    """The codes that a run reports."""
    return [item["code"] for item in json.loads(cli("validate", *args, "-o", "json").out)["findings"]]


def test_rules_are_chosen_by_code_and_by_family(cli: Cli) -> None:
    assert found(cli, BAD, WARNING) == ["PRT004", "LBL005"]
    assert found(cli, BAD, WARNING, "--rule", "prt004") == ["PRT004"]
    assert found(cli, BAD, WARNING, "--rule", "PRT", "--rule", "LBL005") == ["PRT004", "LBL005"]
    assert found(cli, BAD, WARNING, "--skip", "PRT") == ["LBL005"]
    assert found(cli, BAD, WARNING, "--rule", "PRT", "--skip", "PRT004") == []


def test_what_is_deselected_is_counted_and_never_a_pass(cli: Cli) -> None:
    result = cli("validate", BAD, "--skip", "PRT004")
    assert result.code == 0
    assert " skipped, 1 deselected; 0 errors" in result.out
    assert (
        json.loads(cli("validate", BAD, "--skip", "PRT004", "-o", "json").out)["coverage"]["rules"]["deselected"] == 1
    )


def test_a_family_of_the_server_layers_can_be_left_out(cli: Cli) -> None:
    bad = str(EXAMPLES / "SCH001" / "bad.yaml")
    assert found(cli, bad) == ["SCH001"]
    assert found(cli, bad, "--skip", "SCH") == []
    assert found(cli, str(EXAMPLES / "YML001" / "bad.yaml"), "--skip", "YML001") == []


@pytest.mark.parametrize("args", [("--rule", "PRT999"), ("--skip", "nothing"), ("--rule", "")])
def test_unknown_rules_are_refused(cli: Cli, args: tuple[str, ...]) -> None:
    result = cli("validate", BAD, *args)
    assert result.code == 2
    assert "`llmdctl rules list` lists all codes" in result.err


def test_what_is_listed_is_apart_from_what_fails(cli: Cli) -> None:
    result = cli("validate", WARNING, "--min-severity", "error", "--fail-on", "warning")
    assert result.code == 1
    assert "LBL005" not in result.out
    assert "1 below --min-severity not listed" in result.out
    report = json.loads(cli("validate", WARNING, "--min-severity", "error", "-o", "json").out)
    assert (report["findings"], report["summary"]["hidden"]) == ([], 1)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("object: Deployment/dec*", 0),
        ("object: Deployment/other", 1),
        ("namespace: llm-*", 0),
        ("namespace: prod", 1),
        ("file: deploy/*", 0),
        ("file: vendor/*", 1),
        ("object: decode, namespace: llm-d", 1),
    ],
)
def test_entries_of_the_ignore_file_are_bound_by_object_namespace_and_file(
    cli: Cli, tmp_path: Path, entry: str, code: int
) -> None:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "a.yaml").write_text(Path(BAD).read_text())
    (tmp_path / ".llmdctl.yaml").write_text(f"ignore: [{{code: PRT004, {entry}, reason: ours}}]\n")
    assert cli("validate", "deploy").code == code


def test_written_files_fit_their_schemas(cli: Cli, tmp_path: Path) -> None:
    cli("validate", BAD, "--write-baseline", "known.yaml")
    schema = json.loads(cli("schema", "baseline").out)
    jsonschema.validate(yaml.safe_load((tmp_path / "known.yaml").read_text()), schema)
    ignore = {"ignore": [{"code": "PRT004", "object": "Deployment/x", "namespace": "a", "file": "b", "reason": "c"}]}
    jsonschema.validate(ignore, json.loads(cli("schema", "ignore").out))


def test_a_baseline_hides_what_was_there_and_nothing_new(cli: Cli, tmp_path: Path) -> None:
    first = cli("validate", BAD, "--write-baseline", "known.yaml")
    assert first.code == 0
    assert "1 suppressed" in first.out
    again = cli("validate", BAD, "--baseline", "known.yaml", "-v")
    assert again.code == 0
    assert "suppressed PRT004 Deployment/decode" in again.out
    assert "[baseline: known in known.yaml]" in again.out
    more = cli("validate", BAD, OTHER, "--baseline", "known.yaml", "-q")
    assert more.code == 1
    assert "PRT005" in more.out
    data = yaml.safe_load((tmp_path / "known.yaml").read_text())
    assert [(item["code"], item["object"]) for item in data["findings"]] == [("PRT004", "Deployment/decode")]


def test_a_baseline_counts_equal_findings(cli: Cli, tmp_path: Path) -> None:
    text = Path(BAD).read_text()
    (tmp_path / "a.yaml").write_text(text)
    cli("validate", "a.yaml", "--write-baseline", "known.yaml")
    (tmp_path / "b.yaml").write_text(text)
    # The same object in another overlay has the same fingerprint, and yet is one more.
    assert cli("validate", "a.yaml", "b.yaml", "--baseline", "known.yaml").code == 1
    cli("validate", "a.yaml", "b.yaml", "--write-baseline", "known.yaml")
    assert "count: 2" in (tmp_path / "known.yaml").read_text()
    assert cli("validate", "a.yaml", "b.yaml", "--baseline", "known.yaml").code == 0


def test_stale_entries_are_told_and_go_when_the_baseline_is_rewritten(cli: Cli, tmp_path: Path) -> None:
    cli("validate", BAD, WARNING, "--write-baseline", "known.yaml")
    result = cli("validate", WARNING, "--baseline", "known.yaml", "-v")
    assert result.code == 0
    assert "1 stale (-v lists them)" in result.out
    assert "stale PRT004 Deployment/decode spec.template" in result.out
    assert "stale" not in cli("validate", BAD, "--rule", "PRT", "--baseline", "known.yaml").out
    report = json.loads(cli("validate", WARNING, "--baseline", "known.yaml", "-o", "json").out)
    assert [(item["by"], item["code"]) for item in report["stale"]] == [("baseline", "PRT004")]
    cli("validate", WARNING, "--baseline", "known.yaml", "--write-baseline", "known.yaml")
    assert "PRT004" not in (tmp_path / "known.yaml").read_text()


def test_a_written_baseline_is_the_same_every_time_and_lies_beside_manifests(cli: Cli, tmp_path: Path) -> None:
    cli("validate", BAD, WARNING, "--write-baseline", "a.yaml")
    cli("validate", WARNING, BAD, "--write-baseline", "b.yaml")
    assert (tmp_path / "a.yaml").read_bytes() == (tmp_path / "b.yaml").read_bytes()
    (tmp_path / "manifest.yaml").write_text(Path(BAD).read_text())
    assert "skipped a.yaml, b.yaml: a baseline of llmdctl" in cli("validate", ".").out


@pytest.mark.parametrize(
    "text", ["", "a: 1", "findings: []", "apiVersion: baseline.llmdctl.io/v2\nkind: Baseline", "a\n---\nb", "{"]
)
def test_what_is_no_baseline_is_refused(cli: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "known.yaml").write_text(text)
    assert cli("validate", BAD, "--baseline", "known.yaml").code == 2
    assert cli("validate", BAD, "--baseline", "none.yaml").code == 2
    assert cli("validate", BAD, "--write-baseline", "none/known.yaml").code == 2


def test_ignore_entries_that_fit_nothing_are_stale(cli: Cli, tmp_path: Path) -> None:
    entries = "ignore:\n- {code: PRT004, reason: ours}\n- {code: SCH001, object: Pod/x, reason: gone}\n"
    (tmp_path / ".llmdctl.yaml").write_text(entries)
    result = cli("validate", BAD, "-v")
    assert result.code == 0
    assert "suppressed PRT004" in result.out
    assert "[file: ours]" in result.out
    assert "stale SCH001 Pod/x gone [file]" in result.out
    # A rule that did not run says nothing about its entries.
    assert "stale" not in cli("validate", BAD, "--rule", "PRT").out
