"""`llmdctl guide list` and `guide show`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_run import run_cli

from llmdctl.catalog.load import load_catalog
from llmdctl.manifest import read_text
from llmdctl.plan.build import build_plan
from llmdctl.plan.request import Request, flag_layer
from llmdctl.spec.paths import find_target

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
OWN = Path(__file__).parent.parent / "catalog" / "data"


def shown(capsys: Capture, monkeypatch: Patch, *args: str) -> Any:
    return json.loads(run_cli(capsys, monkeypatch, "guide", "show", *args, "-o", "json").out)


def test_list_names_every_guide(capsys: Capture, monkeypatch: Patch) -> None:
    guides = json.loads(run_cli(capsys, monkeypatch, "guide", "list", "-o", "json").out)
    assert [guide["name"] for guide in guides] == list(load_catalog().guides)
    text = run_cli(capsys, monkeypatch, "guide", "list").out
    assert all(re.search(rf"^{guide['name']} .*{re.escape(guide['title'])}", text, re.M) for guide in guides)


def test_list_with_a_catalog_of_ones_own(capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(capsys, monkeypatch, "guide", "list", "--catalog", str(OWN))
    assert "tiny" in result.out
    assert "pd-disaggregation" in result.out


def test_what_a_guide_needs_follows_from_its_defaults(capsys: Capture, monkeypatch: Patch) -> None:
    data = shown(capsys, monkeypatch, "tiny", "--catalog", str(OWN))
    needs = data["default"]
    assert (needs["accelerator"], needs["accelerators"]) == ("acme-x1", 3)
    assert needs["roles"] == [
        {"name": "decode", "replicas": 3, "podsPerReplica": 1, "acceleratorsPerPod": 1, "accelerators": 3}
    ]
    assert needs["node"]["resource"] == "acme.example/x1"
    assert data["presets"] == [{"name": "two", "title": "Two replicas", "accelerator": "acme-x1", "accelerators": 2}]
    assert {image["reference"] for image in data["images"]} == {"registry.example/toy:v1"}


def test_a_role_that_says_nothing_is_one_replica_of_one_accelerator(
    tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    shutil.copytree(OWN, tmp_path / "catalog")
    guide = tmp_path / "catalog/guides/tiny/guide.yaml"
    guide.write_text(guide.read_text().replace("  defaults: {roles: {decode: {replicas: 3}}}\n", ""))
    needs = shown(capsys, monkeypatch, "tiny", "--catalog", str(tmp_path / "catalog"))["default"]
    assert (needs["accelerators"], needs["node"]["atLeast"]) == (1, 1)


def test_parameters_have_paths_that_can_be_set_and_meanings(capsys: Capture, monkeypatch: Patch) -> None:
    data = shown(capsys, monkeypatch, "pd-disaggregation")
    parameters = {parameter["path"]: parameter for parameter in data["parameters"]}
    for path, parameter in parameters.items():
        assert find_target(path)
        assert parameter["meaning"]
        assert parameter["type"]
    replicas = parameters["spec.roles.decode.replicas"]
    assert (replicas["default"], replicas["type"]) == (1, "integer")
    assert "guides/pd-disaggregation/guide.yaml" in replicas["origin"]
    assert parameters["spec.workload"]["choices"] == ["deployment", "leaderWorkerSet", "disaggregatedSet"]
    assert parameters["metadata.labels"]["type"] == "map of string"
    assert parameters["spec.router.resources.limits"]["type"] == "map of string or integer or number"


def test_what_the_guide_does_not_take_is_no_parameter(capsys: Capture, monkeypatch: Patch) -> None:
    paths = {parameter["path"] for parameter in shown(capsys, monkeypatch, "optimized-baseline")["parameters"]}
    assert "spec.roles.decode.replicas" in paths
    assert not any(path.startswith(("spec.roles.prefill", "spec.kvTransfer", "spec.networkPolicy")) for path in paths)


def test_text_shows_every_section(capsys: Capture, monkeypatch: Patch) -> None:
    text = run_cli(capsys, monkeypatch, "guide", "show", "pd-disaggregation").out
    data = shown(capsys, monkeypatch, "pd-disaggregation")
    assert text.startswith(f"pd-disaggregation: {data['title']}\n")
    assert "Needs by default: 5 x nvidia-h200 (vllm, openai/gpt-oss-120b, provider generic)" in text
    assert re.search(r"^  8p2d +16 x nvidia-h200", text, re.M)
    for cell in data["matrix"]:
        wanted = [cell["engine"], cell["accelerator"], cell["provider"], cell["upstream"]]
        assert re.search(r"^  " + r"\s+".join(map(re.escape, wanted)), text, re.M)
    for parameter in data["parameters"]:
        assert re.search(rf"^  {re.escape(parameter['path'])} ", text, re.M)
    assert re.search(r"endpoint-picker .*tag is inferred", text)
    assert "Not supported yet by this guide\n  networkPolicy" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_yaml_and_json_say_the_same(capsys: Capture, monkeypatch: Patch) -> None:
    text = run_cli(capsys, monkeypatch, "guide", "show", "pd-disaggregation", "-o", "yaml").out
    assert read_text(text, "x").require()[0].object == shown(capsys, monkeypatch, "pd-disaggregation")


def test_shadowed_entries_are_noticed_on_stderr(tmp_path: Path, capsys: Capture, monkeypatch: Patch) -> None:
    entry = "apiVersion: catalog.llmdctl.io/v1alpha1\nkind: Provider\nname: generic\ntitle: Mine\n"
    (tmp_path / "generic.yaml").write_text(entry)
    result = run_cli(capsys, monkeypatch, "guide", "show", "optimized-baseline", "--catalog", str(tmp_path))
    assert "notice: provider generic of " in result.err
    assert "notice" not in result.out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["pd-disagregation"], "did you mean 'pd-disaggregation'?"),
        (["../../etc"], "there is no guide"),
        (["x\x1b[31m"], "\\x1b[31m"),
        (["tiny", "--catalog", "absent"], "there is no directory"),
    ],
)
def test_wrong_use(args: list[str], says: str, capsys: Capture, monkeypatch: Patch) -> None:
    result = run_cli(capsys, monkeypatch, "guide", "show", *args)
    assert result.code == 2
    assert says in result.err
    assert result.out == ""


@pytest.mark.parametrize("name", load_catalog().names("Guide"))
def test_every_guide_and_preset_says_what_its_plan_takes(name: str, capsys: Capture, monkeypatch: Patch) -> None:
    catalog = load_catalog()
    data = shown(capsys, monkeypatch, name)

    def accelerators(**spec: str) -> int:
        values: dict[Any, tuple[Any, str]] = {("spec", key): (value, key) for key, value in spec.items()}
        plan = build_plan(Request((flag_layer(values),)), catalog)
        return sum(role.replicas * role.parallelism.pods * role.parallelism.accelerators for role in plan.roles)

    assert data["default"]["accelerators"] == accelerators(guide=name)
    assert {preset["name"]: preset["accelerators"] for preset in data["presets"]} == {
        preset: accelerators(guide=name, preset=preset) for preset in catalog.guide(name).presets
    }
    assert name in run_cli(capsys, monkeypatch, "guide", "show", name).out


def test_a_reason_that_roles_share_is_told_once_and_on_a_line_of_its_own(capsys: Capture, monkeypatch: Patch) -> None:
    text = run_cli(capsys, monkeypatch, "guide", "show", "wide-ep").out
    lines = [line.strip() for line in text.split("PodSecurity")[1].split("\n\n")[0].splitlines()]
    assert "prefill, decode: uses the node's IPC namespace" in lines
    assert sum("uses the node's IPC namespace" in line for line in lines) == 1


@pytest.mark.parametrize(
    ("guide", "line"),
    [
        ("wide-ep", "prefill  1 x TP1 DP16 on 2 pods: 8 accelerators a pod (by device plugin), engine on 8000"),
        (
            "pd-disaggregation",
            "decode   1 x TP4: 4 accelerators a pod (by device plugin), engine on 8200, sidecar on 8000",
        ),
        ("topology-aware-accelerators", "decode   1 x TP1: 1 accelerator a pod (claimed by DRA)"),
    ],
)
def test_the_summary_of_a_role_adds_up(
    guide: str, line: str, tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    result = run_cli(capsys, monkeypatch, "render", guide, "-o", str(tmp_path / "out"))
    assert line in [found.strip() for found in (result.out + result.err).splitlines()]
