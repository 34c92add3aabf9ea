"""What a real API server says of everything that we render: created with strict fields, as a dry run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from control_plane import VERSION, ControlPlane

from llmdctl.catalog.coverage import SERVER_FILE, served
from llmdctl.catalog.load import load_catalog
from llmdctl.manifest import read_paths
from llmdctl.operate.matrix import render_matrix

NAMESPACE = "llm-d"


def test_the_server_takes_every_variant(plane_with_crds: ControlPlane, tmp_path: Path) -> None:
    plane_with_crds.create_namespace(NAMESPACE)
    told = served()
    coverage = render_matrix(load_catalog(), tmp_path, release=told.release, check=False)
    refused: dict[str, list[str]] = {}
    taken = set()
    for outcome in coverage.rendered:
        objects = [document.object for document in read_paths([str(tmp_path / outcome.variant.folder)]).documents]
        assert len(objects) == outcome.objects
        found = plane_with_crds.refusals(objects)
        if found:
            refused[outcome.variant.folder] = found
        else:
            taken.add(outcome.variant.folder)
    assert refused == {}
    assert taken == told.variants, f"run scripts/make_server_coverage.py to refresh {SERVER_FILE.name}"
    assert told.kubernetes == VERSION


POOL: dict[str, Any] = {
    "apiVersion": "inference.networking.k8s.io/v1",
    "kind": "InferencePool",
    "metadata": {"name": "demo", "namespace": NAMESPACE},
    "spec": {
        "selector": {"matchLabels": {"app": "demo"}},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {"name": "demo-epp", "port": {"number": 9002}},
    },
}


@pytest.mark.parametrize(
    "wrong", [{"targetPorts": [{"number": 8000}, {"number": 8000}]}, {"picker": 1}], ids=["rule", "unknown-field"]
)
def test_the_server_refuses_what_is_wrong(plane_with_crds: ControlPlane, wrong: dict[str, Any]) -> None:
    """The check above can fail."""
    plane_with_crds.create_namespace(NAMESPACE)
    assert plane_with_crds.refusals([POOL]) == []
    assert len(plane_with_crds.refusals([{**POOL, "spec": {**POOL["spec"], **wrong}}])) == 1
