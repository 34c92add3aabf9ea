"""The whole declared matrix, in every release: rendered, validated, and read by the engines' own flag tables."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llmdctl.catalog.coverage import FILE, seen
from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.engines import find_engine, load_table, parse
from llmdctl.findings import Finding, Severity
from llmdctl.findings.versions import Version
from llmdctl.manifest import read_paths
from llmdctl.operate.matrix import Coverage, declared, passed_layers, render_matrix
from llmdctl.plan.build import build_plan

RELEASES = ("0.8", "0.9", "1.0")
LACKS = {
    "0.8": {"pd-disaggregation/amd-mi300x-vllm-generic-moriio", "wide-ep/amd-mi355x-vllm-generic"},
    "0.9": set[str](),
    "1.0": set[str](),
}
"""Variants that a release lacks, since its router does not speak to their connector."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def coverage(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Coverage, Path]]:
    found = {}
    for release in RELEASES:
        directory = tmp_path_factory.mktemp(f"release-{release}")
        found[release] = (render_matrix(catalog, directory, release=release), directory)
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_every_cell_renders_and_validates_without_a_finding(
    coverage: dict[str, tuple[Coverage, Path]], release: str
) -> None:
    found, _ = coverage[release]
    assert len(found.outcomes) >= 60
    assert {outcome.variant.folder for outcome in found.outcomes if outcome.skipped} == LACKS[release]
    for outcome in found.rendered:
        assert outcome.report is not None
        assert outcome.report.findings == (), outcome.variant.folder
        # Nothing of ours may be of a kind that nobody here can check.
        assert outcome.report.coverage.objects_validated == outcome.objects == outcome.report.coverage.objects_total


@pytest.mark.parametrize("release", RELEASES)
def test_no_rule_is_skipped_because_a_version_or_its_flags_are_unknown(
    coverage: dict[str, tuple[Coverage, Path]], release: str
) -> None:
    found, _ = coverage[release]
    reasons = {
        skip.reason for outcome in found.rendered if outcome.report is not None for skip in outcome.report.skipped
    }
    # What is absent from a stack (a second role, or any engine in the pairing job) is no gap in what is known.
    absent = ("the input has no ", "no engine command is known in the input")
    assert [reason for reason in reasons if not reason.startswith(absent)] == []


