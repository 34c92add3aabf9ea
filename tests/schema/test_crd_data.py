"""The bundled schemas of custom kinds: how they were made, and that they say what the upstream CRDs say."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "llmdctl/schema/data/crds"
INDEX: dict[str, dict[str, Any]] = json.loads((DATA / "index.json").read_text())
RENDERED_OR_READ = {
    "gateway.networking.k8s.io/Gateway",
    "gateway.networking.k8s.io/GatewayClass",
    "gateway.networking.k8s.io/HTTPRoute",
    "gateway.networking.k8s.io/GRPCRoute",
    "gateway.networking.k8s.io/ReferenceGrant",
    "inference.networking.k8s.io/InferencePool",
    "inference.networking.x-k8s.io/InferenceObjective",
    "inference.networking.x-k8s.io/InferenceModelRewrite",
    "llm-d.ai/InferenceObjective",
    "llm-d.ai/InferenceModelRewrite",
    "leaderworkerset.x-k8s.io/LeaderWorkerSet",
    "disaggregatedset.x-k8s.io/DisaggregatedSet",
    "disaggregatedset.x-k8s.io/DisaggregatedSetRoleScaler",
    "resource.nvidia.com/ComputeDomain",
    "monitoring.coreos.com/PodMonitor",
    "monitoring.coreos.com/ServiceMonitor",
    "keda.sh/ScaledObject",
}


def load(key: str) -> dict[str, Any]:
    """The data of a kind."""
    data: dict[str, Any] = json.loads(gzip.decompress((DATA / INDEX[key]["file"]).read_bytes()))
    return data


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema node with its path."""
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from nodes(schema[keyword], f"{path}.{keyword}()")


