"""Start-up time is a feature: what `--help` must not import, and what the checking commands must not."""

from __future__ import annotations

import subprocess
import sys

import pytest

NEVER_FOR_HELP = ("kubernetes", "rich", "jinja2", "yaml", "ssl", "asyncio", "jsonschema", "pydantic")


def imported(*arguments: str) -> set[str]:
    """Top-level modules that a run imports."""
    command = [sys.executable, "-X", "importtime", "-m", "llmdctl", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert len(lines) > 50
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize(
    "arguments", [("--help",), ("version",), ("render", "--help"), ("validate", "--help"), ("plan", "--help")]
)
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert imported(*arguments).isdisjoint(NEVER_FOR_HELP)


def test_rendering_and_checking_leave_the_cluster_and_pretty_printing_alone(tmp_path: object) -> None:
    found = imported("render", "optimized-baseline", "-q", "-o", str(tmp_path))
    assert "jinja2" in found
    assert found.isdisjoint({"kubernetes", "rich", "jsonschema", "ssl", "asyncio", "pydantic"})
    found = imported("validate", str(tmp_path))
    assert "llmdctl" in found
    # Manifests in plain block style without findings don't need a YAML library either.
    assert found.isdisjoint({"kubernetes", "rich", "jsonschema", "jinja2", "yaml", "ssl", "asyncio", "pydantic"})
