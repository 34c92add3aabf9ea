"""Differential test: on built-in kinds the walker and jsonschema over the package's own schemas agree.

Where the package's schemas say less than the server does (quantity text, int32, date-time, base64) the mutations stay
away; where they say something else (null, requirements that no server enforces) the difference is named here.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from referencing import Registry, Resource

from llmdctl.schema import SUPPORTED_MINORS, KindSchema, SchemaStore

ORIGIN = "https://kubernetes.io/api/_definitions.json"
POD = {
    "containers": [
        {
            "name": "engine",
            "image": "registry.example/engine:v1",
            "args": ["--port", "8000"],
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            ],
            "ports": [{"name": "http", "containerPort": 8000}],
            "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 5},
            "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}, "runAsNonRoot": True},
            "volumeMounts": [{"name": "shm", "mountPath": "/cache"}],
        }
    ],
    "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
}
OBJECTS: dict[str, dict[str, Any]] = {
    "io.k8s.api.apps.v1.Deployment": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"a": "b"}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD},
        },
    },
    "io.k8s.api.core.v1.Service": {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"clusterIP": "None", "ports": [{"port": 80, "targetPort": "http"}], "selector": {"a": "b"}},
    },
    "io.k8s.api.rbac.v1.Role": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "r"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    },
    "io.k8s.api.networking.v1.NetworkPolicy": {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "n"},
        "spec": {
            "podSelector": {"matchLabels": {"a": "b"}},
            "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 80, "protocol": "TCP"}]}],
        },
    },
}  # fmt: skip
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 100), st.sampled_from([0.5, 2.5]), st.sampled_from(["", "x", "8", "é"]),
    st.just({}), st.just([]), st.just([None]), st.just({"x": None}), st.just(["x"]), st.just({"name": "x"}),
)  # fmt: skip


@cache
def oracle(minor: str, definition: str) -> Any:
    """jsonschema's validator of a definition as the package ships it."""
    base = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
    document = json.loads((base / f"v{minor}.0-local-strict" / "_definitions.json").read_text(encoding="utf-8"))
    # oneOf of string and integer both admits null, which then matches twice; the server takes null for absent.
    for name in ("util.intstr.IntOrString", "api.resource.Quantity"):
        schema = document["$defs"][f"io.k8s.apimachinery.pkg.{name}"]
        schema["anyOf"] = schema.pop("oneOf")
    registry: Any = Registry().with_resource(ORIGIN, Resource.from_contents(document))
    return jsonschema.Draft202012Validator({"$ref": f"{ORIGIN}#/$defs/{definition}"}, registry=registry)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, str, dict[str, Any]]:
    """A minor, a definition and a sound object with one to three changes."""
    definition = draw(st.sampled_from(sorted(OBJECTS)))
    obj = copy.deepcopy(OBJECTS[definition])
    for _ in range(draw(st.integers(1, 3))):
        body = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
        path = draw(st.sampled_from(list(places(body)) or [("spec",)]))
        if len(path) == 1 and path[0] not in obj:
            continue
        parent: Any = obj
        for step in path[:-1]:
            parent = parent[step]
        action = draw(st.sampled_from(["replace", "delete", "rename", "add"]))
        value = copy.deepcopy(draw(VALUES))
        if action == "replace" or (action == "rename" and isinstance(parent, list)):
            parent[path[-1]] = value
        elif action == "delete":
            del parent[path[-1]]
        elif action == "rename":
            parent[f"{path[-1]}x"] = parent.pop(path[-1])
        elif isinstance(parent, dict):
            parent["extra"] = value
    return draw(st.sampled_from(SUPPORTED_MINORS)), definition, obj


def without_nulls(value: Any) -> Any:
    """The object as the server reads it: null fields are absent. (The package lets null satisfy a requirement.)"""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def enforced(error: Any) -> bool:
    """False for the one requirement on these objects that no server enforces (1.37 corrected the schema)."""
    return not (error.validator == "required" and "podSelector" in error.message)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_the_walker_agrees_with_jsonschema(case: tuple[str, str, dict[str, Any]]) -> None:
    minor, definition, obj = case
    kind = SchemaStore(minor).lookup(obj["apiVersion"], obj["kind"])
    assert isinstance(kind, KindSchema)
    ours = kind.check(obj).violations
    validator = oracle(minor, definition)
    # As written: unknown fields count even when they are null. Without nulls: null does not satisfy a requirement.
    theirs = [error for given in (obj, without_nulls(obj)) for error in validator.iter_errors(given) if enforced(error)]
    assert bool(ours) == bool(theirs), (ours, [error.message for error in theirs])


@pytest.mark.parametrize("minor", SUPPORTED_MINORS)
@pytest.mark.parametrize("definition", OBJECTS)
def test_the_seeds_are_sound_for_both(minor: str, definition: str) -> None:
    obj = OBJECTS[definition]
    kind = SchemaStore(minor).lookup(obj["apiVersion"], obj["kind"])
    assert isinstance(kind, KindSchema)
    assert kind.check(obj).violations == ()
    assert list(oracle(minor, definition).iter_errors(obj)) == []
