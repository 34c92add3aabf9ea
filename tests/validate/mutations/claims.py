"""DRA."""

from __future__ import annotations

from typing import Any

from mutate import Mutation, NotHere, Objects

from llmdctl.view.devices import ACCELERATOR_CLASSES


def _devices(objects: Objects) -> dict[str, Any]:
    """The devices of the claim template that the decode servers use first."""
    claims = objects.template()["spec"].get("resourceClaims") or []
    for claim in claims:
        for item in objects.all("ResourceClaimTemplate"):
            if item["metadata"]["name"] == claim.get("resourceClaimTemplateName"):
                found: dict[str, Any] = item["spec"]["spec"]["devices"]
                return found
    raise NotHere("no claims")


def _class(objects: Objects) -> str:
    for request in _devices(objects)["requests"]:
        name = (request.get("exactly") or {}).get("deviceClassName")
        if name in ACCELERATOR_CLASSES:
            return str(name)
    raise NotHere("no accelerator by claim")


def _no_template(objects: Objects) -> None:
    for item in objects.all("ResourceClaimTemplate"):
        item["metadata"]["name"] += "-other"
    _ = objects.one("ResourceClaimTemplate")


def _no_request(objects: Objects) -> None:
    _devices(objects)
    objects.engine()["resources"]["claims"][0]["request"] = "ghost"


def _unused(objects: Objects) -> None:
    _devices(objects)
    spec = objects.template()["spec"]
    spec["resourceClaims"].append({**spec["resourceClaims"][0], "name": "spare"})


def _twice(objects: Objects) -> None:
    resource = ACCELERATOR_CLASSES[_class(objects)]
    resources = objects.engine()["resources"]
    for part in ("limits", "requests"):
        resources.setdefault(part, {})[resource] = "1"


def _wrong_attribute(objects: Objects) -> None:
    _class(objects)
    for constraint in _devices(objects).get("constraints") or []:
        constraint["matchAttribute"] = "dra.net/numaNode"
        return
    raise NotHere("no constraint")


def _unpaired(objects: Objects) -> None:
    _class(objects)
    if not _devices(objects).pop("constraints", None):
        raise NotHere("no constraint")


def _wrong_class(objects: Objects) -> None:
    name = _class(objects)
    for request in _devices(objects)["requests"]:
        if request["exactly"]["deviceClassName"] == name:
            request["exactly"]["deviceClassName"] = name.removesuffix("m")


def _shared(objects: Objects) -> None:
    name = _class(objects)
    if not objects.all("Deployment", "-decode") and not objects.all("DisaggregatedSet"):
        raise NotHere("one pod a node")
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "shared", "namespace": objects.one("ServiceAccount")["metadata"]["namespace"]},
        "spec": {"devices": {"requests": [{"name": "device", "exactly": {"deviceClassName": name}}]}},
    }
    objects.items.append(claim)
    for item in objects.template()["spec"]["resourceClaims"]:
        del item["resourceClaimTemplateName"]
        item["resourceClaimName"] = "shared"
    for item in objects.all("Deployment", "-decode"):
        item["spec"]["replicas"] = 2
    for item in objects.all("DisaggregatedSet"):
        for role in item["spec"]["roles"]:
            role["spec"]["replicas"] = 2


def _not_tolerated(objects: Objects) -> None:
    if _class(objects) != "gpu.nvidia.com":
        raise NotHere("no GPU of NVIDIA")
    spec = objects.template()["spec"]
    if not spec.pop("tolerations", None):
        raise NotHere("no toleration")
    spec["nodeSelector"] = {"cloud.google.com/gke-accelerator": "nvidia-h200-141gb"}


MUTATIONS = [
    Mutation("DRA001", _no_template),
    Mutation("DRA002", _no_request),
    Mutation("DRA002", _unused),
    Mutation("DRA003", _twice),
    Mutation("DRA004", _wrong_attribute),
    Mutation("DRA005", _unpaired),
    Mutation("DRA006", _wrong_class),
    Mutation("DRA007", _shared),
    Mutation("DRA008", _not_tolerated),
]
