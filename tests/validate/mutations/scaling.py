"""SCL. No stack of ours has an autoscaler: each mutation brings one."""

from __future__ import annotations

from typing import Any

from mutate import Mutation, NotHere, Objects


def _scaler(objects: Objects, kind: str, name: str, version: str, metric: dict[str, Any] | None = None) -> None:
    external = {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "1"}}
    used = sum(item["kind"] == "HorizontalPodAutoscaler" for item in objects.items)
    objects.items.append(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": f"scaler-{used}", "namespace": objects.one("ServiceAccount")["metadata"]["namespace"]},
            "spec": {
                "scaleTargetRef": {"apiVersion": version, "kind": kind, "name": name},
                "maxReplicas": 4,
                "metrics": [metric or {"type": "External", "external": external}],
            },
        }
    )


def _no_scale(objects: Objects) -> None:
    item = objects.one("DisaggregatedSet")
    _scaler(objects, "DisaggregatedSet", item["metadata"]["name"], item["apiVersion"])


def _not_external(objects: Objects) -> None:
    item = objects.one("DisaggregatedSet")
    _scaler(objects, "DisaggregatedSetRoleScaler", f"{item['metadata']['name']}-decode", item["apiVersion"])


def _misnamed(objects: Objects) -> None:
    _scaler(objects, "Deployment", "decoder", "apps/v1")


def _rivals(objects: Objects) -> None:
    target = objects.one("Deployment", "-decode")
    target["spec"].pop("replicas", None)
    for _ in range(2):
        _scaler(objects, "Deployment", target["metadata"]["name"], "apps/v1")


def _no_request(objects: Objects) -> None:
    target = objects.one("Deployment", "-decode")
    target["spec"].pop("replicas", None)
    for item in target["spec"]["template"]["spec"]["containers"]:
        for part in ("requests", "limits"):
            ((item.get("resources") or {}).get(part) or {}).pop("cpu", None)
    utilization = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    metric = {"type": "Resource", "resource": utilization}
    _scaler(objects, "Deployment", target["metadata"]["name"], "apps/v1", metric)


def _nobody_scales(objects: Objects) -> None:
    role = objects.one("DisaggregatedSet")["spec"]["roles"][1]
    role["scaling"] = {"mode": "External"}
    role["spec"].pop("replicas", None)


def _stated(objects: Objects) -> None:
    target = objects.one("Deployment", "-decode")
    if "replicas" not in target["spec"]:
        raise NotHere("no replicas stated")
    _scaler(objects, "Deployment", target["metadata"]["name"], "apps/v1")


MUTATIONS = [
    Mutation("SCL001", _no_scale),
    Mutation("SCL001", _not_external),
    Mutation("SCL001", _misnamed),
    Mutation("SCL002", _rivals),
    Mutation("SCL003", _nobody_scales),
    Mutation("SCL004", _no_request),
    Mutation("SCL005", _stated),
]
