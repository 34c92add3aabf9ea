"""Facts of engines that rules and formulas need: ports, paths, and which connector speaks which sidecar protocol.

Sources: vLLM 0.30.0 (entrypoints, envs.py, config/parallel.py, distributed/kv_transfer), SGLang 0.5.20
(srt/arg_groups/fields), llm-d-router pkg/sidecar/proxy/options.go.
"""

from __future__ import annotations

from llmdctl.findings.versions import Version

HTTP_PORTS = {"vllm": 8000, "sglang": 30000, "trtllm": 8000, "sim": 8000}
"""Port that an engine listens on when none is given."""

SUPERVISOR_PORT = 9256
"""vLLM --data-parallel-supervisor-port."""

DATA_PARALLEL_RPC_PORT = 29550
"""vLLM --data-parallel-rpc-port."""

NIXL_SIDE_CHANNEL_PORT = 5600
"""VLLM_NIXL_SIDE_CHANNEL_PORT; an engine listens on this plus its global data-parallel index."""

SGLANG_BOOTSTRAP_PORT = 8998
"""SGLang --disaggregation-bootstrap-port."""

SIDECAR_PROTOCOLS = {
    "NixlConnector": "nixlv2",
    "NixlPullConnector": "nixlv2",
    "NixlPushConnector": "nixlv2",
    "MoRIIOConnector": "nixlv2",
    "TPUConnector": "nixlv2",
    "TPUConnectorHMA": "nixlv2",
    "RblnNixlConnector": "nixlv2",
    "IluNixlConnector": "nixlv2",
    "MooncakeConnector": "mooncake",
    "OffloadingConnector": "offloading",
}
"""vLLM KV connector -> the routing sidecar's --kv-connector. SGLang always takes `sglang`."""

_HYBRID_ALWAYS = frozenset(
    {
        "NixlConnector",
        "NixlPullConnector",
        "NixlPushConnector",
        "MooncakeConnector",
        "MooncakeStoreConnector",
        "OffloadingConnector",
        "SimpleCPUOffloadConnector",
        "DecodeBenchConnector",
        "ExampleHiddenStatesConnector",
    }
)
_HYBRID_SINCE_30 = frozenset({"MoRIIOConnector", "HiSparseConnector"})
_HYBRID_NEVER = frozenset(
    {
        "LMCacheConnectorV1",
        "FlexKVConnectorV1",
        "HF3FSKVConnector",
        "ExampleConnector",
    }
)


def supports_hybrid_kv_cache(connector: str, version: Version | None) -> bool | None:
    """Whether a vLLM connector works with the hybrid KV cache manager; None when that is not known.

    Unset, the manager is on exactly when the connector supports it (vllm/config/vllm.py).
    """
    if connector in _HYBRID_ALWAYS:
        return True
    if connector in _HYBRID_NEVER:
        return False
    if connector in _HYBRID_SINCE_30 and version is not None:
        return version.at_least(0, 30)
    return None
