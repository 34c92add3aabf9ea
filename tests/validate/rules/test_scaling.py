"""SCL: autoscalers and their targets; PAR: groups of pods that must be alike."""

from __future__ import annotations

from typing import Any

import pytest
from stacks import container, deployment, outcomes, titles

from llmdctl.findings import Hit, Severity, Unresolved
from llmdctl.validate.rules.grouping import PAR011
from llmdctl.validate.rules.scaling import SCL001, SCL002, SCL003, SCL004, SCL005

APPS, DS = "apps/v1", "disaggregatedset.x-k8s.io/v1"


def hpa(kind: str, name: str, version: str = APPS, own: str = "h", metrics: Any = ()) -> dict[str, Any]:
    """A HorizontalPodAutoscaler."""
    target = {"apiVersion": version, "kind": kind, "name": name}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "metrics": list(metrics)}
    meta = {"name": own, "namespace": "llm-d"}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec}


def scaled(name: str, triggers: Any = ()) -> dict[str, Any]:
    """KEDA's ScaledObject of a Deployment."""
    spec = {"scaleTargetRef": {"name": name}, "triggers": list(triggers)}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "s", "namespace": "llm-d"},
        "spec": spec,
    }


def roles(mode: str) -> dict[str, Any]:
    """A DisaggregatedSet whose decode role is scaled in that mode."""
    return {
        "apiVersion": DS,
        "kind": "DisaggregatedSet",
        "metadata": {"name": "pd", "namespace": "llm-d"},
        "spec": {"roles": [{"name": "prefill"}, {"name": "decode", "scaling": {"mode": mode}}]},
    }


SERVER = deployment("decode", container(["m"]))


def test_targets() -> None:
    assert not outcomes(SCL001, hpa("Deployment", "decode"), SERVER)
    assert not outcomes(SCL001, scaled("decode"), SERVER)
    (away,) = outcomes(SCL001, hpa("Deployment", "decode"))
    assert isinstance(away, Unresolved)
    (slip,) = outcomes(SCL001, hpa("Deployment", "decoder"), SERVER)
    assert isinstance(slip, Hit) and slip.severity is Severity.WARNING and slip.fix == "use 'decode'"
    (closed,) = outcomes(SCL001, hpa("Deployment", "decoder"), SERVER, complete=True)
    assert isinstance(closed, Hit) and closed.severity is Severity.ERROR
    assert titles(SCL001, hpa("DaemonSet", "x")) == ["the target is a DaemonSet, which has no scale"]
    assert not outcomes(SCL001, hpa("Rollout", "x", "argoproj.io/v1alpha1"), complete=True)


def test_roles_of_a_set() -> None:
    assert titles(SCL001, hpa("DisaggregatedSet", "pd", DS), roles("External"))
    assert not outcomes(SCL001, hpa("DisaggregatedSetRoleScaler", "pd-decode", DS), roles("External"))
    assert titles(SCL001, hpa("DisaggregatedSetRoleScaler", "pd-decode", DS), roles("Static"))
    assert titles(SCL001, hpa("DisaggregatedSetRoleScaler", "pd-decoder", DS), roles("External"))


def test_a_role_that_nobody_scales() -> None:
    scaler = hpa("DisaggregatedSetRoleScaler", "pd-decode", DS)
    assert not outcomes(SCL003, roles("External"), scaler, complete=True)
    assert titles(SCL003, roles("External"), complete=True)
    (away,) = outcomes(SCL003, roles("External"))
    assert isinstance(away, Unresolved)
    assert not outcomes(SCL003, roles("Static"), complete=True)


def test_rivals_of_one_namespace() -> None:
    assert titles(SCL002, hpa("Deployment", "decode"), scaled("decode")) == [
        "HorizontalPodAutoscaler/h scales Deployment/decode too"
    ]
    other = hpa("Deployment", "decode")
    other["metadata"]["namespace"] = "elsewhere"
    assert not outcomes(SCL002, other, scaled("decode"))
    # Overlays of one set: files that define the same object are alternatives.
    one, two = hpa("Deployment", "decode"), hpa("Deployment", "decode", own="k")
    clash = [{**SERVER, "metadata": {**SERVER["metadata"], "labels": {"v": str(i)}}} for i in range(2)]
    assert not outcomes(SCL002, one, clash[0], two, clash[1], files=["a", "a", "b", "b"])


def test_shares_of_requests() -> None:
    utilization = {"type": "Utilization", "averageUtilization": 80}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": utilization}}
    asking = deployment("decode", container(["m"], resources={"limits": {"cpu": 4}}))
    assert titles(SCL004, hpa("Deployment", "decode", metrics=[metric]), SERVER)
    assert not outcomes(SCL004, hpa("Deployment", "decode", metrics=[metric]), asking)
    assert titles(SCL004, scaled("decode", [{"type": "memory", "metadata": {"value": "80"}}]), asking)
    absolute = {"type": "cpu", "metricType": "AverageValue", "metadata": {"value": "4"}}
    assert not outcomes(SCL004, scaled("decode", [absolute]), SERVER)


def test_owned_replicas() -> None:
    stated = {**SERVER, "spec": {**SERVER["spec"], "replicas": 2}}
    assert titles(SCL005, hpa("Deployment", "decode"), stated) == [
        "Deployment/decode states 2 replicas, which HorizontalPodAutoscaler/h sets"
    ]
    assert not outcomes(SCL005, hpa("Deployment", "decode"), SERVER)


@pytest.mark.parametrize("target", [None, 3, "x", [], {}, {"kind": 3, "name": []}, {"kind": "Deployment"}])
def test_odd_targets(target: Any) -> None:
    odd = hpa("Deployment", "decode")
    odd["spec"]["scaleTargetRef"] = target
    for rule in (SCL001, SCL002, SCL004, SCL005):
        assert not titles(rule, odd, SERVER)


def test_leaders_and_workers_alike() -> None:
    def part(*flags: str) -> dict[str, Any]:
        return {"spec": {"containers": [container(["m", *flags])]}}

    def group(leader: list[str], worker: list[str]) -> dict[str, Any]:
        inner = {"size": 2, "leaderTemplate": part(*leader), "workerTemplate": part(*worker)}
        return {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "g"},
            "spec": {"leaderWorkerTemplate": inner},
        }

    assert not outcomes(PAR011, group(["-tp=2"], ["--tensor-parallel-size=2", "--headless"]))
    assert titles(PAR011, group(["-tp=2"], ["--headless"])) == [
        "the workers run with no --tensor-parallel-size, their leader with --tensor-parallel-size=2"
    ]
