"""Malformed objects: whatever a manifest holds, the view and every rule over it must answer, never raise."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from stacks import container, decode, deployment, documents, pool, prefill, sglang, sidecar

from llmdctl.validate.rules import VIEW_RULES
from llmdctl.view import View

_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=True),
    st.text(max_size=8),
    st.sampled_from(
        ["$(X)", "--port=", "-", "--", '{"kv_connector":', "[[[[", "vllm", "99999999999999999999", "=", "\0"]
    ),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def _claim_template() -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu.nvidia.com", "count": 1}
    requests = [{"name": "gpu", "exactly": exactly}, {"name": "nic", "firstAvailable": [{"name": "a", **exactly}]}]
    devices = {"requests": requests, "constraints": [{"requests": ["gpu"], "matchAttribute": "dra.net/x"}]}
    meta = {"name": "claims", "namespace": "llm-d"}
    spec = {"spec": {"devices": devices}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec}


def _claimant() -> dict[str, Any]:
    resources = {"limits": {"nvidia.com/gpu": "2"}, "claims": [{"name": "a", "request": "gpu"}]}
    flags = ["m", "--tensor-parallel-size=4", "--data-parallel-size=4", "--data-parallel-size-local=2", "--nnodes=2"]
    claims = [{"name": "a", "resourceClaimTemplateName": "claims"}, {"name": "b", "resourceClaimName": "x"}]
    pod = {"resourceClaims": claims, "nodeSelector": {"cloud.google.com/x": "y"}, "tolerations": [{"key": "k"}]}
    return deployment("claimant", container(flags, resources=resources), pod=pod)


def whole() -> list[dict[str, Any]]:
    """A bit of everything that the view reads."""
    template = {"metadata": {"labels": {"llm-d.ai/role": "prefill", "llm-d.ai/guide": "demo"}}, "spec": {}}
    template["spec"] = {"containers": [container(["m", "--port=8000"])], "initContainers": [sidecar("--port=8000")]}
    group = {"size": 2, "leaderTemplate": copy.deepcopy(template), "workerTemplate": copy.deepcopy(template)}
    meta = {"namespace": "llm-d"}
    probe = {"httpGet": {"port": "web"}}
    shell = container(
        [], command=["bash", "-c", "exec vllm serve m --port $PORT"], env=[{"name": "PORT", "value": "1"}]
    )
    return [
        pool(),
        _claim_template(),
        _claimant(),
        prefill(),
        decode("--block-size=64"),
        sglang("s", "prefill", mode="prefill"),
        deployment("shell", {**shell, "readinessProbe": probe, "ports": [{"name": "web", "containerPort": 1}]}),
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {**meta, "name": "lws"},
            "spec": {"leaderWorkerTemplate": copy.deepcopy(group)},
        },
        {
            "apiVersion": "disaggregatedset.x-k8s.io/v1",
            "kind": "DisaggregatedSet",
            "metadata": {**meta, "name": "ds"},
            "spec": {"slices": 2, "roles": [{"name": "prefill", "spec": {"leaderWorkerTemplate": group}}]},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {**meta, "name": "svc"},
            "spec": {"selector": {"llm-d.ai/guide": "demo"}, "ports": [{"port": 80, "targetPort": "web"}]},
        },
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PodMonitor",
            "metadata": {**meta, "name": "mon"},
            "spec": {"selector": {"matchLabels": {"llm-d.ai/guide": "demo"}}, "podMetricsEndpoints": [{"port": "web"}]},
        },
    ]


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a plain value."""
    found = [path] if path else []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, child in children for place in paths(child, (*path, key))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> None:
    """Puts a value at a place."""
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_no_malformed_object_breaks_a_rule(data: st.DataObject) -> None:
    objects = whole()
    for _ in range(data.draw(st.integers(1, 3))):
        replaced(objects, data.draw(st.sampled_from(paths(objects))), data.draw(_JUNK))
    view = View(documents(*[item for item in objects if isinstance(item, dict)]), complete=data.draw(st.booleans()))
    for rule in VIEW_RULES:
        assert rule.check is not None
        for outcome in rule.check(view):
            assert isinstance(outcome.at.pointer if outcome.at else "", str)


def test_the_untouched_whole_is_seen() -> None:
    view = View(documents(*whole()))
    assert len(view.workloads) == 7
    assert len(view.templates) == 9
    assert [template.engine is not None for template in view.templates] == [True] * 9
