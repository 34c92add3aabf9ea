"""What the guides render, decoded by the Go types of the APIs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.findings import Path
from llmdctl.manifest.emit import emit_yaml
from llmdctl.plan.build import build_plan
from llmdctl.plan.origin import Origin, OriginKind
from llmdctl.plan.request import Request, UserLayer
from llmdctl.render.objects import render

GUIDES = ("pd-disaggregation", "optimized-baseline")
VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "gateway": {"router": {"mode": "gateway", "gateway": {"className": "istio"}}},
    "deployment": {"workload": "deployment"},
    "dra": {"devices": {"mode": "dra"}, "provider": "gke", "accelerator": "nvidia-h200"},
    "sglang": {"engine": "sglang"},
}
CASES = [
    (guide, variant)
    for guide in GUIDES
    for variant in VARIANTS
    if (guide, variant) != ("optimized-baseline", "dra")  # Its devices are not claimed on any provider.
]

Oracle = Callable[[Iterable[str]], list[Any]]
Objects = list[dict[str, Any]]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The built-in catalog."""
    return load_catalog()


def rendered(catalog: Catalog, guide: str, spec: dict[str, Any]) -> Objects:
    """The objects of a guide. Monitors are off: their types are in none of the modules."""

    def flag(_: Path) -> Origin:
        return Origin(OriginKind.FLAG, "a test")

    data = {"metadata": {}, "spec": {"guide": guide, "monitoring": {"enabled": False}, **spec}}
    plan = build_plan(Request((UserLayer(data, flag),)), catalog)
    return list(render(plan, catalog.template_dirs(guide)).objects)


def without_group_identity(objects: Objects) -> tuple[Objects, dict[str, list[str]]]:
    """The objects without the one field that is newer than lws v0.9.0, and where it stood, by kind/name."""
    older = copy.deepcopy(objects)
    removed: dict[str, list[str]] = {}
    for obj in older:
        if obj["kind"] == "DisaggregatedSet":
            for number, role in enumerate(obj["spec"]["roles"]):
                if role["spec"].pop("groupIdentity", None):
                    place = f"spec.roles[{number}].spec.groupIdentity"
                    removed.setdefault(f"{obj['kind']}/{obj['metadata']['name']}", []).append(place)
    return older, removed


@pytest.mark.parametrize(("guide", "variant"), CASES)
def test_what_a_guide_renders_decodes_strictly(oracle: Oracle, catalog: Catalog, guide: str, variant: str) -> None:
    objects = rendered(catalog, guide, VARIANTS[variant])
    older, removed = without_group_identity(objects)

    answers = oracle(map(emit_yaml, older))
    assert [(answer.api_version, answer.kind) for answer in answers] == [
        (obj["apiVersion"], obj["kind"]) for obj in objects
    ]
    assert [answer for answer in answers if answer.errors or not answer.known] == []

    refused = {f"{answer.kind}/{answer.name}": list(answer.errors) for answer in oracle(map(emit_yaml, objects))}
    expected = {name: [f'unknown field "{place}"' for place in places] for name, places in removed.items()}
    assert {name: errors for name, errors in refused.items() if errors} == expected


def test_the_variants_cover_what_has_types(catalog: Catalog) -> None:
    kinds = {obj["kind"] for guide, variant in CASES for obj in rendered(catalog, guide, VARIANTS[variant])}
    assert kinds >= {"DisaggregatedSet", "Deployment", "InferencePool", "Gateway", "HTTPRoute", "ResourceClaimTemplate"}


def test_the_default_guide_really_has_the_newer_field(catalog: Catalog) -> None:
    _, removed = without_group_identity(rendered(catalog, "pd-disaggregation", {}))
    assert [len(places) for places in removed.values()] == [2]


@pytest.mark.parametrize(
    ("kind", "path", "old", "new"),
    [
        ("Deployment", ("spec",), "replicas", "Replicas"),
        ("Deployment", ("spec", "template", "spec"), "containers", "container"),
        ("InferencePool", ("spec",), "targetPorts", "targetPort"),
        ("DisaggregatedSet", ("spec", "roles", 0, "spec"), "leaderWorkerTemplate", "leaderWorkerTemplates"),
        ("DisaggregatedSet", ("spec", "roles", 1), "name", "rolename"),
        ("HTTPRoute", ("spec", "rules", 0), "backendRefs", "backendRef"),
        ("Role", ("rules", 0), "apiGroups", "apigroups"),
    ],
)
def test_a_misspelt_field_is_refused(
    oracle: Oracle, catalog: Catalog, kind: str, path: tuple[str | int, ...], old: str, new: str
) -> None:
    objects, _ = without_group_identity(rendered(catalog, "pd-disaggregation", VARIANTS["gateway"]))
    wrong = next(obj for obj in objects if obj["kind"] == kind)
    place: Any = wrong
    for step in path:
        place = place[step]
    place[new] = place.pop(old)
    (answer,) = oracle([emit_yaml(wrong)])
    assert any(
        error.startswith("unknown field") and f".{new}" in f".{error}".replace('"', ".") for error in answer.errors
    )


@pytest.mark.parametrize(
    ("document", "part"),
    [
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 8000}\n", "cannot unmarshal number"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: on}\n", "cannot unmarshal bool"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: a, k: b}\n", "already set in map"),
        (
            "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 4294967296}]}\n",
            "cannot unmarshal",
        ),
        ("- a list\n", "cannot unmarshal array"),
    ],
)
def test_wrong_types_and_duplicate_keys_are_refused(oracle: Oracle, document: str, part: str) -> None:
    (answer,) = oracle([document])
    assert any(part in error for error in answer.errors)


def test_a_kind_that_no_module_has_is_told_apart(oracle: Oracle) -> None:
    (answer,) = oracle(["apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: a}\n"])
    assert not answer.known
    assert answer.errors == ()


def test_each_document_gets_a_line_and_empty_ones_do_not_count(oracle: Oracle) -> None:
    documents = ["", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", "\n", "# nothing\n", "kind: Namespace\n"]
    answers = oracle(documents)
    assert [answer.name for answer in answers] == ["a", ""]
    assert answers[1].errors
