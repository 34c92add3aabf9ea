"""`llmdctl plan`: every value with its origin."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from cli_run import Result, run_cli

Run = Callable[..., Result]
PD = "pd-disaggregation"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in this process."""
    return lambda *args: run_cli(capsys, monkeypatch, *args)


def rows(result: Result) -> dict[str, tuple[object, str]]:
    assert result.code == 0, result.err
    return {row["path"]: (row["value"], row["origin"]["kind"]) for row in json.loads(result.out)}


def test_every_value_has_an_origin(run: Run) -> None:
    listed = json.loads(run("plan", PD, "-o", "json").out)
    assert len(listed) > 100
    assert all(row["origin"]["text"] for row in listed)
    assert len({row["path"] for row in listed}) == len(listed)


def test_a_value_given_by_a_flag_says_so(run: Run) -> None:
    plain = rows(run("plan", PD, "spec.roles.decode.replicas", "-o", "json"))
    given = rows(run("plan", PD, "spec.roles.decode.replicas", "--set", "roles.decode.replicas=3", "-o", "json"))
    assert plain["spec.roles.decode.replicas"][1] != given["spec.roles.decode.replicas"][1]
    assert given["spec.roles.decode.replicas"][0] == 3


def test_a_value_of_a_file_names_its_line(run: Run, tmp_path: Path) -> None:
    stack = tmp_path / "stack.yaml"
    stack.write_text(
        f"apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\nmetadata:\n  name: mine\nspec:\n  guide: {PD}\n"
        "  roles:\n    decode:\n      replicas: 3\n",
        encoding="utf-8",
    )
    result = run("plan", "-f", str(stack), "spec.roles.decode.replicas")
    assert result.code == 0, result.err
    assert result.out.startswith("spec.roles.decode.replicas = 3 ")
    assert "stack.yaml:9" in result.out


def test_a_path_selects_what_is_below_it_and_nothing_that_only_starts_alike(run: Run) -> None:
    below = rows(run("plan", PD, "roles.decode", "-o", "json"))
    assert below
    assert all(path == "roles.decode" or path.startswith(("roles.decode.", "roles.decode[")) for path in below)
    whole = rows(run("plan", PD, "-o", "json"))
    assert below.items() <= whole.items()


def test_text_json_and_yaml_tell_the_same(run: Run) -> None:
    as_json = json.loads(run("plan", PD, "roles", "-o", "json").out)
    assert yaml.safe_load(run("plan", PD, "roles", "-o", "yaml").out) == as_json
    lines = run("plan", PD, "roles").out.splitlines()
    assert [line.split(" = ")[0].strip() for line in lines] == [row["path"] for row in as_json]


def test_a_path_without_values_is_refused(run: Run) -> None:
    result = run("plan", PD, "roles.nosuch")
    assert (result.code, result.out) == (2, "")
    assert "roles.nosuch" in result.err
    assert "  fix  " in result.err
