"""Differential test: on custom kinds the walker agrees with the API server's own code, down to the words.

Objects that guides deploy get one to three mistakes. Faults, their fields and messages, and the object with its
defaults must be those of k8s.io/apiextensions-apiserver. Where we differ on purpose, `our_faults` and `their_faults`
say why.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmdctl.findings import format_path
from llmdctl.schema import KindSchema, SchemaStore, Violation

TEMPLATE = {
    "metadata": {"labels": {"llm-d.ai/role": "decode"}},
    "spec": {
        "containers": [
            {
                "name": "engine",
                "image": "registry.example/engine:v1",
                "args": ["--port", "8000"],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "ports": [{"containerPort": 8000, "protocol": "TCP"}, {"containerPort": 5600}],
                "resources": {"limits": {"nvidia.com/gpu": 8, "memory": "1Gi"}},
                "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 5},
                "volumeMounts": [{"name": "shm", "mountPath": "/cache"}],
            }
        ],
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
    },
}
GROUPS = {
    "replicas": 2,
    "leaderWorkerTemplate": {"size": 2, "restartPolicy": "None", "workerTemplate": TEMPLATE},
    "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": "50%", "partition": 0}},
}
SPECS: dict[tuple[str, str], dict[str, Any]] = {
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): {**GROUPS, "startupPolicy": "LeaderReady"},
    ("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet"): {
        "slices": 2,
        "placementPolicy": {"type": "ExclusiveSlice", "topology": "example.com/rack"},
        "roles": [{"name": name, "spec": GROUPS, "scaling": {"mode": "Static"}} for name in ("prefill", "decode")],
    },
    ("inference.networking.k8s.io/v1", "InferencePool"): {
        "selector": {"matchLabels": {"app.kubernetes.io/instance": "stack"}},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {"name": "stack-epp", "port": {"number": 9002}, "failureMode": "FailOpen"},
    },
    ("llm-d.ai/v1alpha2", "InferenceModelRewrite"): {
        "poolRef": {"name": "stack"},
        "rules": [
            {
                "matches": [{"model": {"type": "Exact", "value": "a"}}],
                "targets": [{"modelRewrite": "b", "weight": 3}],
            }
        ],
    },
    ("gateway.networking.k8s.io/v1", "Gateway"): {
        "gatewayClassName": "istio",
        "listeners": [
            {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}},
            {"name": "https", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "cert"}]}},
        ],
        "addresses": [{"type": "IPAddress", "value": "10.0.0.1"}],
    },
    ("gateway.networking.k8s.io/v1", "HTTPRoute"): {
        "parentRefs": [{"name": "gateway", "sectionName": "http"}],
        "hostnames": ["models.example.com"],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/v1"}, "headers": [{"name": "x", "value": "y"}]}],
                "backendRefs": [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "stack"}],
                "timeouts": {"request": "10s"},
            }
        ],
    },
    ("monitoring.coreos.com/v1", "PodMonitor"): {
        "selector": {"matchExpressions": [{"key": "llm-d.ai/role", "operator": "Exists"}]},
        "podMetricsEndpoints": [
            {"port": "http", "interval": "30s", "scheme": "http", "relabelings": [{"action": "drop", "regex": "a"}]}
        ],
    },
    ("keda.sh/v1alpha1", "ScaledObject"): {
        "scaleTargetRef": {"name": "stack-decode"},
        "minReplicaCount": 1,
        "triggers": [{"type": "prometheus", "metadata": {"threshold": "5"}}],
        "advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 0}}}},
    },
    ("resource.nvidia.com/v1beta1", "ComputeDomain"): {
        "numNodes": 0,
        "channel": {"resourceClaimTemplate": {"name": "channel"}, "allocationMode": "All"},
    },
}  # fmt: skip
STORE = SchemaStore()
VALUES = st.one_of(
    st.sampled_from([None, True, False, 0, 1, -1, 1.5, 2.0, 70_000, 2**31, 2**40, "", "x", "No Such!", "10s", "8GB"]),
    st.sampled_from(["a" * 300, "é" * 64, "/v1", "A-b", "1" * 20]),
    st.sampled_from([[], {}, [1], ["x"], [[]], [{}], [{"name": "a"}, {"name": "a"}], {"x": 1}, {"name": 5}]),
    st.builds(lambda size: ["x"] * size, st.integers(2, 70)),
    st.builds(lambda size: {f"k{number}": "x" for number in range(size)}, st.integers(2, 70)),
)
NEW_FIELDS = (
    "name",
    "port",
    "weight",
    "filters",
    "hostname",
    "extra",
    "tls",
    "size",
    "matchLabels",
    "kind",
    "namespace",
)

Faults = set[tuple[str, str]]


class Served(Protocol):
    """The answer of the API server's code."""

    @property
    def unknown(self) -> Iterable[str]: ...

    @property
    def faults(self) -> Iterable[tuple[str, str]]: ...

    @property
    def object(self) -> Any: ...


