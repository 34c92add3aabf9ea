"""LBL."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects


def _empty_pool(objects: Objects) -> None:
    objects.one("InferencePool")["spec"]["selector"]["matchLabels"]["llm-d.ai/guide"] = "elsewhere"


def _no_role(objects: Objects) -> None:
    objects.template("prefill")
    del objects.template("decode")["metadata"]["labels"]["llm-d.ai/role"]


def _version_in_selector(objects: Objects) -> None:
    deployment = objects.one("Deployment", "-decode")
    for labels in (deployment["spec"]["selector"]["matchLabels"], deployment["spec"]["template"]["metadata"]["labels"]):
        labels["app.kubernetes.io/version"] = "1.0.0"


def _no_engine_type(objects: Objects) -> None:
    labels = objects.template()["metadata"]["labels"]
    if labels.get("llm-d.ai/engine-type") in (None, "vllm"):
        raise NotHere("vLLM is what the router assumes")
    del labels["llm-d.ai/engine-type"]


MUTATIONS = [
    Mutation("LBL001", _empty_pool),
    Mutation("LBL003", _no_role),
    Mutation("LBL005", _version_in_selector),
    Mutation("LBL008", _no_engine_type),
]
