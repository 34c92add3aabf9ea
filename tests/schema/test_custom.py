"""Custom kinds: structural schemas as apiextensions-apiserver reads them."""

from __future__ import annotations

from typing import Any

import pytest

from llmdctl.findings import format_path
from llmdctl.schema import CheckResult, KindSchema, SchemaStore, Violation

FREE = "x-kubernetes-preserve-unknown-fields"
LIST = "x-kubernetes-list-type"


def run(spec_schema: dict[str, Any], spec: Any, **root: Any) -> CheckResult:
    """Checks `{spec: spec}` against a CRD whose spec has that schema."""
    schema = {"type": "object", "properties": {"spec": spec_schema}, **root}
    store = SchemaStore()
    store.add_crds(
        [
            {
                "kind": "CustomResourceDefinition",
                "spec": {
                    "group": "example.com",
                    "names": {"kind": "Widget"},
                    "scope": "Cluster",
                    "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}],
                },
            }
        ]
    )
    kind = store.lookup("example.com/v1", "Widget")
    assert isinstance(kind, KindSchema)
    assert not kind.namespaced
    obj = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}
    return kind.check(obj)


def found(schema: dict[str, Any], value: Any) -> list[Violation]:
    """The violations of `spec.a` with that schema and value."""
    return list(run({"type": "object", "properties": {"a": schema}}, {"a": value}).violations)


def messages(schema: dict[str, Any], value: Any) -> list[str]:
    return [violation.message for violation in found(schema, value)]


STRING = {"type": "string"}
INT32 = {"type": "integer", "format": "int32"}
LISTED = {"type": "array", "items": STRING}
OPEN = {"type": "object", FREE: True}
MAP = {"type": "object", "additionalProperties": STRING}
EITHER = {"x-kubernetes-int-or-string": True}


def must_be(expected: str, actual: str, path: str = "spec.a") -> str:
    """The server's words for a wrong type or format."""
    return f'Invalid value: "{actual}": {path} in body must be of type {expected}: "{actual}"'


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (STRING, 7, 'Invalid value: "integer": spec.a in body must be of type string: "integer"'),
        (STRING, None, None),
        (LISTED, "x", must_be("array", "string")),
        (INT32, 2**31, 'Invalid value: "": Checked value must be of type integer with format int32 in spec.a'),
        ({"type": "integer"}, 2**40, None),
        ({"type": "integer"}, 4.0, None),
        ({"type": "integer"}, 4.5, 'Invalid value: "number": spec.a in body must be of type integer: "number"'),
        (INT32, 4.5, must_be("int32", "float64")),
        (INT32, True, must_be("int32", "")),
        (INT32, "4", must_be("integer", "string")),
        ({**STRING, "format": "date-time"}, 7, must_be("date-time", "int64")),
        ({**STRING, "format": "made-up"}, 7, must_be("string", "integer")),
        ({"type": "boolean"}, 1, 'Invalid value: "integer": spec.a in body must be of type boolean: "integer"'),
        ({"type": "number"}, 1, None),
        ({**STRING, "enum": ["A", "B"]}, "C", 'Unsupported value: "C": supported values: "A", "B"'),
        ({"type": "integer", "enum": [1]}, 1.0, None),
        ({**STRING, "pattern": "^a$"}, "a", None),
        ({**STRING, "pattern": "^a$"}, "a\n", 'Invalid value: "a\\n": spec.a in body should match \'^a$\''),
        ({**STRING, "pattern": "b"}, "abc", None),
        ({**STRING, "minLength": 1}, "", 'Invalid value: "": spec.a in body should be at least 1 chars long'),
        ({**STRING, "maxLength": 2}, "äöü", "Too long: may not be more than 2 bytes"),
        ({**STRING, "maxLength": 3}, "äöü", None),
        ({**INT32, "minimum": 0}, -1, "Invalid value: -1: spec.a in body should be greater than or equal to 0"),
        ({**INT32, "maximum": 9}, 10, "Invalid value: 10: spec.a in body should be less than or equal to 9"),
        (
            {**INT32, "minimum": 0, "exclusiveMinimum": True},
            0,
            "Invalid value: 0: spec.a in body should be greater than 0",
        ),
        ({**INT32, "minimum": 0, "exclusiveMinimum": True}, 1, None),
        ({**INT32, "multipleOf": 4}, 6, "Invalid value: 6: spec.a in body should be a multiple of 4"),
        ({**LISTED, "minItems": 2}, ["x"], "Invalid value: 1: spec.a in body should have at least 2 items"),
        ({**LISTED, "maxItems": 1}, ["x", "y"], "Too many: 2: must have at most 1 item"),
        (
            {"type": "object", "additionalProperties": STRING, "maxProperties": 1},
            {"x": "1", "y": "2"},
            "Too many: 2: must have at most 1 item",
        ),
        ({**STRING, "format": "ipv4"}, "10.0.0.256", must_be("ipv4", "10.0.0.256")),
        ({**STRING, "format": "made-up"}, "anything", None),
        ({FREE: True}, {"any": ["thing", None]}, None),
        ({**OPEN, "properties": {"b": STRING}}, {"x": 1, "b": "y"}, None),
        ({**OPEN, "properties": {"b": STRING}}, {"x": 1, "b": 2}, must_be("string", "integer", "spec.a.b")),
        (MAP, {"x.y/z": 1}, must_be("string", "integer", "spec.a.x.y/z")),
        ({**EITHER, "anyOf": [{"type": "integer"}, STRING]}, "80%", None),
        (EITHER, 1.5, must_be("integer,string", "number")),
        ({**EITHER, "pattern": "^[0-9]+$"}, "x", "Invalid value: \"x\": spec.a in body should match '^[0-9]+$'"),
        (EITHER, 2**40, 'Invalid value: "": Checked value must be of type integer with format int32 in spec.a'),
        ({**EITHER, "pattern": "^[0-9]+$"}, 2**40, None),
        ({"type": "array", "items": STRING, LIST: "set"}, ["x", "y", "x"], 'Duplicate value: "x"'),
        ({"type": "array", "items": STRING, "uniqueItems": True}, ["x", "x"], 'Duplicate value: "x"'),
        ({"type": "array", "items": STRING, LIST: "atomic"}, ["x", "x"], None),
    ],
)  # fmt: skip
def test_one_value(schema: dict[str, Any], value: Any, message: str | None) -> None:
    assert messages(schema, value) == ([message] if message else [])


