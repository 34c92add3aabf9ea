"""How an engine moves KV blocks to its peers: vLLM's --kv-transfer-config, SGLang's --disaggregation-* flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from llmdctl.engines.defaults import supports_hybrid_kv_cache
from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version

MULTI = "MultiConnector"

# NixlConnector is the pull connector under its first name (vLLM kv_connector/factory.py).
_ALIASES = {"NixlPullConnector": "NixlConnector"}

NIXL = frozenset({"NixlConnector", "NixlPushConnector"})

# Connectors that move blocks from a prefill to a decode server; the others keep blocks in memory, files or a store.
PEER_CONNECTORS = NIXL | {
    "MooncakeConnector",
    "MoRIIOConnector",
    "TPUConnector",
    "TPUConnectorHMA",
    "RblnNixlConnector",
    "IluNixlConnector",
    "P2pNcclConnector",
}

# Connectors that only keep blocks, and move none to another server.
STORES = frozenset(
    {
        "OffloadingConnector",
        "SimpleCPUOffloadConnector",
        "MooncakeStoreConnector",
        "LMCacheConnectorV1",
        "LMCacheMPConnector",
        "SharedStorageConnector",
        "ExampleConnector",
        "TPUOffloadConnector",
        "FlexKVConnectorV1",
        "HF3FSKVConnector",
        "UMBPStoreConnector",
        "DecodeBenchConnector",
        "HiSparseConnector",
        "ExampleHiddenStatesConnector",
    }
)


@frozen
class Connector:
    """One connector of a configuration; of MultiConnector, one of its children."""

    name: str
    role: str
    module: str
    place: Place
    extra: Mapping[str, Any] = field(default_factory=dict)
    buffer_device: str = ""

    @property
    def is_peer(self) -> bool | None:
        """True when it moves blocks between servers, False when it only stores them, None for an unknown class."""
        if self.name in PEER_CONNECTORS or (self.name == "OffloadingConnector" and _has_peer_tier(self.extra)):
            return True
        return False if self.name in STORES else None

    @property
    def is_nixl(self) -> bool:
        """True for vLLM's own NIXL connectors, whose handshake checks a compatibility hash."""
        return self.name in NIXL


@frozen
class KvTransfer:
    """An engine's whole KV transfer configuration. `multi` tells that the connectors are children of one."""

    connectors: tuple[Connector, ...]
    place: Place
    multi: bool = False

    @property
    def peers(self) -> list[Connector]:
        """The connectors that move blocks between servers."""
        return [connector for connector in self.connectors if connector.is_peer]

    @property
    def unknown(self) -> list[Connector]:
        """The connectors whose class we don't know."""
        return [connector for connector in self.connectors if connector.is_peer is None]

    def supports_hma(self, version: Version | None) -> bool | None:
        """Whether every connector supports the hybrid KV cache manager; None when unknown."""
        answers = [supports_hybrid_kv_cache(connector.name, version) for connector in self.connectors]
        if any(answer is False for answer in answers):
            return False
        return None if any(answer is None for answer in answers) else True


def _has_peer_tier(extra: Mapping[str, Any]) -> bool:
    tiers = extra.get("secondary_tiers")
    return isinstance(tiers, list) and any(isinstance(tier, Mapping) and tier.get("type") == "p2p" for tier in tiers)


def read_kv_transfer(config: Any, place: Place) -> KvTransfer | None:
    """A KvTransfer from the JSON of --kv-transfer-config; None when it names no connector."""
    if not isinstance(config, Mapping):
        return None
    connectors = tuple(_connectors(config, place))
    return KvTransfer(connectors, place, config.get("kv_connector") == MULTI) if connectors else None


def _connectors(config: Mapping[str, Any], place: Place) -> Iterator[Connector]:
    name = _text(config.get("kv_connector"))
    extra = config.get("kv_connector_extra_config")
    extra = extra if isinstance(extra, Mapping) else {}
    if name == MULTI:
        children = extra.get("connectors")
        for child in children if isinstance(children, list) else []:
            # vLLM looks one level deep only; a nested MultiConnector child is read as it is.
            if isinstance(child, Mapping) and _text(child.get("kv_connector")) not in ("", MULTI):
                yield from _connectors(child, place)
        return
    if name:
        yield Connector(
            _ALIASES.get(name, name),
            _text(config.get("kv_role")),
            _text(config.get("kv_connector_module_path")),
            place,
            extra,
            _text(config.get("kv_buffer_device")),
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
