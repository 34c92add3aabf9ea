"""KVT."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects, container, flag_value, set_flag

CONFIG = "--kv-transfer-config"


def _replace(objects: Objects, role: str, old: str, new: str) -> None:
    objects.template("prefill")
    engine = objects.engine(role)
    config = flag_value(engine, CONFIG)
    if old not in config:
        raise NotHere(f"no {old}")
    set_flag(engine, CONFIG, config.replace(old, new))


def _other_connector(objects: Objects) -> None:
    _replace(objects, "prefill", "NixlConnector", "P2pNcclConnector")


def _wrong_way(objects: Objects) -> None:
    _replace(objects, "decode", "kv_consumer", "kv_producer")


def _other_protocol(objects: Objects) -> None:
    set_flag(container(objects.template(), "routing-proxy"), "--kv-connector", "shared-storage")


def _sizes(objects: Objects) -> None:
    if objects.all("DisaggregatedSet", "wide-ep"):
        raise NotHere("latent attention is the same on every rank")
    if "google.com/tpu" in objects.engine("prefill")["resources"].get("limits", {}):
        raise NotHere("only NIXL's pairs of sizes are known")
    flag_value(objects.engine("decode"), "--tensor-parallel-size")
    set_flag(objects.engine("prefill"), "--tensor-parallel-size", "3")


def _blocks(objects: Objects) -> None:
    flag_value(objects.engine("decode"), "--block-size")
    set_flag(objects.engine("prefill"), "--block-size", "48")


def _handshake(objects: Objects) -> None:
    if "NixlConnector" not in flag_value(objects.engine("prefill"), CONFIG):
        raise NotHere("only NIXL compares hashes")
    set_flag(objects.engine("prefill"), "--kv-cache-dtype", "fp8")


MUTATIONS = [
    Mutation("KVT001", _other_connector),
    Mutation("KVT002", _wrong_way),
    Mutation("KVT003", _other_protocol),
    Mutation("KVT004", _sizes, also=("PAR001",)),
    Mutation("KVT007", _blocks),
    Mutation("KVT022", _handshake),
]
