"""`llmdctl validate --from-cluster` against a real API server, with real controllers (no kubelet, no containers)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_run import Cli, Result, run_cli
from control_plane import VERSION, ControlPlane
from mutate import STACKS, rendered_objects

from llmdctl.manifest.emit import emit_yaml
from llmdctl.validate.registry import EXAMPLES

BAD = yaml.safe_load((EXAMPLES / "PRT004" / "bad.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, plane_with_crds: ControlPlane
) -> Cli:
    """Runs `llmdctl validate --from-cluster` as the cluster's administrator."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)

    def run(*args: str, kubeconfig: Path = plane_with_crds.kubeconfig) -> Result:
        return run_cli(capsys, monkeypatch, "validate", "--from-cluster", "--kubeconfig", str(kubeconfig), *args)

    return run


def create(plane: ControlPlane, namespace: str, *objects: dict[str, Any]) -> None:
    """Applies objects into a namespace of their own."""
    plane.create_namespace(namespace)
    placed = copy.deepcopy(list(objects))
    for obj in placed:
        obj["metadata"]["namespace"] = namespace
        for subject in obj.get("subjects", []):
            subject["namespace"] = namespace
    plane.apply(placed)


@pytest.mark.parametrize("stack", STACKS)
def test_what_we_render_is_without_a_finding_once_the_server_has_it(
    cli: Cli, plane_with_crds: ControlPlane, stack: str
) -> None:
    """Defaults that the server fills in, and what its controllers add, must not look like faults."""
    objects = rendered_objects(stack)
    create(plane_with_crds, f"from-{stack}", *objects)
    result = cli("-n", f"from-{stack}", "-o", "json")
    report = json.loads(result.out)
    assert report["findings"] == []
    assert result.code == 0
    assert report["target"]["kubeVersion"] == ".".join(VERSION.removeprefix("v").split(".")[:2])
    assert report["target"]["complete"]
    # The server adds a ServiceAccount of its own; what controllers make is not read.
    assert report["coverage"]["objects"]["validated"] >= len(objects)
    assert report["coverage"]["objects"]["skipped"] == 0


def test_a_local_change_is_judged_with_the_rest_of_the_namespace(
    cli: Cli, plane_with_crds: ControlPlane, tmp_path: Path
) -> None:
    objects = rendered_objects("pd")
    create(plane_with_crds, "from-local", *objects)
    pool = copy.deepcopy(next(obj for obj in objects if obj["kind"] == "InferencePool"))
    pool["metadata"]["namespace"] = "from-local"
    pool["spec"]["targetPorts"] = [{"number": 8200}]
    (tmp_path / "pool.yaml").write_text(emit_yaml(pool), encoding="utf-8")
    result = cli("-n", "from-local", "-o", "json", "pool.yaml")
    assert result.code == 1
    assert "PRT001" in {finding["code"] for finding in json.loads(result.out)["findings"]}


def test_a_fault_is_found_and_local_objects_mend_it(cli: Cli, plane_with_crds: ControlPlane, tmp_path: Path) -> None:
    create(plane_with_crds, "faulty", BAD)
    assert cli("-n", "faulty").out.startswith("error PRT004 Deployment/decode")
    good = yaml.safe_load((EXAMPLES / "PRT004" / "good.yaml").read_text(encoding="utf-8"))
    good["metadata"]["namespace"] = "faulty"
    (tmp_path / "good.yaml").write_text(yaml.safe_dump(good))
    assert cli("good.yaml", "-n", "faulty", "--rule", "PRT", "--fail-on", "warning").code == 0


def test_local_custom_objects_are_checked_against_the_cluster_s_own_definitions(
    cli: Cli, plane_with_crds: ControlPlane, tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.moon.example"},
        "spec": {
            "group": "moon.example",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    (tmp_path / "crd").mkdir()
    (tmp_path / "crd" / "widget.yaml").write_text(yaml.safe_dump(crd))
    plane_with_crds.install_crds(tmp_path / "crd")
    text = "apiVersion: moon.example/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: big}\n"
    (tmp_path / "widget.yaml").write_text(text)
    plane_with_crds.create_namespace("moon")
    result = cli("widget.yaml", "-n", "moon")
    assert result.code == 1
    assert "size must be an integer" in result.out


def test_whoever_may_read_little_is_told_what_was_not_read(
    cli: Cli, plane_with_crds: ControlPlane, tmp_path: Path
) -> None:
    create(plane_with_crds, "little", BAD)
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]}
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "little"}
    create(
        plane_with_crds,
        "little",
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": "reader"},
            "rules": [rule],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [subject],
        },
    )
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = "/api/v1/namespaces/little/serviceaccounts/reader/token"
    token = plane_with_crds.request("POST", path, asked).body["status"]["token"]
    content = json.loads(plane_with_crds.kubeconfig.read_text(encoding="utf-8"))
    content["users"][0]["user"] = {"token": token}
    (tmp_path / "kubeconfig").write_text(json.dumps(content))
    result = cli("-n", "little", "-o", "json", kubeconfig=tmp_path / "kubeconfig")
    report = json.loads(result.out)
    assert result.code == 1
    assert "PRT004" in [item["code"] for item in report["findings"]]
    assert not report["target"]["complete"]
    assert any("not read" in item["reason"] and "configmaps" in item["reason"] for item in report["skipped"])
    nothing = cli("-n", "default", kubeconfig=tmp_path / "kubeconfig")
    assert (nothing.code, "nothing can be read from namespace default" in nothing.err) == (3, True)


def test_a_wrong_token_is_exit_code_3(cli: Cli, plane_with_crds: ControlPlane, tmp_path: Path) -> None:
    content = json.loads(plane_with_crds.kubeconfig.read_text(encoding="utf-8"))
    content["users"][0]["user"] = {"token": "not-a-secret"}
    (tmp_path / "kubeconfig").write_text(json.dumps(content))
    result = cli(kubeconfig=tmp_path / "kubeconfig")
    assert (result.code, "does not know who asks" in result.err) == (3, True)
