"""`llmdctl catalog lint`."""

from __future__ import annotations

import json
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


def test_what_is_no_catalog_exits_with_two(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    for directory in (tmp_path, tmp_path / "absent"):
        assert run_cli(capsys, monkeypatch, "catalog", "lint", str(directory)).code == 2