def test_true_is_not_one_in_an_enumeration_or_a_set() -> None:
    values = {"type": "array", "items": {FREE: True}, LIST: "set"}
    assert messages(values, [1, True, "1", 0, False]) == []
    assert messages(values, [1, 1.0]) == ["Duplicate value: 1.0"]


def test_map_lists_compare_key_fields_and_a_missing_key_is_a_value_of_its_own() -> None:
    schema = {
        "type": "array",
        LIST: "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "properties": {"port": INT32, "protocol": STRING, "name": STRING}},
    }
    ports = [{"port": 1}, {"port": 1, "protocol": "TCP"}, {"port": 1, "name": "again"}]
    (violation,) = found(schema, ports)
    assert violation.kind == "duplicate"
    assert format_path(violation.path) == "spec.a[2]"
    assert violation.message == 'Duplicate value: {"port":1}'


def test_a_default_is_a_key_of_a_map_list_too() -> None:
    protocol = {**STRING, "default": "TCP"}
    schema = {
        "type": "array",
        LIST: "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "properties": {"port": INT32, "protocol": protocol}},
    }
    assert [one.kind for one in found(schema, [{"port": 1}, {"port": 1, "protocol": "TCP"}])] == ["duplicate"]


@pytest.mark.parametrize(
    ("junctors", "value", "kinds"),
    [
        ({"anyOf": [{"required": ["x"]}, {"required": ["y"]}]}, {"y": "1"}, []),
        ({"anyOf": [{"required": ["x"]}, {"required": ["y"]}]}, {}, ["required"]),
        ({"oneOf": [{"required": ["x"]}, {"required": ["y"]}]}, {"x": "1", "y": "1"}, ["schema"]),
        ({"oneOf": [{"required": ["x"]}, {"required": ["y"]}]}, {"x": "1"}, []),
        ({"allOf": [{"required": ["x"]}, {"properties": {"x": {"enum": ["1"]}}}]}, {"x": "2"}, ["enum"]),
        ({"not": {"required": ["x"]}}, {"x": "1"}, ["schema"]),
        ({"not": {"required": ["x"]}}, {"y": "1"}, []),
        ({"not": {"properties": {"x": {"pattern": "^a"}}, "required": ["x"]}}, {"x": "abc"}, ["schema"]),
        ({"anyOf": [{"properties": {"x": {"maxLength": 1}}}, {"required": ["y"]}]}, {"x": "long"}, ["length"]),
    ],
)
def test_combinations_of_schemas(junctors: dict[str, Any], value: Any, kinds: list[str]) -> None:
    schema = {"type": "object", "properties": {"x": STRING, "y": STRING}, **junctors}
    assert [violation.kind for violation in found(schema, value)] == kinds