def test_what_the_guides_say_of_each_cell_is_what_was_seen(
    root: Path, coverage: dict[str, tuple[Coverage, Path]]
) -> None:
    spec = importlib.util.spec_from_file_location("make_coverage", root / "scripts" / "make_coverage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.document({release: found for release, (found, _) in coverage.items()})
    assert FILE.read_text(encoding="utf-8") == text, "run scripts/make_coverage.py"
    assert {layers[:3] for layers in seen().values()} == {("renders", "schema", "rules")}


def test_layers_that_are_not_passed_are_not_told(coverage: dict[str, tuple[Coverage, Path]]) -> None:
    outcome = coverage["1.0"][0].rendered[0]
    assert outcome.report is not None
    assert passed_layers(outcome) == ("renders", "schema", "rules")
    assert passed_layers(replace(outcome, report=None)) == ("renders",)
    assert passed_layers(replace(outcome, skipped="why")) == ()
    # An object that nobody could check.
    assert passed_layers(replace(outcome, objects=outcome.objects + 1)) == ("renders", "rules")
    for code, left in (("KVT003", ("renders", "schema")), ("SCH001", ("renders", "rules"))):
        finding = Finding(code=code, severity=Severity.ERROR, title="x")
        assert passed_layers(replace(outcome, report=replace(outcome.report, findings=(finding,)))) == left


def test_each_variant_has_a_folder_of_its_own(coverage: dict[str, tuple[Coverage, Path]]) -> None:
    found, directory = coverage["1.0"]
    folders = [outcome.variant.folder for outcome in found.outcomes]
    assert len(set(folders)) == len(folders)
    for outcome in found.rendered:
        files = list((directory / outcome.variant.folder).glob("*.yaml"))
        assert len(files) == outcome.objects


def test_no_placeholder_reaches_the_output(coverage: dict[str, tuple[Coverage, Path]]) -> None:
    for _, directory in coverage.values():
        for file in directory.rglob("*.yaml"):
            text = file.read_text(encoding="utf-8")
            assert "REPLACE" not in text and "{{" not in text and "TODO" not in text, file


def engine_containers(directory: Path) -> Iterator[dict[str, Any]]:
    for document in read_paths([str(directory)]).documents:
        todo = [document.object]
        while todo:
            node = todo.pop()
            if isinstance(node, dict):
                if "image" in node and "name" in node and "args" in node:
                    yield node
                todo.extend(node.values())
            elif isinstance(node, list):
                todo.extend(node)


@pytest.mark.parametrize("release", RELEASES)
def test_command_lines_are_those_of_an_independent_flag_table(
    shared: Path, coverage: dict[str, tuple[Coverage, Path]], release: str
) -> None:
    """No flag that the fact sheets' tables lack, for the engine version of the image, and no choice that they lack."""
    found, directory = coverage[release]
    tables = {path.stem: json.loads(path.read_text()) for path in (shared / "facts/engine-flags").glob("*-*.json")}
    checked = 0
    for outcome in found.rendered:
        for container in engine_containers(directory / outcome.variant.folder):
            invocation = find_engine(container.get("command", []), container["args"], {})
            if invocation is None:
                continue
            version = Version.parse(container["image"].rpartition(":")[2])
            theirs = tables.get(f"{invocation.engine}-{version}", {}).get("flags")
            if theirs is None:
                continue
            checked += 1
            ours = load_table(invocation.engine, str(version))
            for name, options in parse(invocation.engine, invocation.argv, ours).options.items():
                names = {name, *(alias.lstrip("-") for alias in theirs.get(f"--{name}", {}).get("aliases", []))}
                assert any(f"--{known}" in theirs for known in names), (outcome.variant.folder, name)
                choices = theirs.get(f"--{name}", {}).get("choices")
                value = options[-1].value
                if choices and value is not None and theirs[f"--{name}"].get("kind") == "enum":
                    assert value in map(str, choices), (outcome.variant.folder, name, value)
    assert checked > 20 or release == "0.8"


def test_the_versions_of_a_release_reach_the_output(catalog: Catalog) -> None:
    """What differs between the releases of one stack, by its exact values."""
    variant = next(
        item
        for item in declared(catalog, ["pd-disaggregation"])
        if (item.accelerator, item.provider) == ("nvidia-h200", "generic")
    )
    plans = {release: build_plan(variant.request(release), catalog) for release in RELEASES}
    configs = {release: plan.router.config for release, plan in plans.items()}
    assert {release: config["apiVersion"] for release, config in configs.items()} == {
        "0.8": "llm-d.ai/v1alpha1",
        "0.9": "llm-d.ai/v1alpha1",
        "1.0": "llm-d.ai/v1",
    }
    handlers = {
        release: next(plugin for plugin in config["plugins"] if plugin["type"] == "disagg-profile-handler")
        for release, config in configs.items()
    }
    decider = "always-disagg-pd-decider"
    assert handlers["0.8"]["parameters"] == {"deciderPluginName": decider}
    assert handlers["0.9"]["parameters"] == handlers["1.0"]["parameters"] == {"deciders": {"prefill": decider}}
    sidecars = {release: plan.roles[1].sidecar for release, plan in plans.items()}
    arguments = {release: set(sidecar.args) for release, sidecar in sidecars.items() if sidecar}
    assert {"--vllm-port=8200", "--secure-proxy=false"} <= arguments["0.8"]
    assert {"--model-server-port=8200", "--secure-proxy=false"} <= arguments["0.9"]
    assert {"--model-server-port=8200", "--secure-serving=false"} <= arguments["1.0"]
    roles = {
        release: [
            json.loads(arg.partition("=")[2])["kv_role"]
            for role in plan.roles
            for arg in role.container.args
            if arg.startswith("--kv-transfer-config=")
        ]
        for release, plan in plans.items()
    }
    assert roles["0.8"] == ["kv_both", "kv_both"]
    assert roles["0.9"] == roles["1.0"] == ["kv_producer", "kv_consumer"]
    identities = {release: plan.roles[0].group_identity for release, plan in plans.items()}
    assert identities == {"0.8": None, "0.9": None, "1.0": "Hash"}
