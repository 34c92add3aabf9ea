"""What the rules on prefill and decode pairs ask of both sides."""

from __future__ import annotations

from llmdctl.findings import Place
from llmdctl.view import Connector, EngineCommand, Pair
from llmdctl.view.engine import SGLANG


def transfer_place(engine: EngineCommand) -> Place:
    """Where an engine says how it moves KV blocks."""
    if engine.engine == SGLANG:
        return engine.place_of("disaggregation-transfer-backend", "disaggregation-mode")
    return engine.place_of("kv-transfer-config")


def common_peers(pair: Pair) -> list[Connector]:
    """The decode side's connectors that the prefill side has too."""
    left, right = pair.prefill_engine.kv_transfer, pair.decode_engine.kv_transfer
    if left is None or right is None:
        return []
    names = {item.name for item in left.peers}
    return [item for item in right.peers if item.name in names]


def uses_nixl(pair: Pair) -> bool:
    """True when both sides move blocks by one of vLLM's NIXL connectors."""
    engines = (pair.prefill_engine, pair.decode_engine)
    return all(engine.kv_transfer and any(item.is_nixl for item in engine.kv_transfer.peers) for engine in engines)


def is_sglang_pair(pair: Pair) -> bool:
    """True when both sides are SGLang servers and at least one is told to disaggregate."""
    return pair.engine == SGLANG and bool(pair.prefill_engine.mode or pair.decode_engine.mode)


def hybrid_cache(engine: EngineCommand) -> bool | None:
    """Whether the hybrid KV cache manager is on: as told, else exactly when every connector supports it.

    None when that is not known.
    """
    option = engine.option("disable-hybrid-kv-cache-manager")
    if option is not None:
        disabled = engine.parsed.get_bool("disable-hybrid-kv-cache-manager")
        return None if disabled is None else not disabled
    if engine.is_open or engine.kv_transfer is None:
        return None
    return engine.kv_transfer.supports_hma(engine.version)
