"""PRT."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects, container, set_flag


def _pool(objects: Objects) -> dict:  # type: ignore[type-arg]
    return objects.one("InferencePool")["spec"]


def _dead_target(objects: Objects) -> None:
    _pool(objects)["targetPorts"][0]["number"] = 8999


def _past_the_sidecar(objects: Objects) -> None:
    container(objects.template(), "routing-proxy")
    ports = _pool(objects)["targetPorts"]
    for index, port in enumerate(ports):
        port["number"] = 8200 + index


def _twice(objects: Objects) -> None:
    ports = _pool(objects)["targetPorts"]
    ports.append(dict(ports[0]))


def _wrong_forward(objects: Objects) -> None:
    set_flag(container(objects.template(), "routing-proxy"), "--model-server-port", "8765")


def _wrong_probe(objects: Objects) -> None:
    objects.engine()["livenessProbe"] = {"httpGet": {"path": "/health", "port": 1234}}


def _collision(objects: Objects) -> None:
    for item in objects.engine().get("env", []):
        if item["name"] == "VLLM_NIXL_SIDE_CHANNEL_PORT":
            item["value"] = "8000"
            return
    raise NotHere("no side channel")


def _unknown_probe_port(objects: Objects) -> None:
    objects.engine()["readinessProbe"] = {"httpGet": {"path": "/health", "port": "http-model"}}


MUTATIONS = [
    Mutation("PRT001", _dead_target),
    Mutation("PRT001", _past_the_sidecar),
    Mutation("PRT002", _twice),
    Mutation("PRT004", _wrong_forward),
    Mutation("PRT004", _wrong_probe),
    Mutation("PRT005", _collision),
    Mutation("PRT008", _unknown_probe_port),
]
