"""Our verdict on objects with random faults, against the API server's own."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from control_plane import ControlPlane
from mutate import STACKS, rendered_objects
from perturb import perturbed

from llmdctl.findings import Severity, SourceRef
from llmdctl.manifest import read_paths
from llmdctl.manifest.document import Document
from llmdctl.validate.admission.dispatch import FAILS_LATER
from llmdctl.validate.pipeline import validate

TRIES = 2000
SEED = 20261201
SERVER_LAYERS = ("YML", "SCH", "ADM", "CEL")


def originals() -> dict[str, list[dict[str, Any]]]:
    """Sound objects by kind: what we render, and the kinds beside this file."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    beside = [item.object for item in read_paths([str(Path(__file__).with_name("objects.yaml"))]).documents]
    for obj in [*beside, *(obj for stack in STACKS for obj in rendered_objects(stack))]:
        found[obj["kind"]].append(obj)
    return found


def refused_by_us(obj: dict[str, Any]) -> list[str]:
    """The errors of the layers that speak for the server, without what only its pods would meet."""
    report = validate([Document(obj, SourceRef("object.yaml"))])
    return [
        finding.title
        for finding in report.findings
        if finding.severity is Severity.ERROR
        and finding.code[:3] in SERVER_LAYERS
        and not finding.title.endswith(FAILS_LATER)
    ]


@pytest.fixture(scope="module")
def kinds(plane_with_crds: ControlPlane) -> dict[str, list[dict[str, Any]]]:
    plane_with_crds.create_namespace("llm-d")
    return originals()


def test_sound_objects_are_sound(plane_with_crds: ControlPlane, kinds: dict[str, list[dict[str, Any]]]) -> None:
    for objects in kinds.values():
        for obj in objects:
            assert plane_with_crds.refusals([obj]) == []
            assert refused_by_us(obj) == []


def test_random_faults_are_judged_alike(plane_with_crds: ControlPlane, kinds: dict[str, list[dict[str, Any]]]) -> None:
    chance = random.Random(SEED)  # noqa: S311 - repeatable
    names = sorted(kinds)
    differing = []
    for _ in range(TRIES):
        obj, what = perturbed(chance.choice(kinds[chance.choice(names)]), chance)
        server, ours = plane_with_crds.refusals([obj]), refused_by_us(obj)
        if bool(server) != bool(ours):
            differing.append((obj["kind"], what, server, ours))
    share = 1 - len(differing) / TRIES
    assert share >= 0.995, "\n".join(map(str, differing))
