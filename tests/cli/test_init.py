"""`llmdctl init`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_run import run_cli

from llmdctl.spec.load import load_stack

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def test_writes_a_file_that_loads(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_cli(capsys, monkeypatch, "init", "pd-disaggregation", "--provider", "gke", "--preset", "8p2d")
    assert (result.code, result.out) == (0, "")
    assert "wrote stack.yaml" in result.err
    spec = load_stack("stack.yaml").stack.spec
    assert (spec.guide, spec.provider, spec.preset) == ("pd-disaggregation", "gke", "8p2d")


def test_never_overwrites_unless_forced(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("precious\n")
    refused = run_cli(capsys, monkeypatch, "init", "optimized-baseline", "-o", str(path))
    assert refused.code == 2
    assert "--force" in refused.err
    assert path.read_text() == "precious\n"
    forced = run_cli(capsys, monkeypatch, "init", "optimized-baseline", "-o", str(path), "--force")
    assert forced.code == 0
    assert load_stack(str(path)).stack.spec.guide == "optimized-baseline"


def test_a_dash_is_standard_output(capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(capsys, monkeypatch, "init", "optimized-baseline", "-o", "-", "--name", "web", "-n", "prod")
    metadata = load_stack("x", result.out.encode()).stack.metadata
    assert (metadata.name, metadata.namespace) == ("web", "prod")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "one of: optimized-baseline"),
        (["pd-disagg"], "there is no guide"),
        (["pd-disaggregation", "--accelerator", "nvidia-h20"], "did you mean 'nvidia-h200'?"),
        (["pd-disaggregation", "--provider", "gke-a4x"], "nearest:"),
        (["pd-disaggregation", "--catalog", "absent"], "there is no directory"),
        (["pd-disaggregation", "-o", "absent/dir/x.yaml"], "can't write"),
        (["--migrate", "absent.yaml"], "there is no file"),
    ],
)
def test_wrong_use(args: list[str], says: str, tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_cli(capsys, monkeypatch, "init", *args)
    assert result.code == 2
    assert says in result.err
    assert list(tmp_path.iterdir()) == []


def test_migrating_a_current_file_changes_nothing(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text(run_cli(capsys, monkeypatch, "init", "optimized-baseline", "-o", "-").out)
    before = path.read_text()
    result = run_cli(capsys, monkeypatch, "init", "--migrate", str(path))
    assert result.code == 0
    assert "already current" in result.err
    assert path.read_text() == before


def test_migrating_what_is_no_stack_is_refused(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text("apiVersion: llmdctl.io/v0\nkind: InferenceStack\n")
    result = run_cli(capsys, monkeypatch, "init", "--migrate", str(path))
    assert result.code == 2
    assert "'llmdctl.io/v0'" in result.err
