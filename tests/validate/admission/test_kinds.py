"""Other kinds: workloads, services, config, roles, scaling, claims, and the sets of llm-d."""

from __future__ import annotations

from typing import Any

import pytest

from llmdctl.validate.admission import check_admission

Hits = list[tuple[str, str, str]]


def found(api_version: str, kind: str, body: dict[str, Any], *, namespaced: bool = True, minor: str = "1.36") -> Hits:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **body}
    return [(item.code, item.field, item.message) for item in check_admission(obj, minor=minor, namespaced=namespaced)]


def template(**labels: str) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}


def deployment(**changes: Any) -> dict[str, Any]:
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template(app="a")}
    return {"spec": {**spec, **changes}}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"replicas": -1}, "spec.replicas"),
        ({"selector": {}}, "spec.selector"),
        ({"selector": None}, "spec.selector"),
        ({"template": template(app="b")}, "spec.template.metadata.labels"),
        ({"strategy": {"type": "Sometimes"}}, "spec.strategy.type"),
        ({"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}, "spec.strategy.rollingUpdate"),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            "spec.strategy.rollingUpdate.maxUnavailable",
        ),
        ({"strategy": {"rollingUpdate": {"maxUnavailable": "110%"}}}, "spec.strategy.rollingUpdate.maxUnavailable"),
        ({"progressDeadlineSeconds": 10, "minReadySeconds": 10}, "spec.progressDeadlineSeconds"),
    ],
)
def test_deployments(changes: dict[str, Any], field: str) -> None:
    assert found("apps/v1", "Deployment", deployment()) == []
    assert ("ADM014", field) in [
        (code, where) for code, where, _ in found("apps/v1", "Deployment", deployment(**changes))
    ]


@pytest.mark.parametrize(
    ("ports", "field"),
    [
        ([], "spec.ports"),
        ([{"port": 0}], "spec.ports[0].port"),
        ([{"port": 1}, {"port": 2}], "spec.ports[0].name"),
        ([{"name": "a", "port": 1}, {"name": "a", "port": 2}], "spec.ports[1].name"),
        ([{"name": "a", "port": 1}, {"name": "b", "port": 1}], "spec.ports[1]"),
        ([{"port": 1, "targetPort": 70000}], "spec.ports[0].targetPort"),
        ([{"port": 1, "protocol": "HTTP"}], "spec.ports[0].protocol"),
    ],
)
def test_services(ports: list[dict[str, Any]], field: str) -> None:
    assert ("ADM015", field) in [(code, where) for code, where, _ in found("v1", "Service", {"spec": {"ports": ports}})]


@pytest.mark.parametrize(
    "spec",
    [
        {"ports": [{"port": 80, "targetPort": "http"}]},
        {"clusterIP": "None"},
        {"type": "ExternalName", "externalName": "a.example"},
        {"ports": [{"name": "a", "port": 53, "protocol": "UDP"}, {"name": "b", "port": 53}]},
    ],
)
def test_services_that_are_fine(spec: dict[str, Any]) -> None:
    assert found("v1", "Service", {"spec": spec}) == []


@pytest.mark.parametrize(
    ("api_version", "kind", "name", "good"),
    [
        ("v1", "ConfigMap", "a.b-c", True),
        ("v1", "ConfigMap", "A", False),
        ("v1", "Service", "8a", True),
        ("v1", "Service", "a.b", False),
        ("v1", "Namespace", "a.b", False),
        ("rbac.authorization.k8s.io/v1", "Role", "system:a", True),
        ("rbac.authorization.k8s.io/v1", "Role", "a/b", False),
        ("batch/v1", "CronJob", "a" * 53, False),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "8a", False),
    ],
)
def test_names_by_kind(api_version: str, kind: str, name: str, good: bool) -> None:
    hits = found(api_version, kind, {"metadata": {"name": name}})
    assert (not [field for _, field, _ in hits if field == "metadata.name"]) is good


def test_a_namespace_on_a_cluster_scoped_kind() -> None:
    body = {"metadata": {"name": "a", "namespace": "b"}, "rules": []}
    hits = found("rbac.authorization.k8s.io/v1", "ClusterRole", body, namespaced=False)
    assert [(code, field) for code, field, _ in hits] == [("ADM027", "metadata.namespace")]


def test_config_keys_and_sizes() -> None:
    assert found("v1", "ConfigMap", {"data": {"a.b_c-d": "x"}}) == []
    assert found("v1", "ConfigMap", {"data": {"a/b": "x"}})[0][:2] == ("ADM016", "data[a/b]")
    assert found("v1", "ConfigMap", {"data": {"a": "x" * (2**20 + 1)}})[0][0] == "ADM016"


