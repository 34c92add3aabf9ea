"""ENG and IMG."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects, flag_value, set_flag


def _engine(objects: Objects, name: str) -> dict:  # type: ignore[type-arg]
    labels = objects.template()["metadata"]["labels"]
    if labels.get("llm-d.ai/engine-type") != name:
        raise NotHere(f"no {name}")
    return objects.engine()


def _unknown_flag(objects: Objects) -> None:
    set_flag(objects.engine(), "--tensor-paralel-size", "2")


def _no_number(objects: Objects) -> None:
    set_flag(_engine(objects, "vllm"), "--max-model-len", "many")


def _no_choice(objects: Objects) -> None:
    set_flag(_engine(objects, "sglang"), "--kv-cache-dtype", "fp9")


def _no_json(objects: Objects) -> None:
    set_flag(_engine(objects, "vllm"), "--kv-events-config", "{enable")


def _unknown_field(objects: Objects) -> None:
    config = flag_value(objects.engine(), "--kv-transfer-config")
    set_flag(objects.engine(), "--kv-transfer-config", config.replace('"kv_role"', '"kv_rolle"'))


def _stated_version(objects: Objects) -> None:
    annotations = objects.template()["metadata"].get("annotations") or {}
    if "llmdctl.io/component-version" not in annotations:
        raise NotHere("no version is stated")
    engine = annotations["llmdctl.io/component-version"].partition("@")[0]
    annotations["llmdctl.io/component-version"] = f"{engine}@0.9.1"


MUTATIONS = [
    Mutation("ENG001", _unknown_flag),
    Mutation("ENG002", _no_number),
    Mutation("ENG002", _no_choice),
    Mutation("ENG003", _no_json),
    Mutation("ENG004", _unknown_field),
    Mutation("IMG001", _stated_version, also=("KVT022",)),
]
