"""Notices: a catalog's entries that shadow ours are told on stderr by every command, and by none with -q."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import Result, run_cli

Run = Callable[..., Result]

GUIDE = "optimized-baseline"
NOTICE = "notice: image envoy of release 1.0 shadows the one in images/catalog.yaml\n"
IMAGES = """\
apiVersion: catalog.llmdctl.io/v1alpha1
kind: ImageCatalog
releases:
  "1.0":
    images:
      envoy:
        repository: registry.example/envoy
        tag: distroless-v1.33.2
        component: envoy
        version: 1.33.2
        provenance: {source: our mirror, confidence: published}
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs the command line in a folder with a catalog of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    own = tmp_path / ".llmdctl" / "catalog"
    own.mkdir(parents=True)
    (own / "images.yaml").write_text(IMAGES, encoding="utf-8")
    return lambda *args: run_cli(capsys, monkeypatch, *args)


@pytest.mark.parametrize(
    "arguments",
    [
        ["guide", "show", GUIDE],
        ["images", "list"],
        ["plan", GUIDE],
        ["render", GUIDE],
        ["render", GUIDE, "-o", "out"],
        ["render", GUIDE, "--all", "--no-validate", "-o", "all"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_shadowing_is_told_once_and_not_with_q(run: Run, arguments: list[str]) -> None:
    loud = run(*arguments)
    assert (loud.code, loud.err.count(NOTICE)) == (0, 1), loud.err
    quiet = run(*arguments, "-q")
    assert (quiet.code, quiet.err) == (0, "")


def test_tags_that_are_only_inferred_are_told_once_and_not_with_q(run: Run) -> None:
    for command in ("plan", "render"):
        assert run(command, "pd-disaggregation").err.count("llm-d-router-endpoint-picker:v1.0.0: its tag") == 1
        assert run(command, "pd-disaggregation", "-q").err == ""


def test_init_says_nothing_with_q(run: Run, tmp_path: Path) -> None:
    assert run("init", GUIDE, "-o", "one.yaml").err == "wrote one.yaml; next: llmdctl plan -f one.yaml\n"
    assert run("init", GUIDE, "-o", "two.yaml", "-q").err == ""
    assert (tmp_path / "one.yaml").read_bytes() == (tmp_path / "two.yaml").read_bytes()


def test_the_plan_names_the_file_of_an_image(run: Run) -> None:
    rows = json.loads(run("plan", GUIDE, "router", "-q", "-o", "json").out)
    origins = {row["path"]: row["origin"]["text"] for row in rows}
    assert origins["router.proxy.image.reference"] == "image envoy of release 1.0 (.llmdctl/catalog/images.yaml)"
    assert origins["router.image.reference"] == "image endpoint-picker of release 1.0 (images/catalog.yaml)"
