"""`llmdctl catalog lint`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_run import run_cli

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
BAD = "apiVersion: catalog.llmdctl.io/v1alpha1\nkind: Provider\nname: moon\nextends: gk\n"


def test_a_clean_catalog_exits_with_zero(root: Path, capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(capsys, monkeypatch, "catalog", "lint", str(root))
    assert result.code == 0
    assert result.out == f"{root}: 0 problems\n"


def test_problems_exit_with_one_in_every_format(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    (tmp_path / "moon.yaml").write_text(BAD)
    text = run_cli(capsys, monkeypatch, "catalog", "lint", str(tmp_path))
    assert text.code == 1
    assert f"{tmp_path}/moon.yaml:4:1: extends: there is no provider 'gk' (did you mean 'gke'?)\n" in text.out
    assert text.out.endswith(": 1 problem\n")
    as_json = run_cli(capsys, monkeypatch, "catalog", "lint", str(tmp_path), "-o", "json")
    assert as_json.code == 1
    (problem,) = json.loads(as_json.out)["problems"]
    assert problem["source"]["line"] == 4
    assert problem["what"] == "extends: there is no provider 'gk'"


@pytest.mark.parametrize("guide", ["optimized-baseline", "pd-disaggregation"])
def test_a_vendors_directory_from_the_page_to_validated_files(
    guide: str, root: Path, tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("acme").mkdir()
    page = (root / "docs" / "vendors.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", page, re.DOTALL):
        Path("acme", name).write_text(text, encoding="utf-8")
    assert run_cli(capsys, monkeypatch, "catalog", "lint", "acme").out == "acme: 0 problems\n"
    chosen = ["--catalog", "acme", "--accelerator", "acme-x1"]
    rendered = run_cli(capsys, monkeypatch, "render", guide, *chosen, "--provider", "acme-cloud", "-o", "build")
    assert rendered.code == 0, rendered.err
    assert "0 errors, 0 warnings\nnext     kubectl create namespace" in rendered.out
    again = run_cli(capsys, monkeypatch, "validate", "--complete", "build", "--fail-on", "info")
    assert (again.code, again.err) == (0, "")
    assert ", 0 skipped; rules: " in again.out
    # What the vendor does not list takes a word more, and is then rendered as well.
    other = ["render", guide, *chosen, "--provider", "coreweave", "-q"]
    assert "does not list" in run_cli(capsys, monkeypatch, *other).err
    allowed = run_cli(capsys, monkeypatch, *other, "--allow-unsupported")
    assert allowed.code == 0, allowed.err
    assert "registry.example/acme/vllm:v0.30.0-acme2" in allowed.out


def test_what_is_no_catalog_exits_with_two(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    for directory in (tmp_path, tmp_path / "absent"):
        assert run_cli(capsys, monkeypatch, "catalog", "lint", str(directory)).code == 2
