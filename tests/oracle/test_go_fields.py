"""Every field that the bundled schemas know must exist in the Go types, with the same JSON type, and mistakes in values
must be mistakes to both."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmdctl.schema import KindSchema, SchemaStore
from llmdctl.schema.builtin import index as builtin_index
from llmdctl.schema.builtin import read_packed

DATA = Path(__file__).resolve().parents[2] / "llmdctl/schema/data/crds"
CUSTOM = {
    key: json.loads(gzip.decompress((DATA / entry["file"]).read_bytes()))
    for key, entry in json.loads((DATA / "index.json").read_text()).items()
    if key.split("/")[0].endswith(
        ("gateway.networking.k8s.io", "networking.x-k8s.io", "networking.k8s.io", "set.x-k8s.io")
    )
    and not key.endswith("/DisaggregatedSetRoleScaler")
}
MINOR = "1.36"
BUILTIN = sorted(
    key
    for key, entry in builtin_index().items()
    if MINOR in entry["minors"]
    and re.match(
        r"(apps/v1|autoscaling/v2|batch/v1|networking\.k8s\.io/v1|policy/v1|rbac\.\S+/v1|resource\S+/v1|v1)/", key
    )
)
NEWER_THAN_THE_MODULE = {
    "disaggregatedset.x-k8s.io/DisaggregatedSet": {
        "spec.slices",
        "spec.placementPolicy",
        "spec.roles[0].scaling",
        "spec.roles[0].spec.groupIdentity",
        "status.observedGeneration",
    },
    "leaderworkerset.x-k8s.io/LeaderWorkerSet": {"spec.groupIdentity"},
}
"""Exactly the fields that scripts/crds/overlays adds to lws v0.9.0."""

SAMPLES = {"integer": 1, "number": 1.5, "boolean": True}
TEXTS = {"date-time": "2026-01-01T00:00:00.000000Z", "byte": "eA==", "quantity": "1"}

Oracle = Callable[[Iterable[str]], list[Any]]
Resolve = Callable[[str], Mapping[str, Any]]


def no_references(name: str) -> Mapping[str, Any]:
    """Structural schemas have none."""
    raise AssertionError(name)


def definition(name: str) -> Mapping[str, Any]:
    """A definition of the bundled schemas of built-in kinds."""
    parts = name.split(".")
    chunk = parts[3] if parts[:3] == ["io", "k8s", "api"] else "meta" if parts[2] == "apimachinery" else parts[2]
    for minors, schema in read_packed("builtin", f"{chunk}.json.gz")[name].items():
        if MINOR in minors.split(","):
            found: Mapping[str, Any] = schema
            return found
    raise KeyError(name)


def sample(schema: Mapping[str, Any], resolve: Resolve) -> Any:
    """A value with every field of a schema."""
    if "$ref" in schema:
        return sample(resolve(schema["$ref"]), resolve)
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return {}
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") in TEXTS:
        return TEXTS.get(schema.get("format", ""), "1")
    if schema["type"] == "object":
        values = {name: sample(child, resolve) for name, child in schema.get("properties", {}).items()}
        if isinstance(schema.get("additionalProperties"), Mapping):
            values["key"] = sample(schema["additionalProperties"], resolve)
        return values
    if schema["type"] == "array":
        return [sample(schema["items"], resolve)]
    return SAMPLES.get(schema["type"], "x")


SERVED = [
    (key, name) for key, data in CUSTOM.items() for name, version in data["versions"].items() if version["served"]
]


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_fields_of_a_custom_kind(oracle: Oracle, key: str, version: str) -> None:
    data = CUSTOM[key]
    obj = sample(data["versions"][version]["schema"], no_references)
    obj.update(apiVersion=f"{data['group']}/{version}", kind=data["kind"], metadata={"name": "full"})
    (answer,) = oracle([json.dumps(obj)])
    assert answer.known
    assert set(answer.errors) == {f'unknown field "{place}"' for place in NEWER_THAN_THE_MODULE.get(key, ())}


def full(key: str) -> dict[str, Any]:
    """An object of a built-in kind with every field."""
    api_version, _, kind = key.rpartition("/")
    obj = sample(definition(builtin_index()[key]["definition"]), definition)
    return {**obj, "apiVersion": api_version, "kind": kind}


@pytest.mark.parametrize("key", BUILTIN)
def test_fields_of_a_built_in_kind(oracle: Oracle, key: str) -> None:
    (answer,) = oracle([json.dumps(full(key))])
    assert answer.known
    assert answer.errors == ()


def test_a_field_of_the_wrong_type_would_be_seen(oracle: Oracle) -> None:
    schema = CUSTOM["inference.networking.k8s.io/InferencePool"]["versions"]["v1"]["schema"]
    obj = sample(schema, no_references)
    obj.update(apiVersion="inference.networking.k8s.io/v1", kind="InferencePool")
    obj["spec"]["targetPorts"][0]["number"] = "8000"
    (answer,) = oracle([json.dumps(obj)])
    assert "cannot unmarshal string" in answer.errors[0]


VALUES = st.sampled_from(
    [None, True, 0, -1, 1.5, 2.0, 70_000, 2**31, 2**40, 2**63, 1e10, "", "x", "1", "8GB", "10Mi", "50%", "100m", "1e3",
     ".5", "+1", "0x1", "1Zi", "2026-01-01T00:00:00Z", "2026-01-01", "aGk=", "aGk", [], {}, [1], ["x"], [None], [[]],
     [{}], {"x": 1}, {"x": None}, {"name": "x"}]
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path and path[0] not in ("apiVersion", "kind"):
        yield path
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@cache
def written(key: str) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """An object of a built-in kind with every field, as JSON, and all places in it."""
    obj = full(key)
    return json.dumps(obj), tuple(places(obj))


@st.composite
def mistaken(draw: st.DrawFn) -> dict[str, Any]:
    """An object of a built-in kind with every field, one of them replaced, removed, renamed or joined by another."""
    text, paths = written(draw(st.sampled_from(BUILTIN)))
    obj: dict[str, Any] = json.loads(text)
    path = paths[draw(st.integers(0, len(paths) - 1))]
    parent: Any = obj
    for step in path[:-1]:
        parent = parent[step]
    action = draw(st.sampled_from(["replace", "replace", "replace", "delete", "rename", "add"]))
    value = copy.deepcopy(draw(VALUES))
    if action == "replace" or isinstance(parent, list):
        parent[path[-1]] = value
    elif action == "delete":
        del parent[path[-1]]
    elif action == "rename":
        parent[draw(st.sampled_from([f"{path[-1]}x", path[-1].upper(), path[-1].capitalize()]))] = parent.pop(path[-1])
    else:
        parent[draw(st.sampled_from(["name", "extra", "value", "status", "generation"]))] = value
    return obj


@settings(max_examples=60)
@given(st.lists(mistaken(), min_size=1, max_size=15))
def test_the_walker_refuses_what_go_cannot_decode_and_nothing_else(
    oracle: Oracle, objects: list[dict[str, Any]]
) -> None:
    store = SchemaStore(MINOR)
    for obj, answer in zip(objects, oracle(map(json.dumps, objects)), strict=True):
        kind = store.lookup(obj["apiVersion"], obj["kind"])
        assert isinstance(kind, KindSchema)
        # What is required is Go validation's business, after decoding.
        ours = [violation for violation in kind.check(obj).violations if violation.kind != "required"]
        assert bool(ours) == bool(answer.errors), (ours, answer.errors)