def run(script: str, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a script of the checkout."""
    command = [sys.executable, f"scripts/{script}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)


def test_the_kinds_that_guides_use_are_there() -> None:
    assert set(INDEX) >= RENDERED_OR_READ


def test_index_and_files_agree() -> None:
    assert {entry["file"] for entry in INDEX.values()} == {path.name for path in DATA.glob("*.json.gz")}
    for key in INDEX:
        data = load(key)
        assert f"{data['group']}/{data['kind']}" == key
        assert data["scope"] == ("Cluster" if data["kind"] == "GatewayClass" else "Namespaced")
        assert any(version["served"] for version in data["versions"].values())


@pytest.mark.parametrize("key", sorted(INDEX))
def test_a_schema_is_structural_and_without_prose(key: str) -> None:
    for version in load(key)["versions"].values():
        for path, node in nodes(version["schema"]):
            assert "$ref" not in node, path
            assert not isinstance(node.get("description"), str), path
            free = node.get("x-kubernetes-int-or-string") or node.get("x-kubernetes-preserve-unknown-fields")
            assert free or node["type"] in ("object", "array", "string", "integer", "number", "boolean"), path
            assert set(node.get("required", ())) <= set(node.get("properties", ())), path
            for item in node.get("x-kubernetes-list-map-keys", ()):
                assert item in node["items"]["properties"], path


@pytest.mark.parametrize("key", sorted(INDEX))
def test_provenance_names_the_source(key: str) -> None:
    entry = json.loads((DATA / "crds.provenance.json").read_text())["kinds"][key]
    if "module" in entry:
        assert entry["sum"].startswith("h1:")
        assert entry["licence"] == "Apache-2.0"
        assert len(entry["sha256"]) == 64
        pinned = f"{entry['module']} {entry['version']} {entry['sum']}\n"
        assert pinned in (ROOT / "tests/oracle/go.sum").read_text(), "data only from modules that the tests import"
    else:
        assert entry["source"] == "written by hand"
        assert (ROOT / entry["file"]).is_file()


def field(key: str, version: str, *path: str) -> dict[str, Any]:
    """The schema of a field; `[]` steps into a list."""
    node: dict[str, Any] = load(key)["versions"][version]["schema"]
    for step in path:
        node = node["items"] if step == "[]" else node["properties"][step]
    return node


def test_overlay_adds_what_newer_releases_have() -> None:
    kind = "disaggregatedset.x-k8s.io/DisaggregatedSet"
    slices = field(kind, "v1", "spec", "slices")
    assert (slices["minimum"], slices["maximum"], slices["default"]) == (1, 100, 1)
    assert field(kind, "v1", "spec", "placementPolicy", "type")["default"] == "None"
    assert field(kind, "v1", "spec", "roles", "[]", "scaling", "mode")["enum"] == ["Static", "External"]
    assert field(kind, "v1", "spec", "roles", "[]", "spec", "groupIdentity")["enum"] == ["Hash", "Ordinal"]
    assert len(field(kind, "v1", "spec")["x-kubernetes-validations"]) == 1
    assert field("leaderworkerset.x-k8s.io/LeaderWorkerSet", "v1", "spec", "replicas")["maximum"] == 1_000_000


def test_derived_rules_came_along_with_their_messages() -> None:
    rules = field("inference.networking.k8s.io/InferencePool", "v1", "spec", "targetPorts")["x-kubernetes-validations"]
    assert rules
    assert all(rule["rule"] and rule["message"] for rule in rules)


def test_scale_subresource_is_where_an_autoscaler_may_point() -> None:
    def scales(key: str) -> bool:
        return "scale" in load(key)["versions"]["v1"]["subresources"]

    assert scales("leaderworkerset.x-k8s.io/LeaderWorkerSet")
    assert scales("disaggregatedset.x-k8s.io/DisaggregatedSetRoleScaler")
    assert not scales("disaggregatedset.x-k8s.io/DisaggregatedSet")


def test_nothing_differs_from_upstream_without_an_explanation(shared: Path) -> None:
    done = run("compare_crds.py", str(shared / "crds"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(INDEX)} of {len(INDEX)} kinds compared" in done.stdout


@pytest.mark.parametrize(
    ("keyword", "value"),
    [("maximum", 3), ("default", 7), ("type", "string"), ("enum", [1, 2]), ("pattern", "^a$"), ("required", ["x"])],
)
def test_comparison_sees_a_change(tmp_path: Path, keyword: str, value: Any) -> None:
    crd = as_definition("llm-d.ai/InferenceObjective")
    priority = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["priority"]
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(crd))
    assert run("compare_crds.py", str(tmp_path)).returncode == 0
    priority[keyword] = value
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(crd))
    done = run("compare_crds.py", str(tmp_path))
    assert done.returncode == 1
    assert f"llm-d.ai/InferenceObjective v1alpha2 spec.priority {keyword}" in done.stdout


def test_comparison_sees_fields_lists_versions_and_lost_rules(tmp_path: Path) -> None:
    crd = as_definition("resource.nvidia.com/ComputeDomain")
    version = crd["spec"]["versions"][0]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["newer"] = {"type": "string"}
    del spec["x-kubernetes-validations"]
    version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["nodes"]["x-kubernetes-list-type"] = (
        "set"
    )
    crd["spec"]["versions"].append({**version, "name": "v1"})
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(crd))
    printed = run("compare_crds.py", str(tmp_path)).stdout
    for place in ("v1beta1 spec.newer", "v1beta1 spec x-kubernetes-validations", "nodes x-kubernetes-list-type", "v1:"):
        assert place in printed


def test_comparison_without_a_directory_or_a_known_kind_is_no_success(tmp_path: Path) -> None:
    assert run("compare_crds.py", str(tmp_path / "nowhere")).returncode == 2
    assert run("compare_crds.py", str(tmp_path)).returncode == 1


def as_definition(key: str) -> dict[str, Any]:
    """Our data, written as a CustomResourceDefinition."""
    data = load(key)
    versions = [
        {
            "name": name,
            "served": version["served"],
            "subresources": {subresource: {} for subresource in version["subresources"]},
            "schema": {"openAPIV3Schema": version["schema"]},
        }
        for name, version in data["versions"].items()
    ]
    names = {"kind": data["kind"], "plural": data["plural"]}
    spec = {"group": data["group"], "scope": data["scope"], "names": names, "versions": versions}
    return {"kind": "CustomResourceDefinition", "spec": spec}


def test_the_script_makes_what_is_committed(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed: the modules that the data is derived from can't be had")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    probe = ["go", "mod", "download", "sigs.k8s.io/lws@v0.9.0"]
    if subprocess.run(probe, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("the Go modules that the data is derived from can't be downloaded here")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "scripts/make_crd_schemas.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "llmdctl/schema/data/crds") == contents(DATA)


def contents(directory: Path) -> dict[str, bytes]:
    """Name -> content; unpacked, because compression libraries differ."""
    return {
        path.name: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in directory.iterdir()
    }
