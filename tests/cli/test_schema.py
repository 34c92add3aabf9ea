"""`llmdctl schema`."""

from __future__ import annotations

import json

import pytest
from cli_run import run_cli

from llmdctl.catalog.schema import catalog_schemas
from llmdctl.findings.schema import report_schema
from llmdctl.manifest import read_text
from llmdctl.spec.schema import stack_schema
from llmdctl.validate.baseline import baseline_schema
from llmdctl.validate.suppress import ignore_schema

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def test_the_stack_is_the_default(capsys: Capture, monkeypatch: Patch) -> None:
    assert json.loads(run_cli(capsys, monkeypatch, "schema").out) == stack_schema()


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("stack", "InferenceStack"),
        ("guide", "Guide"),
        ("engine", "Engine"),
        ("model", "Model"),
        ("accelerator", "Accelerator"),
        ("provider", "Provider"),
        ("images", "ImageCatalog"),
        ("report", "Report"),
        ("baseline", "Baseline"),
        ("ignore", "Ignore file"),
    ],
)
def test_each_kind_in_both_formats(kind: str, title: str, capsys: Capture, monkeypatch: Patch) -> None:
    as_json = json.loads(run_cli(capsys, monkeypatch, "schema", kind).out)
    as_yaml = run_cli(capsys, monkeypatch, "schema", kind, "-o", "yaml").out
    assert as_json["title"].startswith(f"{title} (")
    assert read_text(as_yaml, "schema").require()[0].object == as_json
    assert as_json in [stack_schema(), report_schema(), baseline_schema(), ignore_schema(), *catalog_schemas().values()]


@pytest.mark.parametrize("args", [["nothing"], ["stack", "-o", "text"]])
def test_wrong_use(args: list[str], capsys: Capture, monkeypatch: Patch) -> None:
    assert run_cli(capsys, monkeypatch, "schema", *args).code == 2
