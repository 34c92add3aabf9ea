"""Output formats that commands share: plain data, reports, colour, and writing to stdout without surprises."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

from llmdctl.findings import Report, RuleRegistry, Severity, UserError
from llmdctl.findings.frozen import frozen


class Format(StrEnum):
    """Forms of a command's result on stdout."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


class ReportFormat(StrEnum):
    """Forms of a report."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"
    MARKDOWN = "markdown"


class Colour(StrEnum):
    """When to colour text: `auto` colours a terminal only."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@frozen
class Output:
    """One requested form of a result; `path` is None for stdout."""

    format: ReportFormat
    path: Path | None = None


def parse_outputs(values: Sequence[str]) -> list[Output]:
    """Reads the values of `-o FORMAT` and `-o FORMAT=PATH`; none at all means text on stdout.

    Raises UserError for an unknown format, a missing path, or two forms that both go to stdout.
    """
    outputs = [_parse_output(value) for value in values] or [Output(ReportFormat.TEXT)]
    if sum(1 for output in outputs if output.path is None) > 1:
        raise UserError("two output formats go to stdout", fix="give one of them a file: -o json=report.json")
    paths = [output.path for output in outputs if output.path is not None]
    twice = next((path for index, path in enumerate(paths) if path in paths[:index]), None)
    if twice is not None:
        raise UserError(f"two output formats go to {twice}", fix="give each a file of its own")
    return outputs


def _parse_output(value: str) -> Output:
    name, equals, path = value.partition("=")
    if name not in list(ReportFormat):
        known = ", ".join(ReportFormat)
        raise UserError(f"unknown output format {name!r}", fix=f"one of: {known}")
    if equals and not path:
        raise UserError(f"-o {value} names no file", fix=f"write -o {name}=PATH, or -o {name} for stdout")
    return Output(ReportFormat(name), Path(path) if equals and path != "-" else None)


def use_colour(choice: Colour, stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour `stream`: on request, or on a terminal unless NO_COLOR or TERM=dumb forbid it."""
    if choice is not Colour.AUTO:
        return choice is Colour.ALWAYS
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and stream.isatty()


def write_data(data: Any, output: Format) -> None:
    """Writes plain data to stdout as JSON or YAML."""
    write_out(format_data(data, output, ascii_only=not _stdout_takes_unicode()))


def _stdout_takes_unicode() -> bool:
    return codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"


def format_data(data: Any, output: Format, *, ascii_only: bool = False) -> str:
    """Plain data as JSON or YAML text; with `ascii_only` as JSON escapes, which both JSON and YAML readers take."""
    if output is Format.YAML and not ascii_only:
        from llmdctl.manifest.emit import emit_yaml

        return emit_yaml(data)
    return json.dumps(data, indent=2, ensure_ascii=ascii_only) + "\n"


def write_report(
    report: Report,
    outputs: Sequence[Output],
    *,
    colour: Colour = Colour.AUTO,
    verbose: int = 0,
    quiet: bool = False,
    threshold: Severity | None = Severity.ERROR,
    rules: RuleRegistry | None = None,
) -> None:
    """Writes a report in every requested form. The exit code is the same for all of them and is decided elsewhere.

    `threshold` is what counts as a failure where a form knows failures (JUnit); `rules` describes codes (SARIF).
    Files are written whole or not at all.
    """
    for output in outputs:
        to_stdout = output.path is None
        ascii_only = to_stdout and not _stdout_takes_unicode()
        match output.format:
            case ReportFormat.TEXT:
                from llmdctl.findings.text import render_text

                painted = use_colour(colour, sys.stdout) if to_stdout else colour is Colour.ALWAYS
                text = render_text(report, colour=painted, verbose=verbose, quiet=quiet)
            case ReportFormat.JUNIT:
                from llmdctl.findings.junit import render_junit

                text = render_junit(report, threshold)
            case ReportFormat.SARIF:
                from llmdctl.findings.sarif import render_sarif

                text = render_sarif(report, rules, ascii_only=ascii_only)
            case ReportFormat.GITHUB:
                from llmdctl.findings.github import render_github

                text = render_github(report)
            case ReportFormat.MARKDOWN:
                from llmdctl.findings.markdown import render_markdown

                text = render_markdown(report)
            case _:
                text = format_data(report.as_dict(), Format(output.format), ascii_only=ascii_only)
        if output.path is None:
            write_out(text)
        else:
            write_file(output.path, text)


def write_file(path: Path, text: str) -> None:
    """Writes a result to a file, whole or not at all. Raises UserError when that can't be done."""
    from llmdctl.manifest.write import replace_file

    try:
        replace_file(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UserError(f"can't write {path}", why=error.strerror or str(error)) from error


def write_out(text: str) -> None:
    """Writes to stdout; what its encoding lacks as escapes. A reader that went away (`| head`) is no error."""
    _write_bytes(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))


def write_manifests(text: str) -> bytes:
    """Writes YAML to stdout and returns its bytes: UTF-8 whatever the locale says, since escapes would change it."""
    data = text.encode()
    _write_bytes(data)
    return data


def _write_bytes(data: bytes) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes stdout once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