class Server(Protocol):
    """The API server's code."""

    def check(self, key: str, schema: Any, obj: Any) -> Served: ...


def kind_of(obj: dict[str, Any]) -> KindSchema:
    schema = STORE.lookup(obj["apiVersion"], obj["kind"])
    assert isinstance(schema, KindSchema)
    return schema


def sound(identity: tuple[str, str]) -> dict[str, Any]:
    api_version, kind = identity
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "a"},
        # Not a deep copy, in which the two roles would still share their template.
        "spec": json.loads(json.dumps(SPECS[identity])),
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@st.composite
def mistaken(draw: st.DrawFn) -> dict[str, Any]:
    """An object with one to three mistakes below spec."""
    obj = sound(draw(st.sampled_from(sorted(SPECS))))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(obj["spec"]))
        if not found:
            break
        path = draw(st.sampled_from(found))
        parent: Any = obj["spec"]
        for step in path[:-1]:
            parent = parent[step]
        action = draw(st.sampled_from(["replace", "replace", "delete", "other"]))
        value = copy.deepcopy(draw(VALUES))
        if action == "replace":
            parent[path[-1]] = value
        elif action == "delete":
            del parent[path[-1]]
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[path[-1]]))
        elif draw(st.booleans()):
            parent[f"{path[-1]}x"] = parent.pop(path[-1])
        else:
            parent[draw(st.sampled_from(NEW_FIELDS))] = value
    return obj


def takes_text_too(schema: Any, path: Iterable[str | int]) -> bool:
    for step in path:
        if isinstance(step, int):
            schema = schema["items"]
        else:
            schema = schema.get("properties", {}).get(step) or schema["additionalProperties"]
    return bool(schema.get("x-kubernetes-int-or-string"))


def our_faults(kind: KindSchema, violations: Iterable[Violation]) -> Faults:
    found = set()
    for violation in violations:
        place = format_path(violation.path)
        if "Checked value" in violation.message and takes_text_too(kind.structural, violation.path):
            continue  # The schema lets an int-or-string be larger; the webhook's or controller's decoder does not.
        found.add((place, "unknown" if violation.kind == "unknown" else bare(place, violation.message)))
    return found


def their_faults(served: Served, ours: Faults) -> Faults:
    # The server looks for unknown fields before it knows that their parent has the wrong type; we say the latter only.
    wrong = {place for place, message in ours if "of type" in message}
    found = {(place, "unknown") for place in served.unknown if not any(is_below(place, other) for other in wrong)}
    for place, message in served.faults:
        range_fault = re.search(r"Checked value must be of type integer .* in (\S+)$", message)
        if range_fault and range_fault[1] in wrong - out_of_range(ours):
            continue  # A fraction: of the wrong type for both, and out of range for the server only.
        if range_fault:
            found.add((range_fault[1], bare(range_fault[1], message)))
        elif place == "<nil>":
            continue  # A combination of schemas: see `combined`.
        elif "must be an object for an array of list-type map" in message:
            continue  # The same item has the wrong type.
        else:
            found.add((place, bare(place, message)))
    return {(place, message) for place, message in found if not is_alternative(place, message, ours)}


