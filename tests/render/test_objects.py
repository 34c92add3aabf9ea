"""Rendering as a whole: every listed combination, determinism, patches, files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from llmdctl.catalog.load import load_catalog
from llmdctl.catalog.select import combinations
from llmdctl.findings import UserError
from llmdctl.manifest import Document, read_paths
from llmdctl.render.files import INDEX, write_directory
from llmdctl.render.objects import as_text, merge_patch
from llmdctl.validate.pipeline import ValidateOptions, validate

PD = "pd-disaggregation"
GUIDES = ("optimized-baseline", PD)
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "0.9": {"release": "0.9"},
    "gateway": {
        "router": {"mode": "gateway", "gateway": {"className": "istio"}, "replicas": 2},
        "monitoring": {"enabled": True},
    },
    "deployment": {"workload": "deployment", "monitoring": {"enabled": True}},
}
CELLS = [(guide, *combination) for guide in GUIDES for combination, _ in combinations(load_catalog().guide(guide))]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("guide", "engine", "accelerator", "provider"), CELLS)
def test_every_listed_combination_validates_without_a_finding(
    render_stack: Any, guide: str, engine: str, accelerator: str, provider: str, variant: str
) -> None:
    spec = {"engine": engine, "accelerator": accelerator, "provider": provider, **VARIANTS[variant]}
    rendered = render_stack(guide, spec)
    documents = [Document(obj, _nowhere(index)) for index, obj in enumerate(rendered.objects)]
    report = validate(
        documents, ValidateOptions(kube_version="1.36", release=spec.get("release", "1.0"), complete=True)
    )
    assert [f"{finding.code} {finding.object} {finding.pointer}: {finding.title}" for finding in report.findings] == []
    assert report.coverage.objects_skipped == 0


def _nowhere(index: int) -> Any:
    from llmdctl.findings import SourceRef

    return SourceRef("<rendered>", document=index)


def test_rendering_is_deterministic_across_processes() -> None:
    command = [sys.executable, "-m", "llmdctl", "render", PD, "--provider", "gke", "-q"]
    texts = {
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1


def test_output_is_what_was_rendered(render_stack: Any, tmp_path: Path) -> None:
    rendered = render_stack(PD)
    (tmp_path / "all.yaml").write_text(as_text(rendered), encoding="utf-8")
    reading = read_paths([str(tmp_path / "all.yaml")])
    assert not reading.findings
    assert [document.object for document in reading.documents] == list(rendered.objects)


@pytest.mark.parametrize("router", [{}, {"mode": "gateway", "gateway": {"className": "istio"}}])
def test_two_stacks_share_a_namespace_and_a_file(render_stack: Any, tmp_path: Path, router: dict[str, Any]) -> None:
    stacks = [render_stack(guide, {"router": router}, {"namespace": "serving"}) for guide in GUIDES]
    (tmp_path / "all.yaml").write_text("".join(as_text(rendered) for rendered in stacks), encoding="utf-8")
    reading = read_paths([str(tmp_path / "all.yaml")])
    # An object twice would be a finding.
    assert not reading.findings
    assert [document.object for document in reading.documents] == [obj for found in stacks for obj in found.objects]
    directory = tmp_path / "out"
    for rendered in stacks:
        write_directory(rendered, directory / rendered.plan.stack.name)
    (tmp_path / "cat.yaml").write_bytes(b"".join(path.read_bytes() for path in sorted(directory.rglob("*.yaml"))))
    assert len(read_paths([str(tmp_path / "cat.yaml")]).documents) == len(reading.documents)


def test_all_objects_share_the_namespace_and_the_instance_label(render_stack: Any) -> None:
    rendered = render_stack(PD, {"monitoring": {"enabled": True}}, {"name": "gpt", "namespace": "serving"})
    for obj in rendered.objects:
        assert obj["metadata"]["namespace"] == "serving"
        assert obj["metadata"]["labels"]["app.kubernetes.io/instance"] == "gpt"
        assert obj["metadata"]["name"].startswith("gpt")


def test_no_placeholder_reaches_the_output(render_stack: Any) -> None:
    for guide in GUIDES:
        text = as_text(render_stack(guide, {"monitoring": {"enabled": True}}))
        for mark in ("{{", "{%", "None", "Undefined", "REPLACE", "<no value>"):
            assert mark not in text


def test_a_second_render_removes_what_is_no_longer_made_and_nothing_else(render_stack: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("kind: Mine\n", encoding="utf-8")
    write_directory(render_stack(PD, {"monitoring": {"enabled": True}}), tmp_path)
    assert (tmp_path / f"podmonitor-{PD}-decode.yaml").exists()
    write_directory(render_stack(PD), tmp_path)
    assert not (tmp_path / f"podmonitor-{PD}-decode.yaml").exists()
    assert (tmp_path / f"disaggregatedset-{PD}.yaml").exists()
    assert (tmp_path / "mine.yaml").read_text(encoding="utf-8") == "kind: Mine\n"


def test_an_index_cannot_make_us_remove_files_elsewhere(render_stack: Any, tmp_path: Path) -> None:
    victim = tmp_path / "victim.yaml"
    victim.write_text("kind: Mine\n", encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    (out / INDEX).write_text("../victim.yaml\n", encoding="utf-8")
    write_directory(render_stack(PD), out)
    assert victim.exists()


def test_a_directory_that_is_a_file_is_a_clear_error(render_stack: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot write") as caught:
        write_directory(render_stack(PD), tmp_path / "file")
    assert caught.value.fix


# The examples of RFC 7386, appendix A, that do not replace the whole document.
@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch(target: Any, patch: Any, result: Any) -> None:
    assert merge_patch(target, patch) == result