def test_a_missing_alternative_lists_the_choices() -> None:
    schema = {
        "type": "object",
        "properties": {"x": STRING, "y": STRING},
        "oneOf": [{"required": ["x"]}, {"required": ["y"]}],
    }
    (violation,) = found(schema, {})
    assert violation.summary == "one of these fields is required: x, y"


def test_combinations_do_not_declare_fields() -> None:
    schema = {"type": "object", "properties": {"x": STRING}, "anyOf": [{"properties": {"z": STRING}}]}
    (violation,) = found(schema, {"z": "1"})
    assert violation.message == 'unknown field "spec.a.z"'


def test_defaults_come_before_validation_and_leave_the_input_alone() -> None:
    schema = {
        "type": "object",
        "required": ["mode"],
        "properties": {
            "mode": {**STRING, "default": "fast"},
            "inner": {"type": "object", "default": {}, "properties": {"n": {**INT32, "default": 3}}},
            "absent": {"type": "object", "properties": {"n": {**INT32, "default": 3}}},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {**INT32, "default": 1}}}},
        },
    }
    spec: dict[str, Any] = {"rows": [{}, {"n": 2}], "mode": None}
    result = run(schema, spec)
    assert result.violations == ()
    assert result.object["spec"] == {"rows": [{"n": 1}, {"n": 2}], "mode": "fast", "inner": {"n": 3}}
    assert spec == {"rows": [{}, {"n": 2}], "mode": None}


def test_an_object_that_needs_no_default_is_shared() -> None:
    spec = {"n": 1, "free": {"a": None}}
    schema = {"type": "object", "properties": {"n": {**INT32, "default": 3}, "free": {FREE: True}}}
    assert run(schema, spec).object["spec"] is spec


def test_nulls_are_dropped_unless_nullable() -> None:
    schema = {
        "type": "object",
        "required": ["must"],
        "properties": {"must": STRING, "may": {**STRING, "nullable": True}, "gone": STRING},
    }
    result = run(schema, {"must": None, "may": None, "gone": None})
    assert result.object["spec"] == {"may": None}
    assert [format_path(one.path) for one in result.violations] == ["spec.must"]


def test_a_null_item_is_a_wrong_type() -> None:
    assert [one.kind for one in found({"type": "array", "items": STRING}, ["x", None])] == ["type"]


def test_metadata_is_decoded_as_object_meta_whatever_the_crd_says() -> None:
    store = SchemaStore()
    kind = store.lookup("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert isinstance(kind, KindSchema)
    template = {"metadata": {"creationTimestamp": None}, "spec": {"containers": []}}
    obj = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "x", "label": {}, "creationTimestamp": None, "annotations": {"n": 1}},
        "spec": {"leaderWorkerTemplate": {"workerTemplate": template}},
    }
    paths = [format_path(one.path) for one in kind.check(obj).violations]
    # The template's metadata is a part of the CRD's own schema, where creationTimestamp is not declared.
    assert paths == [
        "metadata.label",
        "metadata.annotations[n]",
        "spec.leaderWorkerTemplate.workerTemplate.metadata.creationTimestamp",
    ]


def test_a_crd_may_narrow_the_name() -> None:
    narrow = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 0}}}
    result = run({"type": "object"}, {}, properties={"metadata": narrow, "spec": {"type": "object"}})
    assert [one.kind for one in result.violations] == ["length"]


def test_an_embedded_object_needs_its_identity_and_sound_metadata() -> None:
    schema = {"type": "object", "x-kubernetes-embedded-resource": True, FREE: True}
    kinds = [
        (one.kind, format_path(one.path)) for one in found(schema, {"kind": "Pod", "metadata": {"nam": "x"}, "spec": 1})
    ]
    assert kinds == [("unknown", "spec.a.metadata.nam"), ("required", "spec.a.apiVersion")]


@pytest.mark.parametrize(("value", "hint"), [("8GB", "8G"), ("8 GiB", "8Gi"), ("lots", "")])
def test_a_quantity_of_a_custom_kind_is_told_as_one(value: str, hint: str) -> None:
    kind = SchemaStore("1.36", "1.0").lookup("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
    assert isinstance(kind, KindSchema)
    container = {"name": "a", "resources": {"limits": {"memory": value}}}
    template = {"spec": {"containers": [container]}}
    spec = {"leaderWorkerTemplate": {"workerTemplate": template}}
    found = kind.check({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "spec": spec})
    (violation,) = found.violations
    assert violation.summary == f'memory is not a quantity: "{value}"'
    assert violation.suggestion == hint
    assert "should match" in violation.message