def combined(served: Served) -> list[str]:
    """The places whose combination of schemas is not kept. The parts of an int-or-string don't count."""
    texts = [message for place, message in served.faults if place == "<nil>"]
    found = (re.search(r'^Invalid value: "": "(.+)" must (?:not )?validate', text) for text in texts)
    either = {place for place, message in served.faults if "of type integer,string" in message}
    return [place[1] for place in found if place and place[1] not in either]


def elsewhere(faults: Faults, place: str) -> Faults:
    return {(other, message) for other, message in faults if not at_or_below(other, place)}


def at_or_below(place: str, other: str) -> bool:
    return place == other or is_below(place, other)


def without_vague_duplicates(faults: Faults, ours: Faults) -> Faults:
    """Without duplicates in lists with an item or a key of the wrong type, which the server takes for an empty one."""
    found = (re.fullmatch(r"(.+)\[\d+\](?:\.\w+)?", place) for place, message in ours if "of type" in message)
    lists = {place[1] for place in found if place}
    return {
        (place, message)
        for place, message in faults
        if not (message.startswith("Duplicate") and place.rpartition("[")[0] in lists)
    }


def is_below(place: str, other: str) -> bool:
    return place.startswith((f"{other}.", f"{other}["))


def out_of_range(faults: Faults) -> set[str]:
    return {place for place, message in faults if "Checked value" in message}


def is_alternative(place: str, message: str, ours: Faults) -> bool:
    """One of the alternatives of an int-or-string that has neither type: the server names each of them as well."""
    either = message.replace("of type integer:", "of type integer,string:")
    return either != message and (place, either) in ours


def bare(place: str, message: str) -> str:
    """A message without the offending value, which we shorten and Go writes in its own way."""
    message = re.sub(r"^Invalid value: .*?: (?=\S* in body should)", "", message, flags=re.DOTALL)
    message = re.sub(r"^Unsupported value: .*: supported", "Unsupported value: supported", message, flags=re.DOTALL)
    message = re.sub(r"^Duplicate value: .*", "Duplicate value", message, flags=re.DOTALL)
    return re.sub(r"1e\+06", "1000000", message).replace(place, "HERE") if place else message


@settings(max_examples=600)
@given(mistaken())
def test_the_walker_agrees_with_the_api_server(custom_resource_server: Server, obj: dict[str, Any]) -> None:
    kind = kind_of(obj)
    served = custom_resource_server.check(f"{kind.api_version}/{kind.kind}", kind.structural, obj)
    before = copy.deepcopy(obj)
    result = kind.check(obj)
    assert obj == before
    ours = our_faults(kind, result.violations)
    theirs = their_faults(served, ours)
    for place in combined(served):
        # Which of several alternatives was meant is a guess, and ours is not the server's.
        assert any(at_or_below(format_path(violation.path), place) for violation in result.violations)
        ours, theirs = elsewhere(ours, place), elsewhere(theirs, place)
    assert without_vague_duplicates(ours, ours) == without_vague_duplicates(theirs, ours)
    if not served.unknown and not served.faults:
        assert result.object == served.object


@pytest.mark.parametrize("identity", sorted(SPECS))
def test_a_sound_object_is_sound_for_both_and_gets_the_same_defaults(
    custom_resource_server: Server, identity: tuple[str, str]
) -> None:
    obj = sound(identity)
    kind = kind_of(obj)
    served = custom_resource_server.check(f"{kind.api_version}/{kind.kind}", kind.structural, obj)
    assert (set(served.unknown), set(served.faults)) == (set(), set())
    result = kind.check(obj)
    assert result.violations == ()
    assert result.object == served.object


def test_the_server_sees_what_is_wrong(custom_resource_server: Server) -> None:
    obj = sound(("inference.networking.k8s.io/v1", "InferencePool"))
    obj["spec"] |= {"targetPort": 1, "targetPorts": [{"number": 0}, {"number": "x"}], "appProtocol": "h2"}
    kind = kind_of(obj)
    served = custom_resource_server.check(f"{kind.api_version}/{kind.kind}", kind.structural, obj)
    assert set(served.unknown) == {"spec.targetPort"}
    assert {place for place, _ in served.faults} == {
        "spec.targetPorts[0].number",
        "spec.targetPorts[1].number",
        "spec.appProtocol",
    }
