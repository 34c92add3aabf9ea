"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_run import Cli, Result, run_cli


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs llmdctl in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Result:
        return run_cli(capsys, monkeypatch, *args)

    return run
