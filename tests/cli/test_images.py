"""`llmdctl images list`."""

from __future__ import annotations

import json

import pytest
from cli_run import run_cli

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def test_images_of_a_guide_and_release(capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(
        capsys, monkeypatch, "images", "list", "--guide", "optimized-baseline", "--release", "1.0", "-o", "json"
    )
    assert result.code == 0
    rows = json.loads(result.out)
    assert {row["release"] for row in rows} == {"1.0"}
    names = {row["name"]: row["image"] for row in rows}
    assert names["vllm-amd"] == "docker.io/vllm/vllm-openai-rocm:v0.30.0"
    assert names["vllm-google"] == "docker.io/vllm/vllm-tpu:v0.29.0"
    # Chosen by a provider's contribution, not by the family.
    assert "vllm-nvidia-efa" in names
    assert "routing-sidecar" not in names


def test_text_tells_what_is_inferred_and_what_is_deprecated(capsys: Capture, monkeypatch: Patch) -> None:
    lines = run_cli(capsys, monkeypatch, "images", "list").out.splitlines()
    sidecar = next(line for line in lines if line.startswith("1.0") and "routing-sidecar" in line)
    assert sidecar.endswith("  inferred")
    rocm = next(line for line in lines if line.startswith("0.8") and "llm-d-rocm" in line)
    assert "deprecated, use docker.io/vllm/vllm-openai-rocm" in rocm


def test_the_file_of_each_image_is_told(capsys: Capture, monkeypatch: Patch) -> None:
    lines = run_cli(capsys, monkeypatch, "images", "list", "--release", "1.0", "--files").out.splitlines()
    assert lines and all(line.endswith("in images/catalog.yaml") for line in lines)
    assert any(line.endswith("inferred; in images/catalog.yaml") for line in lines)
    rows = json.loads(run_cli(capsys, monkeypatch, "images", "list", "-o", "json").out)
    assert {row["file"] for row in rows} == {"images/catalog.yaml"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--release", "7"), "there is no release set '7'"), (("--guide", "x"), "there is no guide 'x'")],
)
def test_unknown_names(capsys: Capture, monkeypatch: Patch, arguments: tuple[str, ...], message: str) -> None:
    result = run_cli(capsys, monkeypatch, "images", "list", *arguments)
    assert result.code == 2
    assert message in result.err
