"""The published schema and the loader are two readings of one type: they must agree on every stack."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Literal, get_args, get_origin

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmdctl.findings import Path, UserError
from llmdctl.manifest.emit import emit_yaml
from llmdctl.manifest.typed import key_of
from llmdctl.spec.load import load_stack
from llmdctl.spec.paths import Target, field_targets, without_none
from llmdctl.spec.schema import STACK_SCHEMA_ID, stack_schema

SCHEMA = stack_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

POD: dict[str, Any] = {
    "nodeSelector": {"a": "b"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "high",
    "runtimeClassName": "nvidia",
    "imagePullSecrets": [{"name": "registry"}],
    "labels": {"a": "b"},
    "annotations": {"a": "b"},
    "serviceAccount": "sa",
}

FULL: dict[str, Any] = {
    "apiVersion": "llmdctl.io/v1alpha1",
    "kind": "InferenceStack",
    "metadata": {"name": "full", "namespace": "llm-d", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {
        "guide": "pd-disaggregation",
        "preset": "8p2d",
        "release": "1.0",
        "kubeVersion": "1.36",
        "model": {
            "id": "openai/gpt-oss-120b",
            "revision": "main",
            "servedName": "gpt",
            "source": "huggingface",
            "maxLength": 4096,
            "tokenSecret": {"name": "token", "key": "HF_TOKEN"},
            "cache": {"emptyDir": {"sizeLimit": "1Gi"}, "pvc": {"claimName": "x"}, "hostPath": {"path": "/x"}},
        },
        "engine": "vllm",
        "accelerator": "nvidia-h200",
        "provider": "gke",
        "workload": "deployment",
        "devices": {"mode": "dra"},
        "kvTransfer": {"connector": "nixl", "backends": ["UCX"]},
        "roles": {
            role: {
                "replicas": 2,
                "parallelism": {
                    "tensor": 1,
                    "pipeline": 1,
                    "data": 1,
                    "dataLocal": 1,
                    "expert": False,
                    "loadBalancing": "hybrid",
                },
                "resources": {"requests": {"cpu": 1, "memory": "1Gi", "x": None}, "limits": {"cpu": 1.5}},
                "engineArgs": {"max-num-seqs": 256, "x": None, "y": [1]},
                "env": [{"name": "A", "value": "b"}, {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                "pod": POD,
            }
            for role in ("prefill", "decode", "encode")
        },
        "pod": POD,
        "images": {"registry": "mirror.example", "overrides": {"envoy": {"repository": "r", "tag": "v1"}}},
        "router": {
            "mode": "gateway",
            "replicas": 2,
            "failureMode": "FailClose",
            "proxy": {"concurrency": 4, "resources": {"requests": {"cpu": 1}, "limits": {"cpu": 1}}},
            "gateway": {"className": "c", "name": "g"},
            "config": {"plugins": []},
            "resources": {"requests": {"cpu": 1}, "limits": {"cpu": 1}},
        },
        "monitoring": {"enabled": True},
        "networkPolicy": {"enabled": False},
        "queue": {"kueue": {"localQueue": "q"}},
        "patches": [{"kind": "Service", "name": "x", "merge": {"spec": None}}],
    },
}


def loads(data: Any) -> bool:
    try:
        load_stack("x.yaml", emit_yaml(data).encode())
    except UserError:
        return False
    return True


def put(data: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    node: Any = changed
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return changed


TARGETS = [target for target in field_targets() if target.path[2:3] not in (("prefill",), ("encode",))]
"""All fields; the three roles are of one type, so that one stands for them."""


def test_is_a_schema_of_2020_12_with_our_identifier() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == STACK_SCHEMA_ID == "https://llmdctl.io/schemas/inferencestack-v1alpha1.json"
    assert SCHEMA["$schema"].endswith("2020-12/schema")


def test_every_field_is_described() -> None:
    for name, definition in SCHEMA["$defs"].items():
        for key, field in definition.get("properties", {}).items():
            assert field.get("description"), f"{name}.{key}"


def test_a_stack_with_every_field_is_accepted_by_both() -> None:
    VALIDATOR.validate(FULL)
    assert loads(FULL)
    for target in TARGETS:
        node: Any = FULL
        for step in target.path:
            node = node[step] if step in node else pytest.fail(f"{target.path} is not in the example")


def test_their_own_examples_are_accepted() -> None:
    minimal = {"apiVersion": "llmdctl.io/v1alpha1", "kind": "InferenceStack", "spec": {"guide": "g"}}
    for target in TARGETS:
        for example in target.metadata.get("examples", ()):
            path = target.path
            data = copy.deepcopy(minimal)
            node: Any = data
            for step in path[:-1]:
                node = node.setdefault(step, {})
            node[path[-1]] = example
            VALIDATOR.validate(data)
            assert loads(data), path


WRONG: list[Any] = [None, True, 0, -1, 1.5, 10**6, "", "x", "UPPER", "a b", "1.36", [], [1], ["a"], [{}], {}, {"a": 1},
                    {"a": "b"}, {"name": "x"}, {"unknown": None}]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: ".".join(map(str, target.path)))
def test_loader_and_schema_agree_on_each_field(target: Target) -> None:
    choices = get_args(without_none(target.kind)) if get_origin(without_none(target.kind)) is Literal else ()
    verdicts = set()
    for value in [*WRONG, *choices]:
        data = put(FULL, target.path, value)
        accepted = VALIDATOR.is_valid(data)
        assert loads(data) is accepted, (target.path, value)
        verdicts.add(accepted)
    # None of the fields takes everything, and none refuses everything that was tried, but for patterns of their own.
    assert False in verdicts


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: ".".join(map(str, target.path)))
def test_loader_and_schema_agree_on_unknown_and_missing_keys(target: Target) -> None:
    kind = without_none(target.kind)
    if not dataclasses.is_dataclass(kind):
        return
    assert not loads(put(FULL, (*target.path, "surely-unknown"), 1))
    assert not VALIDATOR.is_valid(put(FULL, (*target.path, "surely-unknown"), 1))
    for field in dataclasses.fields(kind):
        data = copy.deepcopy(FULL)
        node: Any = data
        for step in target.path:
            node = node[step]
        node.pop(key_of(field), None)
        assert loads(data) is VALIDATOR.is_valid(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "x/y", "1Gi", "yes"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["name", "value", "key", "path", "requests", "cpu", "merge", "kind"]), inner, max_size=3
        )
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(TARGETS), JSON), min_size=1, max_size=3))
def test_loader_and_schema_agree_on_random_changes(changes: list[tuple[Target, Any]]) -> None:
    data = FULL
    for target, value in changes:
        try:
            data = put(data, target.path, value)
        except (TypeError, KeyError, IndexError):
            continue  # an earlier change removed the part that holds this field
    assert loads(data) is VALIDATOR.is_valid(data)
