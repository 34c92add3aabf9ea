"""Running the command line in this process, through the same edge as the console script."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from llmdctl.cli.main import main


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]
"""Runs a command with these arguments; the fixture says which and where."""


def run_cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *args: str) -> Result:
    """Runs `llmdctl ARGS` and returns its exit code and output."""
    monkeypatch.setattr(sys, "argv", ["llmdctl", *args])
    capsys.readouterr()
    with pytest.raises(SystemExit) as stopped:
        main()
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert "internal error" not in captured.err
    return Result(int(stopped.value.code or 0), captured.out, captured.err)
