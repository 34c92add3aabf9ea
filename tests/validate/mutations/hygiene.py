"""IMG, SEC, MON, GWY and RES."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects, set_env


def _deprecated(objects: Objects) -> None:
    engine = objects.engine()
    engine["image"] = "ghcr.io/llm-d/llm-d-cuda:v0.8.0"
    for item in objects.items:
        (item["metadata"].get("annotations") or {}).pop("llmdctl.io/release", None)


def _placeholder(objects: Objects) -> None:
    objects.engine()["image"] = "REPLACE_MODEL_SERVER_IMAGE"


def _moving(objects: Objects) -> None:
    objects.picker()["image"] = objects.picker()["image"].rpartition(":")[0] + ":main"


def _secret(objects: Objects) -> None:
    set_env(objects.engine(), "HF_TOKEN", "not-a-real-token-at-all")


def _repeated(objects: Objects) -> None:
    env = objects.one("Deployment", "-decode")["spec"]["template"]["spec"]["containers"][0].setdefault("env", [])
    env += [{"name": "MODE", "value": "fast"}, {"name": "MODE", "value": "slow"}]


def _monitor(objects: Objects) -> None:
    objects.one("PodMonitor")["spec"]["selector"]["matchLabels"]["app.kubernetes.io/instance"] = "nobody"


def _route(objects: Objects) -> None:
    for rule in objects.one("HTTPRoute")["spec"]["rules"]:
        rule["backendRefs"][0]["name"] = "nobody"


def _header(objects: Objects) -> None:
    data = objects.one("ConfigMap", "-envoy")["data"]
    for key, text in data.items():
        changed = text.replace("x-gateway-destination-endpoint", "x-gateway-destination")
        if changed == text:
            raise NotHere("no header")
        data[key] = changed


NOT_OURS = {"GWY012": "the Gateway of a stack is somebody else's, so that no stack of ours holds one"}
UNKNOWN = ("ENG001", "ENG002", "ENG003", "ENG004", "KVT022")
MUTATIONS = [
    Mutation("IMG002", _deprecated),
    Mutation("IMG003", _placeholder, also=UNKNOWN),
    Mutation("IMG004", _moving),
    Mutation("SEC001", _secret),
    Mutation("RES022", _repeated),
    Mutation("MON001", _monitor),
    Mutation("GWY011", _route),
    Mutation("GWY013", _header),
]
