"""`llmdctl validate --from-cluster` on what a real API server stored, defaults and all."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_run import Result, run_cli
from control_plane import ControlPlane
from mutate import STACKS, rendered_objects

from llmdctl.manifest.emit import emit_yaml

Cli = Callable[..., Result]


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, plane_with_crds: ControlPlane
) -> Cli:
    """Runs `llmdctl validate --from-cluster` against the control plane, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    kubeconfig = ("--kubeconfig", str(plane_with_crds.kubeconfig))

    def run(*args: str) -> Result:
        return run_cli(capsys, monkeypatch, "validate", "--from-cluster", *kubeconfig, *args)

    return run


def put(plane: ControlPlane, stack: str, namespace: str) -> list[dict[str, Any]]:
    """Applies a rendered stack into a namespace of its own."""
    objects = copy.deepcopy(rendered_objects(stack))
    for obj in objects:
        obj["metadata"]["namespace"] = namespace
        for subject in obj.get("subjects", []):
            subject["namespace"] = namespace
    plane.create_namespace(namespace)
    plane.apply(objects)
    return objects


@pytest.mark.parametrize("stack", STACKS)
def test_what_the_server_stored_has_no_finding(cli: Cli, plane_with_crds: ControlPlane, stack: str) -> None:
    objects = put(plane_with_crds, stack, f"from-{stack}")
    result = cli("-n", f"from-{stack}", "-o", "json")
    report = json.loads(result.out)
    assert report["findings"] == []
    assert result.code == 0
    assert report["target"]["kubeVersion"] == "1.36"
    # The server adds a ServiceAccount of its own; what controllers make is not read.
    assert report["coverage"]["objects"]["validated"] >= len(objects)


def test_a_local_change_is_judged_with_the_rest_of_the_namespace(
    cli: Cli, plane_with_crds: ControlPlane, tmp_path: Path
) -> None:
    objects = put(plane_with_crds, "pd", "from-local")
    pool = copy.deepcopy(next(obj for obj in objects if obj["kind"] == "InferencePool"))
    pool["spec"]["targetPorts"] = [{"number": 8200}]
    (tmp_path / "pool.yaml").write_text(emit_yaml(pool), encoding="utf-8")
    result = cli("-n", "from-local", "-o", "json", "pool.yaml")
    assert result.code == 1
    assert "PRT001" in {finding["code"] for finding in json.loads(result.out)["findings"]}
