"""`llmdctl validate`, `explain`, `rules list`: output, exit codes, bad usage."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import Result, run_cli

from llmdctl.validate.registry import EXAMPLES, all_rules

Cli = Callable[..., Result]

BAD = str(EXAMPLES / "PRT004" / "bad.yaml")
GOOD = str(EXAMPLES / "PRT004" / "good.yaml")
WARNING = str(EXAMPLES / "LBL005" / "bad.yaml")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs llmdctl in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Result:
        return run_cli(capsys, monkeypatch, *args)

    return run


def test_quiet_on_success_with_one_line_that_says_what_was_covered(cli: Cli) -> None:
    result = cli("validate", GOOD)
    assert result.code == 0
    assert result.out.count("\n") == 1
    assert "1 object: 1 validated, 0 skipped" in result.out


def test_a_finding_stands_on_one_line_with_code_and_object(cli: Cli) -> None:
    result = cli("validate", BAD, "--color", "never")
    assert result.code == 1
    assert result.out.startswith("error PRT004 Deployment/decode the routing sidecar forwards to port 8001")
    assert cli("validate", BAD, "-q").out.count("\n") == 1


@pytest.mark.parametrize(
    ("threshold", "code"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)], ids=lambda value: str(value)
)
def test_fail_on(cli: Cli, threshold: str, code: int) -> None:
    assert cli("validate", WARNING, "--fail-on", threshold).code == code


def test_never_and_skipped(cli: Cli) -> None:
    assert cli("validate", BAD, "--fail-on", "never").code == 0
    assert cli("validate", GOOD, "--fail-on-skipped").code == 1


def test_several_outputs_with_the_same_exit_code(cli: Cli, tmp_path: Path) -> None:
    result = cli("validate", BAD, "-o", "text", "-o", "json=report.json")
    assert result.code == 1
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["apiVersion"] == "report.llmdctl.io/v1"
    assert report["target"] == {"kubeVersion": "1.36", "release": "1.0", "complete": False}
    assert [finding["code"] for finding in report["findings"]] == ["PRT004"]


def test_stdin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(Path(BAD).read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin())
    result = cli("validate", "-")
    assert result.code == 1
    assert "\n  -:" in result.out


@pytest.mark.parametrize(
    "args",
    [
        ["missing.yaml"],
        [GOOD, "--kube-version", "1.12"],
        [GOOD, "--release", "7.7"],
        [GOOD, "--engine-version", "vllm"],
        [GOOD, "-o", "xml"],
        [GOOD, "--crds", "missing.yaml"],
        [GOOD, "--ignore-file", "missing.yaml"],
        [GOOD, "--fail-on", "sometimes"],
        [],
    ],
    ids=lambda args: " ".join(args[-2:])[-40:],
)
def test_usage_and_unreadable_input_are_exit_code_2(cli: Cli, args: list[str]) -> None:
    result = cli("validate", *args)
    assert result.code == 2
    assert result.err


def test_engine_version_and_complete_reach_the_rules(cli: Cli) -> None:
    assert cli("validate", GOOD, "--engine-version", "sidecar@0.9.0").code == 1
    pool = str(EXAMPLES / "PRT002" / "good.yaml")
    assert cli("validate", pool, "--complete").code == 0


def test_the_ignore_file_of_the_folder_is_used(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".llmdctl.yaml").write_text("ignore: [{code: PRT004, reason: ours}]", encoding="utf-8")
    result = cli("validate", BAD, "-v")
    assert result.code == 0
    assert "suppressed PRT004" in result.out


def test_explain(cli: Cli) -> None:
    result = cli("explain", "prt004")
    assert result.code == 0
    for part in ("PRT004 (error)", "why ", "fix ", "- right, + wrong", "references"):
        assert part in result.out
    assert "apiVersion" not in result.out
    full = cli("explain", "prt004", "--examples")
    assert "bad:\n  apiVersion" in full.out
    assert "good:\n  apiVersion" in full.out
    data = json.loads(cli("explain", "PRT004", "-o", "json").out)
    assert data["bad"] == Path(BAD).read_text(encoding="utf-8")


def test_explain_an_unknown_code_names_the_nearest(cli: Cli) -> None:
    result = cli("explain", "PRT04")
    assert result.code == 2
    assert "did you mean PRT004?" in result.err


def test_every_code_can_be_explained_and_is_listed(cli: Cli) -> None:
    listed = json.loads(cli("rules", "list", "-o", "json").out)
    assert [item["code"] for item in listed] == [rule.code for rule in all_rules()]
    text = cli("rules", "list").out
    for rule in all_rules():
        assert rule.code in text
        assert cli("explain", rule.code).code == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\nspec: {}\n", "validate what `llmdctl render` writes"),
        (
            "resources: [a.yaml]\nkind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n",
            "kubectl kustomize",
        ),
        ("replicaCount: 2\n", "as Helm values do"),
    ],
)
def test_input_without_any_object_is_an_error(cli: Cli, tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "other.yaml").write_text(text, encoding="utf-8")
    result = cli("validate", "other.yaml")
    assert result.code == 2
    assert "error: other.yaml:1:1: nothing here is a Kubernetes object" in result.err
    assert why in result.err
    # Beside an object it is only skipped, and counted.
    beside = cli("validate", "other.yaml", GOOD)
    assert beside.code == 0
    assert "1 skipped" in beside.out