def claims(**changes: Any) -> dict[str, Any]:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    devices = {"requests": [request], **changes}
    return {"spec": {"spec": {"devices": devices}}}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"requests": [{"name": "gpu"}]}, "spec.spec.devices.requests[0]"),
        ({"requests": [{"exactly": {"deviceClassName": "a"}}]}, "spec.spec.devices.requests[0].name"),
        ({"requests": [{"name": "a", "exactly": {}}]}, "spec.spec.devices.requests[0].exactly.deviceClassName"),
        ({"constraints": [{"matchAttribute": "pcieRoot"}]}, "spec.spec.devices.constraints[0].matchAttribute"),
        ({"constraints": [{}]}, "spec.spec.devices.constraints[0]"),
        (
            {"constraints": [{"requests": ["nic"], "matchAttribute": "a.example/b"}]},
            "spec.spec.devices.constraints[0].requests[0]",
        ),
    ],
)
def test_device_claims(changes: dict[str, Any], field: str) -> None:
    api_version, kind = "resource.k8s.io/v1", "ResourceClaimTemplate"
    assert found(api_version, kind, claims(constraints=[{"matchAttribute": "resource.kubernetes.io/pcieRoot"}])) == []
    assert ("ADM022", field) in [(code, where) for code, where, _ in found(api_version, kind, claims(**changes))]


def group(**changes: Any) -> dict[str, Any]:
    leader_worker = {"size": 4, "workerTemplate": template(app="a"), **changes.pop("leaderWorkerTemplate", {})}
    return {"replicas": 1, "leaderWorkerTemplate": leader_worker, **changes}


ROLLING = "rolloutStrategy.rollingUpdateConfiguration"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"replicas": -1}, "replicas"),
        ({"replicas": 2_000_000}, "replicas"),
        ({"leaderWorkerTemplate": {"size": 0}}, "leaderWorkerTemplate.size"),
        (
            {"leaderWorkerTemplate": {"subGroupPolicy": {"subGroupSize": 8}}},
            "leaderWorkerTemplate.subGroupPolicy.subGroupSize",
        ),
        ({"leaderWorkerTemplate": {"subGroupPolicy": {}}}, "leaderWorkerTemplate.subGroupPolicy.subGroupSize"),
        (
            {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": 0, "maxUnavailable": 0}}},
            f"{ROLLING}.maxUnavailable",
        ),
        ({"rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": "200%"}}}, f"{ROLLING}.maxSurge"),
    ],
)
def test_leader_worker_sets(changes: dict[str, Any], field: str) -> None:
    api_version, kind = "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"
    assert found(api_version, kind, {"spec": group()}) == []
    hits = found(api_version, kind, {"spec": group(**changes)})
    assert ("ADM020", f"spec.{field}") in [(code, where) for code, where, _ in hits]


def disaggregated(**changes: Any) -> dict[str, Any]:
    roles = [{"name": name, "spec": group()} for name in ("prefill", "decode")]
    return {"spec": {"roles": roles, **changes}}


def role(**changes: Any) -> list[dict[str, Any]]:
    return [{"name": "prefill", "spec": group()}, {"name": "decode", "spec": group(), **changes}]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"roles": role(name="d" * 50)}, "spec.roles[1].name"),
        ({"slices": 2, "roles": role(scaling={"mode": "External"})}, "spec.roles[1].scaling.mode"),
        ({"placementPolicy": {"type": "ExclusiveSlice"}}, "spec.placementPolicy.topology"),
        (
            {"roles": role(spec=group(rolloutStrategy={"rollingUpdateConfiguration": {"partition": 1}}))},
            f"spec.roles[1].spec.{ROLLING}.partition",
        ),
    ],
)
def test_disaggregated_sets(changes: dict[str, Any], field: str) -> None:
    api_version, kind = "disaggregatedset.x-k8s.io/v1", "DisaggregatedSet"
    assert found(api_version, kind, disaggregated()) == []
    hits = found(api_version, kind, disaggregated(**changes))
    assert ("ADM021", field) in [(code, where) for code, where, _ in hits]


def test_pods_of_a_set_fail_later_and_the_finding_says_so() -> None:
    broken = group(leaderWorkerTemplate={"workerTemplate": {"spec": {"containers": []}}})
    obj = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "a"},
        "spec": broken,
    }
    (item,) = check_admission(obj, minor="1.36", namespaced=True)
    assert item.later
    assert item.field == "spec.leaderWorkerTemplate.workerTemplate.spec.containers"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"maxReplicas": 0}, "spec.maxReplicas"),
        ({"minReplicas": 5, "maxReplicas": 4}, "spec.maxReplicas"),
        ({"maxReplicas": 4, "metrics": [{"type": "Resource"}]}, "spec.metrics[0].resource"),
    ],
)
def test_autoscalers(spec: dict[str, Any], field: str) -> None:
    target = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}
    hits = found("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**target, **spec}})
    assert ("ADM018", field) in [(code, where) for code, where, _ in hits]
