"""ENG and IMG."""

from __future__ import annotations

import re

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


def _add(objects: Objects, name: str, flag: str, value: str) -> None:
    set_flag(_engine(objects, name), flag, value)


def _no_requests(objects: Objects) -> None:
    set_flag(_engine(objects, "vllm"), "--enable-log-outputs")


def _two_modes(objects: Objects) -> None:
    set_flag(_engine(objects, "vllm"), "--data-parallel-rank", "0")
    set_flag(_engine(objects, "vllm"), "--data-parallel-hybrid-lb")


def _many_sequences(objects: Objects) -> None:
    _add(objects, "vllm", "--max-num-batched-tokens", "64")
    _add(objects, "vllm", "--max-num-seqs", "128")


def _role_of_none(objects: Objects) -> None:
    config = flag_value(objects.engine(), "--kv-transfer-config")
    set_flag(objects.engine(), "--kv-transfer-config", re.sub(r'"kv_(both|producer|consumer)"', '"kv_all"', config))


def _offloading(objects: Objects) -> None:
    flag_value(objects.engine(), "--kv-transfer-config")
    _add(objects, "vllm", "--kv-offloading-size", "8")


MUTATIONS = [
    Mutation("ENG010", _no_requests),
    Mutation("ENG011", _two_modes),
    Mutation("ENG012", _many_sequences),
    Mutation("ENG013", _role_of_none, also=("KVT002",)),
    Mutation("ENG014", _offloading),
    Mutation("ENG001", _unknown_flag),
    Mutation("ENG002", _no_number),
    Mutation("ENG002", _no_choice),
    Mutation("ENG003", _no_json),
    Mutation("ENG004", _unknown_field, also=("ENG013",)),
    Mutation("IMG001", _stated_version, also=("KVT022",)),
]
