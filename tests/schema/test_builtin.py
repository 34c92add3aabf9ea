"""Built-in kinds: what Go's decoder refuses, and what it lets pass."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from llmdctl.findings import MapKey, format_path
from llmdctl.schema import KindSchema, SchemaStore, Violation

DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "decode", "labels": {"llm-d.ai/role": "decode"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"llm-d.ai/role": "decode"}},
        "strategy": {"rollingUpdate": {"maxSurge": "25%"}},
        "template": {
            "metadata": {"labels": {"llm-d.ai/role": "decode"}},
            "spec": {
                "containers": [
                    {
                        "name": "engine",
                        "args": ["--port", "8000"],
                        "resources": {"limits": {"nvidia.com/gpu": 8, "memory": "1.5Gi"}},
                        "securityContext": {"runAsUser": 3_000_000_000},
                    }
                ]
            },
        },
    },
}
CONTAINER = ("spec", "template", "spec", "containers", 0)


def check(obj: dict[str, Any], minor: str = "1.36") -> list[Violation]:
    schema = SchemaStore(minor).lookup(obj["apiVersion"], obj["kind"])
    assert isinstance(schema, KindSchema)
    return list(schema.check(obj).violations)


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    obj = copy.deepcopy(DEPLOYMENT)
    target: Any = obj
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return obj


def test_a_sound_object_has_no_violation() -> None:
    assert check(DEPLOYMENT) == []


def test_an_unknown_field_is_worded_as_the_server_does_and_gets_a_suggestion() -> None:
    (found,) = check(changed(("spec", "replica"), 2))
    assert (found.kind, found.message) == ("unknown", 'unknown field "spec.replica"')
    assert found.suggestion == "replicas"
    assert found.summary == 'unknown field "replica"; did you mean "replicas"?'


def test_field_names_are_case_sensitive() -> None:
    (found,) = check(changed((*CONTAINER, "imagepullpolicy"), "Always"))
    assert found.suggestion == "imagePullPolicy"


def test_a_wrong_type_is_worded_as_the_server_does() -> None:
    (found,) = check(changed(("spec", "replicas"), "2"))
    assert found.message == 'Invalid value: "string": spec.replicas in body must be of type integer: "string"'
    assert found.summary == 'replicas must be an integer, not a string ("2")'
    assert found.suggestion == "2"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "replicas"), 3_000_000_000),
        (("spec", "replicas"), 1.5),
        (("spec", "replicas"), True),
        (("spec", "paused"), "true"),
        (("spec", "template"), []),
        ((*CONTAINER, "args"), "--port"),
        ((*CONTAINER, "args"), ["--port", 8000]),
        ((*CONTAINER, "securityContext", "runAsUser"), 2**63),
        (("spec", "strategy", "rollingUpdate", "maxSurge"), 1.5),
        (("spec", "strategy", "rollingUpdate", "maxSurge"), 3_000_000_000),
        (("metadata", "labels"), ["a"]),
    ],
)
def test_values_that_the_decoder_cannot_read_are_wrong_types(path: tuple[str | int, ...], value: Any) -> None:
    (found,) = check(changed(path, value))
    assert found.kind == "type"
    assert found.path[: len(path)] == path


def test_keys_of_free_maps_are_marked_and_written_in_brackets() -> None:
    (found,) = check(changed(("metadata", "labels", "llm-d.ai/role"), 7))
    assert isinstance(found.path[-1], MapKey)
    assert format_path(found.path) == "metadata.labels[llm-d.ai/role]"
    assert found.suggestion == '"7"'


@pytest.mark.parametrize("value", [1, 2.0, "3", "50%"])
def test_integers_and_text_pass_for_int_or_string(value: Any) -> None:
    assert check(changed(("spec", "strategy", "rollingUpdate", "maxSurge"), value)) == []


@pytest.mark.parametrize("value", ["8GB", "", "16gi", "1 core", "0x10", "Gi", "1e3.5", "5\n"])
def test_text_that_is_no_quantity_is_refused(value: str) -> None:
    (found,) = check(changed((*CONTAINER, "resources", "limits", "memory"), value))
    assert found.kind == "format"
    assert "quantities must match" in found.message


@pytest.mark.parametrize("value", [8, 0.5, "100m", "1e3", "-1", "+.5", "5.", "12E", "1Ei", None])
def test_quantities_are_numbers_or_text_with_a_suffix(value: Any) -> None:
    assert check(changed((*CONTAINER, "resources", "limits", "memory"), value)) == []


def test_a_quantity_in_bytes_gets_a_suggestion() -> None:
    suggestions = [
        check(changed((*CONTAINER, "resources", "limits", "memory"), text))[0].suggestion
        for text in ("8GB", "8GiB", "16gi")
    ]
    assert suggestions == ["8G", "8Gi", "16Gi"]


@pytest.mark.parametrize(
    "path",
    [
        ("spec", "replicas"),
        ("spec", "strategy"),
        ("metadata", "labels", "llm-d.ai/role"),
        ("metadata", "creationTimestamp"),
        (*CONTAINER, "args"),
        (*CONTAINER, "args", 0),
        ("spec", "template", "spec", "volumes"),
    ],
)
def test_null_is_as_good_as_absent(path: tuple[str | int, ...]) -> None:
    assert check(changed(path, None)) == []


@pytest.mark.parametrize("path", [("spec", "selector"), ("spec", "template"), (*CONTAINER, "name")])
def test_null_does_not_satisfy_a_requirement(path: tuple[str | int, ...]) -> None:
    (found,) = check(changed(path, None))
    assert (found.kind, found.message, found.path) == ("required", "Required value", path)


def test_duplicate_map_keys_are_the_business_of_go_validation() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    assert check(changed((*CONTAINER, "env"), env)) == []


def test_status_may_lack_what_it_requires_but_must_decode() -> None:
    obj = {**DEPLOYMENT, "apiVersion": "apps/v1", "kind": "StatefulSet", "status": {"conditions": [{"type": 7}]}}
    del obj["spec"]
    obj["spec"] = {"selector": {}, "template": {"spec": {"containers": [{"name": "c"}]}}}
    (found,) = check(obj)
    assert (found.kind, format_path(found.path)) == ("type", "status.conditions[0].type")


@pytest.mark.parametrize(("value", "good"), [("aGVsbG8=", True), ("hello", False), ("aGVs\nbG8=", True)])
def test_bytes_are_base64(value: str, good: bool) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"token": value}}
    assert (check(secret) == []) is good


@pytest.mark.parametrize(
    ("value", "good"),
    [("2026-12-01T06:00:00Z", True), ("2026-12-01T06:00:00.25+01:00", True), ("2026-12-01", False), ("", False)],
)
def test_times_are_rfc_3339(value: str, good: bool) -> None:
    assert (check(changed(("metadata", "creationTimestamp"), value)) == []) is good


@pytest.mark.parametrize("minor", ["1.34", "1.36", "1.37"])
def test_requirements_that_no_server_enforces_are_not_reported(minor: str) -> None:
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "b"},
        "roleRef": {"kind": "Role", "name": "r"},
    }
    assert check(template, minor) == []
    assert check(binding, minor) == []


def test_a_crd_may_hold_any_depth_of_schema() -> None:
    schema: dict[str, Any] = {"type": "string", "default": {"free": ["form"]}}
    for _ in range(20):
        schema = {"type": "object", "properties": {"a": schema}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    assert check(definition) == []
    schema["propertees"] = {}
    (found,) = check(definition)
    assert found.suggestion == "properties"
