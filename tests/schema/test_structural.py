"""CRDs that somebody brings may be wrong in any way: that is said, and never breaks a run."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.findings import SourceRef
from llmdctl.manifest.document import Document
from llmdctl.schema import KindSchema, SchemaStore
from llmdctl.schema.structural import UnusableSchemaError, read_structural
from llmdctl.validate.structure import check_structure

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {
                            "spec": {
                                "type": "object",
                                "maxProperties": 9,
                                "properties": {
                                    "mode": {"type": "string", "enum": ["a"], "pattern": "^a$", "maxLength": 3},
                                    "size": {"type": "integer", "format": "int32", "minimum": 1, "default": 2},
                                    "rows": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name"],
                                        "items": {"type": "object", "properties": {"name": {"type": "string"}}},
                                    },
                                    "free": {"type": "object", "additionalProperties": {"type": "string"}},
                                },
                                "oneOf": [{"required": ["mode"]}, {"required": ["size"]}],
                            }
                        },
                    }
                },
            }
        ],
    },
}
WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {"size": 1, "rows": [{"name": "x"}], "free": {"k": "v"}},
}
ODD = st.sampled_from([None, 0, -1, 1.5, True, "", "x", [], {}, [1], ["x"], [None], {"x": 1}, {"type": 5}, [[]]])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


PLACES = [path for path in places(CRD) if path and path[0] == "spec"]


def with_schema(**changed: Any) -> SchemaStore:
    """A store with the CRD, keywords of its `spec` replaced."""
    crd = copy.deepcopy(CRD)
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].update(changed)
    store = SchemaStore()
    store.add_crds([crd])
    return store


@given(st.lists(st.tuples(st.sampled_from(PLACES), ODD), min_size=1, max_size=2))
def test_no_crd_breaks_the_store(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    crd = copy.deepcopy(CRD)
    for path, value in changes:
        parent: Any = crd
        for step in path[:-1]:
            parent = parent[step] if isinstance(parent, dict | list) and step in _keys(parent) else {}
        if isinstance(parent, dict | list) and path[-1] in _keys(parent):
            parent[path[-1]] = copy.deepcopy(value)
    store = SchemaStore()
    store.add_crds([crd])
    result = check_structure(Document(WIDGET, SourceRef("w.yaml")), store)
    assert (result.schema is None) == bool(result.skipped)


def _keys(value: dict[Any, Any] | list[Any]) -> Any:
    return value.keys() if isinstance(value, dict) else range(len(value))


def test_the_crd_as_it_is_can_be_used() -> None:
    store = with_schema()
    assert isinstance(store.lookup("example.com/v1", "Widget"), KindSchema)
    assert store.why_unknown("example.com/v1", "Widget") == ""


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"required": True}, "properties.spec.required must be a list of strings"),
        ({"type": "map"}, "properties.spec.type must be one of object, array"),
        ({"properties": ["mode"]}, "properties.spec.properties must be a map"),
        ({"properties": {"mode": "string"}}, "properties.spec.properties.mode must be a map"),
        ({"allOf": {"required": ["x"]}}, "properties.spec.allOf must be a list"),
        ({"oneOf": [{"minProperties": "1"}]}, "properties.spec.oneOf[0].minProperties must be a whole number"),
        ({"maxProperties": True}, "properties.spec.maxProperties must be a whole number"),
        ({"x-kubernetes-validations": ["self.size > 1"]}, "x-kubernetes-validations must be a list of rules"),
        ({"x-kubernetes-list-type": "bag"}, "x-kubernetes-list-type must be atomic, set or map"),
    ],
)
def test_a_schema_that_cannot_be_used_is_the_reason_for_skipping_its_kind(changed: dict[str, Any], fault: str) -> None:
    store = with_schema(**changed)
    result = check_structure(Document(WIDGET, SourceRef("w.yaml")), store)
    assert result.findings == []
    assert result.skipped.startswith("the CRD of example.com/v1 Widget can't be used: the schema of v1.")
    assert fault in result.skipped


def test_a_broken_crd_does_not_give_way_to_the_bundled_one() -> None:
    crd = copy.deepcopy(CRD)
    crd["spec"] |= {"group": "leaderworkerset.x-k8s.io", "names": {"kind": "LeaderWorkerSet"}}
    crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"type": "objekt"}}
    store = SchemaStore()
    store.add_crds([crd])
    assert store.lookup("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet") is None
    assert "objekt" not in store.why_unknown("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert "can't be used" in store.why_unknown("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")


def test_a_mended_crd_replaces_the_broken_one() -> None:
    store = with_schema(required=True)
    assert store.lookup("example.com/v1", "Widget") is None
    store.add_crds([CRD])
    assert isinstance(store.lookup("example.com/v1", "Widget"), KindSchema)


def test_a_version_without_a_schema_says_so_instead_of_refusing_every_field() -> None:
    crd = copy.deepcopy(CRD)
    del crd["spec"]["versions"][0]["schema"]
    store = SchemaStore()
    store.add_crds([crd])
    assert store.lookup("example.com/v1", "Widget") is None
    assert "the schema of v1 must be a map" in store.why_unknown("example.com/v1", "Widget")


@pytest.mark.parametrize("spec", [None, [], {"names": []}, {"group": 1, "names": {"kind": "Widget"}, "versions": {}}])
def test_a_crd_without_group_kind_or_versions_defines_nothing(spec: Any) -> None:
    store = SchemaStore()
    store.add_crds([{**CRD, "spec": spec}, None, "text"])
    assert store.why_unknown("example.com/v1", "Widget") == "no schema for example.com/v1 Widget"


def test_nulls_are_absent_except_inside_values() -> None:
    schema = {"type": "object", "required": None, "properties": {"a": {"enum": [None], "items": None}}, "default": None}
    assert read_structural(schema, "x") == {"type": "object", "properties": {"a": {"enum": [None]}}}


def test_a_list_of_items_is_not_structural() -> None:
    with pytest.raises(UnusableSchemaError, match=r"x\.items must be a map"):
        read_structural({"type": "array", "items": [{"type": "string"}]}, "x")
