from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from llmdctl.cli.output import (
    Colour,
    Format,
    Output,
    ReportFormat,
    format_data,
    parse_outputs,
    use_colour,
    write_data,
    write_report,
)
from llmdctl.findings import Finding, Report, Severity, UserError

REPORT = Report.of([Finding("TST001", Severity.ERROR, "größer als \ud800 erlaubt")])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_outputs() -> None:
    assert parse_outputs([]) == [Output(ReportFormat.TEXT)]
    assert parse_outputs(["json"]) == [Output(ReportFormat.JSON)]
    assert parse_outputs(["text", "json=a=b.json", "yaml=-"][:2]) == [
        Output(ReportFormat.TEXT),
        Output(ReportFormat.JSON, Path("a=b.json")),
    ]


@pytest.mark.parametrize(
    "values", [["jsn"], ["json="], ["json", "text"], ["text", "yaml=-"], ["json=a", "sarif=a"], [""]]
)
def test_outputs_that_make_no_sense(values: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        parse_outputs(values)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("choice", "stream", "environ", "expected"),
    [
        (Colour.AUTO, Terminal(), {}, True),
        (Colour.AUTO, Terminal(), {"NO_COLOR": "1"}, False),
        (Colour.AUTO, Terminal(), {"NO_COLOR": ""}, True),
        (Colour.AUTO, Terminal(), {"TERM": "dumb"}, False),
        (Colour.AUTO, io.StringIO(), {}, False),
        (Colour.ALWAYS, io.StringIO(), {"NO_COLOR": "1"}, True),
        (Colour.NEVER, Terminal(), {}, False),
    ],
)
def test_colour(choice: Colour, stream: io.StringIO, environ: dict[str, str], expected: bool) -> None:
    assert use_colour(choice, stream, environ) is expected


def test_report_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = parse_outputs(["text", f"json={tmp_path / 'r.json'}", f"yaml={tmp_path / 'r.yaml'}"])
    write_report(REPORT, outputs)
    assert capsys.readouterr().out.startswith("error TST001 größer als \\ud800 erlaubt\n")
    assert json.loads((tmp_path / "r.json").read_text())["findings"][0]["title"] == REPORT.findings[0].title
    assert yaml.safe_load((tmp_path / "r.yaml").read_text().replace("\\uD800", "?"))["kind"] == "Report"


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        write_report(REPORT, [Output(ReportFormat.JSON, tmp_path / "none" / "r.json")])
    assert caught.value.why


@pytest.mark.parametrize("form", [Format.JSON, Format.YAML])
def test_data_stays_readable_where_stdout_is_ascii(form: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    write_data({"a": "größer 日本"}, form)
    assert yaml.safe_load(raw.getvalue()) == {"a": "größer 日本"}


def test_formats_hold_equal_data() -> None:
    data = {"a": ["é", 1, None, True], "b": {}}
    assert json.loads(format_data(data, Format.JSON)) == yaml.safe_load(format_data(data, Format.YAML)) == data


def test_a_reader_that_went_away_is_no_error() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    code = "from llmdctl.cli.output import write_out; write_out('x' * 100000); write_out('y' * 100000)"
    with os.fdopen(write_end, "wb") as stdout:
        done = subprocess.run([sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    write_report(REPORT, [Output(ReportFormat.JSON, link)])
    assert link.is_symlink()
    assert json.loads(target.read_text())["kind"] == "Report"
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "r.json"]


def test_a_device_is_written_to_and_stays_a_device() -> None:
    write_report(REPORT, [Output(ReportFormat.JSON, Path(os.devnull))])
    assert not Path(os.devnull).is_file()


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "r.json"
    target.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UserError) as caught:
        write_report(REPORT, [Output(ReportFormat.JSON, target)])
    assert caught.value.why == "No space left on device"
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
