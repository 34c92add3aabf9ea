"""`llmdctl render`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from cli_run import Result, run_cli

from llmdctl.catalog.load import load_catalog
from llmdctl.operate.matrix import declared

Run = Callable[..., Result]
PD = "pd-disaggregation"
HEAD = "apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs the command line in this process, with a cache directory of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *args: run_cli(capsys, monkeypatch, *args)


def kinds(text: str) -> list[str]:
    return [obj["kind"] for obj in yaml.safe_load_all(text)]


def where(report: str) -> tuple[int, int]:
    """Line and column that a finding in the text of a report names, in the stream."""
    found = re.search(r"^  stdout:(\d+):(\d+)  spec", report, re.MULTILINE)
    assert found, report
    return int(found[1]), int(found[2])


def test_objects_go_to_stdout_and_the_summary_to_stderr(run: Run) -> None:
    result = run("render", PD)
    assert result.code == 0
    assert {"DisaggregatedSet", "InferencePool", "Deployment"} <= set(kinds(result.out))
    assert "prefill  1 x TP1" in result.err
    assert f"rendered {len(kinds(result.out))} objects\n" in result.err
    assert "0 errors, 0 warnings" in result.err


def test_a_directory_holds_the_same_objects_and_the_summary_goes_to_stdout(run: Run, tmp_path: Path) -> None:
    plain = run("render", PD)
    into = tmp_path / "out"
    result = run("render", PD, "-o", str(into))
    assert result.code == 0
    assert f"objects into {into}\n" in result.out
    assert "kubectl apply --server-side -n" in result.out
    written = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in into.glob("*.yaml")]
    assert sorted(map(str, written)) == sorted(map(str, yaml.safe_load_all(plain.out)))


@pytest.mark.parametrize("arguments", [["render", PD, "-o", "OUT"], ["guide", "show", PD]])
def test_one_of_anything_is_no_plural(run: Run, tmp_path: Path, arguments: list[str]) -> None:
    result = run(*(word.replace("OUT", str(tmp_path / "out")) for word in arguments))
    assert result.code == 0
    assert re.search(r"(?<![\d.])1 (accelerator|pod)\b", result.out)
    assert not re.search(r"(?<![\d.])1 (accelerator|pod|object|rule|error|warning)s\b|\(s\)", result.out)


def test_quiet_leaves_the_objects_alone(run: Run) -> None:
    result = run("render", PD, "-q")
    assert result.err == ""
    assert kinds(result.out)


def test_a_second_run_gives_the_same_bytes(run: Run) -> None:
    assert run("render", PD, "-q").out == run("render", PD, "-q").out


def test_what_was_rendered_validates_when_read_back(run: Run, tmp_path: Path) -> None:
    into = tmp_path / "out"
    assert run("render", PD, "-o", str(into)).code == 0
    result = run("validate", "--complete", str(into))
    assert result.code == 0, result.out


def test_findings_name_the_file_that_was_written(run: Run, tmp_path: Path) -> None:
    into = tmp_path / "out"
    result = run("render", PD, "--set", "roles.decode.engineArgs.block-size=7", "-o", str(into))
    assert result.code == 1
    file = into / "disaggregatedset-pd-disaggregation.yaml"
    found = re.search(rf"^  {re.escape(str(file))}:(\d+):\d+  spec", result.err, re.MULTILINE)
    assert found, result.err
    assert "block-size=7" in file.read_text(encoding="utf-8").splitlines()[int(found[1]) - 1]
    # What the finding rests on has its line too.
    assert re.search(rf"^  seen .*\({re.escape(str(file))}:\d+:\d+\)$", result.err, re.MULTILINE)


def test_manifests_are_utf8_whatever_the_locale(root: Path, tmp_path: Path) -> None:
    stack = tmp_path / "stack.yaml"
    stack.write_text(f"spec: {{guide: {PD}, pod: {{annotations: {{note: größer}}}}}}\n{HEAD}", encoding="utf-8")
    code = "from llmdctl.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "render", "-q", "-f", str(stack)],
        env={"PYTHONPATH": str(root), "PYTHONIOENCODING": "ascii", "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert "note: größer\n" in done.stdout.decode("utf-8")


def test_an_error_in_the_rendered_objects_ends_with_1_and_says_where(run: Run) -> None:
    broken = ("--set", "roles.decode.engineArgs.block-size=7")
    result = run("render", PD, *broken)
    assert (result.code, bool(result.out)) == (1, True)
    assert "error KVT" in result.err
    line, column = where(result.err)
    assert result.out.splitlines()[line - 1][column - 1 :] == "--block-size=7"
    unchecked = run("render", PD, *broken, "--no-validate")
    assert unchecked.code == 0
    assert "nothing (--no-validate)" in unchecked.err
    assert unchecked.out == result.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--name", "mine"), "stack mine in namespace"),
        (("-n", "there"), "in namespace there"),
        (("--engine", "sglang"), "sglang on"),
        (("--accelerator", "nvidia-h200", "--provider", "gke"), "nvidia-h200, provider gke"),
        (("--set", "roles.decode.replicas=3"), "decode   3 x"),
        (("--kube-version", "1.34"), "Kubernetes 1.34"),
    ],
)
def test_flags_reach_the_stack(run: Run, arguments: tuple[str, ...], line: str) -> None:
    result = run("render", PD, *arguments)
    assert result.code == 0, result.err
    assert line in result.err


def test_a_stack_file_gives_what_the_flags_give(run: Run, tmp_path: Path) -> None:
    stack = tmp_path / "stack.yaml"
    stack.write_text(
        f"apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\nmetadata: {{name: mine}}\n"
        f"spec: {{guide: {PD}, roles: {{decode: {{replicas: 3}}}}}}\n",
        encoding="utf-8",
    )
    from_file = run("render", "-f", str(stack), "-q")
    from_flags = run("render", PD, "--name", "mine", "--set", "roles.decode.replicas=3", "-q")
    assert from_file.code == 0, from_file.err
    assert from_file.out == from_flags.out


def test_a_cache_directory_that_cannot_be_made_is_done_without(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(taken))
    assert run("render", PD).code == 0


def test_objects_with_errors_are_not_offered_for_applying(run: Run, tmp_path: Path) -> None:
    patch = '--set=patches=[{"kind": "Service", "name": "pd-disaggregation-epp", "merge": {"spec": {"wrong": 1}}}]'
    result = run("render", PD, patch, "-o", str(tmp_path / "out"))
    assert result.code == 1
    assert ": 1 error, 0 warnings" in result.out
    assert "kubectl" not in result.out
    good = run("render", PD, "-n", "serving", "-o", str(tmp_path / "good"))
    assert "kubectl create namespace serving" in good.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-f", "FILE"], "FILE:7:21: spec.roles.decode.parallelism.tensor: 3 does not divide the 64 attention heads"),
        (["-f", "FILE", "--set", "roles.decode.parallelism.tensor=16"], "--set roles.decode.parallelism.tensor=16: "),
        ([PD, "--kube-version", "1.20"], "--kube-version 1.20: spec.kubeVersion: Kubernetes 1.20 is not known"),
        ([PD, "--set", "roles.decode.engineArgs.port=1"], "--set roles.decode.engineArgs.port=1: spec.roles.decode."),
    ],
)
def test_errors_of_the_plan_name_the_line_or_the_flag(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    file = tmp_path / "stack.yaml"
    head = f"apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\nspec:\n  guide: {PD}\n"
    file.write_text(f"{head}  roles:\n    decode:\n      parallelism: {{tensor: 3}}\n", encoding="utf-8")
    result = run("render", *[str(file) if word == "FILE" else word for word in arguments])
    assert result.code == 2
    assert f"error: {message.replace('FILE', str(file))}" in result.err


def test_everything_is_rendered_into_folders_with_its_coverage(run: Run, tmp_path: Path) -> None:
    result = run("render", "wide-ep", "--all", "-o", str(tmp_path / "all"))
    assert result.code == 0
    assert (tmp_path / "all/wide-ep/nvidia-h200-vllm-gke/disaggregatedset-wide-ep.yaml").is_file()
    assert (tmp_path / "all/wide-ep/nvidia-h200-vllm-generic-aggregated/leaderworkerset-wide-ep-decode.yaml").is_file()
    count = len(list(declared(load_catalog(), ["wide-ep"])))
    assert count > 5
    assert f"{count} declared, {count} rendered" in result.out
    assert "0 skipped" in result.out
    assert "CPU time: plan" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all"], "--all writes many stacks"),
        (["--all", "-f", "stack.yaml", "-o", "out"], "not a stack file"),
        (["nothing", "--all", "-o", "out"], "there is no guide 'nothing'"),
    ],
)
def test_all_wants_a_directory_and_no_stack(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("render", *arguments)
    assert result.code == 2
    assert message in result.err
