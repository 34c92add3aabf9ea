"""The edge of the program: what becomes of an exception that nobody expected."""

from __future__ import annotations

import io
import sys
from typing import NoReturn

import pytest

from llmdctl.cli import app, main
from llmdctl.findings import UserError


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def build_app(_: list[str]) -> NoReturn:
        raise error

    monkeypatch.setattr(app, "build_app", build_app)


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UserError("no", why="because", fix="do"), 2, "error: no\n  why  because\n  fix  do\n"),
        (KeyboardInterrupt(), 130, ""),
        (ZeroDivisionError("x"), 2, "error: internal error: ZeroDivisionError: x\n"),
    ],
)
def test_exceptions_become_text_and_a_code(
    error: BaseException,
    code: int,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("LLMDCTL_DEBUG", raising=False)
    raising(error, monkeypatch)
    with pytest.raises(SystemExit) as stopped:
        main.main()
    assert stopped.value.code == code
    assert capsys.readouterr().err.startswith(text)


def test_an_internal_error_says_how_to_report_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LLMDCTL_DEBUG", raising=False)
    raising(ZeroDivisionError("x"), monkeypatch)
    with pytest.raises(SystemExit):
        main.main()
    assert "LLMDCTL_DEBUG=1" in capsys.readouterr().err
    monkeypatch.setenv("LLMDCTL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main.main()


def test_an_error_is_shown_where_stderr_is_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr(sys, "stderr", stream)
    main.print_error(UserError("größer \x1b[31m", fix="日本"))
    stream.flush()
    assert raw.getvalue() == b"error: gr\\xf6\\xdfer \\x1b[31m\n  fix  \\u65e5\\u672c\n"
