"""The router's plugins: what each one is, its stability, its parameters, and the data that it makes and needs.

Source: llm-d-router cmd/epp/runner/runner.go (registrations) and the factories of v0.9.0, v0.10.0 and what became v1.0.
What came or went with a version is in lifetimes.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from llmdctl.findings.frozen import frozen

PROFILE_FACETS = frozenset({"filter", "scorer", "picker"})
"""What has an effect inside a scheduling profile."""

TOKENS, PREFIX, LOAD, UNCACHED = "TokenizedPrompt", "PrefixCacheMatchInfo", "InFlightLoad", "UncachedRequestTokens"
LATENCY, ENCODER, CORE = "LatencyPredictionInfo", "EncoderCacheMatchInfo", "core metrics"

DEFAULT_PRODUCERS: Mapping[str, str] = {
    TOKENS: "token-producer",
    PREFIX: "approx-prefix-cache-producer",
    LOAD: "inflight-load-producer",
    LATENCY: "predicted-latency-producer",
    ENCODER: "mm-embeddings-cache-producer",
}
"""Data that the router makes by itself when a plugin needs it and nobody makes it: key -> plugin type."""


@frozen
class Parameter:
    """What a parameter takes. `kind`: int, number, str, bool, list, map, any, duration, nanoseconds.

    `least` and `most` bound numbers; `above` excludes the lower bound itself.
    """

    kind: str
    least: float | None = None
    most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    old: str = ""


@frozen
class PluginType:
    """A registered type. `parameters` is None where they aren't known to us, and empty where there are none.

    `ignores` tells that parameters are taken and have no effect.
    """

    name: str
    facets: frozenset[str]
    alpha: bool = False
    parameters: Mapping[str, Parameter] | None = None
    ignores: bool = False
    needs: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    deprecated: str = ""


def _int(least: float | None = None, most: float | None = None, **more: Any) -> Parameter:
    return Parameter("int", least, most, **more)


def _number(least: float | None = None, most: float | None = None, **more: Any) -> Parameter:
    return Parameter("number", least, most, **more)


def _word(*choices: str, **more: Any) -> Parameter:
    return Parameter("str", choices=choices, **more)


_TEXT, _BOOL, _LIST, _MAP, _ANY, _SPAN = (Parameter(kind) for kind in ("str", "bool", "list", "map", "any", "duration"))
_PREFIX_NAME = {"prefixMatchInfoProducerName": _TEXT}
_LOAD_NAME = {"inFlightLoadProducerName": _TEXT}
_LATENCY_NAME = {"latencyPredictionInfoProducerName": _TEXT}
_TLS = {
    "insecureSkipVerify": _BOOL, "caCertPath": _TEXT, "clientCertPath": _TEXT, "clientKeyPath": _TEXT,
    "interval": _SPAN,
}  # fmt: skip
_SESSION = {
    "strategy": _word("encoded_endpoint_header", "session_id"), "encodedEndpointHeaderConfig": _MAP,
    "sessionIdConfig": _MAP, "evictionTtlSeconds": _number(above=0), "evictionSweepSeconds": _number(above=0),
    "profileName": _TEXT,
}  # fmt: skip
_PICKER = {"maxNumOfEndpoints": _int()}
_ATTRIBUTE = {
    "attribute": _word(required=True), "producer": _TEXT, "onMissing": _word("Pass", "Fail"), "fallbackOnEmpty": _BOOL,
    "algorithm": _MAP,
}  # fmt: skip


def _all() -> list[PluginType]:
    found: list[PluginType] = []

    def add(name: str, facets: str, parameters: Mapping[str, Parameter] | None = None, **more: Any) -> None:
        found.append(PluginType(name, frozenset(facets.split()), parameters=parameters, **more))

    def plain(names: str, facets: str, **more: Any) -> None:
        for name in names.split():
            add(name, facets, {}, ignores=True, **more)

    plain("single-profile-handler", "handler")
    add("data-parallel-profile-handler", "handler", {"primaryPort": _int(0, 65535)})
    add(
        "disagg-profile-handler", "handler prerequest",
        {
            "stageOrder": _TEXT, "profiles": _MAP, "deciders": _MAP, "decodeProfile": _TEXT, "prefillProfile": _TEXT,
            "encodeProfile": _TEXT, "prefillDeciderPluginName": _TEXT, "encodeDeciderPluginName": _TEXT,
            "deciderPluginName": _TEXT,
        },
        needs=(TOKENS, PREFIX),
    )  # fmt: skip
    add("header-profile-handler", "handler", {"headerName": _TEXT, "defaultProfile": _TEXT}, alpha=True)
    add("pd-profile-handler", "handler", needs=(TOKENS, PREFIX), deprecated="use disagg-profile-handler")
    plain("always-disagg-pd-decider always-disagg-multimodal-decider", "decider")
    add("prefix-based-pd-decider", "decider", {"nonCachedTokens": _int(0), "promptTokens": _int(0), **_PREFIX_NAME})
    for name in ("disagg-headers-handler", "prefill-header-handler"):
        fix = "remove it: disagg-profile-handler writes the headers"
        add(name, "prerequest", {"prefillProfile": _TEXT, "encodeProfile": _TEXT}, deprecated=fix)
    _filters(add, plain)
    _scorers(add, plain)
    for name in ("max-score-picker", "random-picker", "weighted-random-picker"):
        add(name, "picker", _PICKER)
    _producers(add)
    _control(add, plain)
    _data(add, plain)
    plain(
        "openai-parser anthropic-parser vllmhttp-parser sglanghttp-parser vllmgrpc-parser vertexai-parser "
        "passthrough-parser",
        "parser",
    )
    return found


def _filters(add: Any, plain: Any) -> None:
    add("label-selector-filter", "filter", {"matchLabels": _MAP, "matchExpressions": _LIST})
    add("by-label-selector", "filter", deprecated="use label-selector-filter")
    add("by-label", "filter", deprecated="use label-selector-filter")
    plain("decode-filter prefill-filter encode-filter", "filter")
    add("session-affinity-filter", "filter", _SESSION, alpha=True)
    add("multicluster-session-affinity-filter", "filter", alpha=True)
    add(
        "prefix-cache-affinity-filter", "filter",
        {
            "affinityThreshold": _number(most=1), "explorationProbability": _number(0, 1),
            "maxTTFTPenaltyMs": _number(0),
            "ttftSource": _word("prefillThroughput", "latencyPredictor"), "peakPrefillThroughput": _number(0),
            **_PREFIX_NAME, **_LATENCY_NAME, **_LOAD_NAME,
        },
        needs=(PREFIX,),
    )  # fmt: skip
    add("slo-headroom-tier-filter", "filter", {"epsilonExploreNeg": _number(0, 1), **_LATENCY_NAME}, needs=(LATENCY,))
    add("context-length-aware", "filter scorer", {"label": _TEXT, "enableFiltering": _BOOL}, needs=(TOKENS,))
    add("utilization-filter", "filter", {"conditions": _LIST, "fallbackOnEmpty": _BOOL, **_LOAD_NAME}, alpha=True)
    add(
        "topology-affinity-filter", "filter",
        {"minAffinity": _word("host", "rack", "zone", "region"), "topologyProducerName": _TEXT}, alpha=True,
    )  # fmt: skip
    add("endpoint-attribute-filter", "filter", _ATTRIBUTE, alpha=True)
    add("header-based-testing-filter", "filter")


def _scorers(add: Any, plain: Any) -> None:
    plain(
        "queue-scorer kv-cache-utilization-scorer running-requests-size-scorer lora-affinity-scorer", "scorer",
        needs=(CORE,),
    )  # fmt: skip
    add("kv-cache-scorer", "scorer", needs=(CORE,), deprecated="use kv-cache-utilization-scorer")
    add("load-aware-scorer", "scorer", {"threshold": _int()})
    add(
        "prefix-cache-scorer", "scorer",
        {"matchLengthWeight": _number(0, 1), "matchLengthScaleTokens": _number(above=0), **_PREFIX_NAME},
        needs=(PREFIX,),
    )  # fmt: skip
    add(
        "precise-prefix-cache-scorer", "scorer", needs=(TOKENS,),
        deprecated="use precise-prefix-cache-producer with prefix-cache-scorer",
    )  # fmt: skip
    add(
        "no-hit-lru-scorer", "scorer",
        {"lruSize": _int(), "prefixPluginType": _TEXT, "prefixPluginName": _TEXT, **_PREFIX_NAME}, needs=(PREFIX,),
    )  # fmt: skip
    add(
        "active-request-scorer", "scorer",
        {"idleThreshold": _int(), "maxBusyScore": _number(), "requestTimeout": _ANY, **_LOAD_NAME}, needs=(LOAD,),
    )  # fmt: skip
    add("token-load-scorer", "scorer", {"queueThresholdTokens": _int(), **_LOAD_NAME}, needs=(LOAD, UNCACHED))
    add("mm-embeddings-cache-scorer", "scorer", {"producerName": _TEXT}, needs=(ENCODER,))
    add(
        "latency-scorer", "scorer",
        {
            "ttftWeight": _number(), "tpotWeight": _number(), "headroomSelectionStrategy": _TEXT,
            "compositeKVWeight": _number(), "compositeQueueWeight": _number(), "compositePrefixWeight": _number(),
            **_PREFIX_NAME, **_LATENCY_NAME,
        },
        needs=(LATENCY, PREFIX),
    )  # fmt: skip
    add("session-affinity-scorer", "scorer", _SESSION, alpha=True)
    add(
        "header-label-affinity-scorer",
        "scorer",
        {"headerName": _word(required=True), "labelKey": _word(required=True)},
        alpha=True,
    )
    add(
        "endpoint-attribute-scorer", "scorer",
        {"attributeKey": _word(required=True), "producer": _TEXT, "algorithm": _MAP}, alpha=True,
    )  # fmt: skip
    add("topology-affinity-scorer", "scorer", {"topologyProducerName": _TEXT}, alpha=True)
    for name in (
        "multicluster-queue-scorer",
        "multicluster-kv-cache-utilization-scorer",
        "multicluster-prefix-cache-scorer",
    ):
        add(name, "scorer", alpha=True)
    add("endpoint-attribute-weight-scorer", "scorer", alpha=True)
    add("latency-observation-scorer", "scorer", alpha=True)


def _producers(add: Any) -> None:
    add(
        "approx-prefix-cache-producer", "producer",
        {
            "autoTune": _BOOL, "blockSizeTokens": _int(), "blockSize": _int(old="blockSizeTokens"),
            "maxPrefixBlocksToMatch": _int(old="maxPrefixTokensToMatch"), "maxPrefixTokensToMatch": _int(0),
            "lruCapacityPerServer": _int(),
        },
        needs=(TOKENS,), makes=(PREFIX,),
    )  # fmt: skip
    add(
        "precise-prefix-cache-producer", "producer extractor",
        {
            "tokenProcessorConfig": _MAP, "indexerConfig": _MAP, "kvEventsConfig": _MAP, "speculativeIndexing": _BOOL,
            "speculativeTTL": _SPAN,
        },
        needs=(TOKENS,), makes=(PREFIX,),
    )  # fmt: skip
    add(
        "token-producer", "producer",
        {"modelName": _TEXT, "vllm": _MAP, "estimate": _MAP, "udsTokenizerConfig": _MAP}, makes=(TOKENS,),
    )  # fmt: skip
    add("tokenizer", "producer", makes=(TOKENS,), deprecated="use token-producer")
    add(
        "inflight-load-producer", "producer",
        {
            "addEstimatedOutputTokens": _BOOL, "outputRatio": _number(0), "maxEstimatedOutputTokens": _int(0),
            "syncCrossReplicaState": _BOOL, **_PREFIX_NAME,
        },
        needs=(TOKENS,), makes=(LOAD, UNCACHED),
    )  # fmt: skip
    add(
        "predicted-latency-producer", "producer",
        {
            "sloBufferFactor": _number(above=0), "contextTTL": Parameter("nanoseconds"), "streamingMode": _BOOL,
            "endpointRoleLabel": _TEXT, "predictInProduce": _BOOL, "useEncoderCacheFeatures": _BOOL,
            "encoderCacheMatchInfoProducerName": _TEXT, "samplingMean": _ANY,
            "maxDecodeTokenSamplesForPrediction": _ANY, **_PREFIX_NAME, **_LOAD_NAME,
        },
        needs=(TOKENS, PREFIX, LOAD), makes=(LATENCY,),
    )  # fmt: skip
    add(
        "mm-embeddings-cache-producer",
        "producer extractor",
        {"cacheSizeInMBPerServer": _int(), "cacheSizeInMB": _int()},
        needs=(TOKENS,),
        makes=(ENCODER,),
    )
    add("session-id-producer", "producer", {"headerName": _TEXT, "cookieName": _TEXT}, makes=("SessionID",))
    add(
        "burst-prefix-cache-producer", "producer",
        {
            "windowDurationMs": _int(above=0), "maxPerReplica": _int(-1), "blockSizeTokens": _int(above=0),
            "maxPrefixTokensToMatch": _int(0), "minColocateBlocks": _int(), "maxBatchSize": _int(-1),
            "balanceBy": _word("requests", "tokens"),
        },
        alpha=True, needs=(TOKENS,), makes=(PREFIX,),
    )  # fmt: skip
    add(
        "p2p-source-producer", "producer prerequest",
        {"minCachedTokenDelta": _int(1), "prefillProfileName": _TEXT, **_PREFIX_NAME}, alpha=True, needs=(PREFIX,),
    )  # fmt: skip
    for name in (
        "multicluster-approx-prefix-cache-producer", "session-state-producer", "latency-observer-producer",
        "label-producer",
    ):  # fmt: skip
        add(name, "producer", alpha=True)


def _control(add: Any, plain: Any) -> None:
    add("latency-slo-admitter", "admission", _LATENCY_NAME, needs=(LATENCY,))
    add(
        "probabilistic-admitter", "admission",
        {name: _number(above=0) for name in ("queueDepthThreshold", "kvCacheUtilThreshold", "power", "k")},
    )  # fmt: skip
    add("disaggregatedset-rollout-screener", "screener", alpha=True)
    add("request-attribute-reporter", "response", {"attributes": Parameter("list", required=True)})
    add("agent-identity", "request", {"additionalSessionHeaders": _LIST}, alpha=True)
    add("destination-endpoint-served-verifier", "response")
    plain("global-strict-fairness-policy round-robin-fairness-policy", "fairness")
    add("program-aware-fairness", "fairness")
    plain("fcfs-ordering-policy edf-ordering-policy slo-deadline-ordering-policy", "ordering")
    add("program-score-ordering-policy", "ordering")
    add("static-usage-limit-policy", "usage", {"threshold": _number()})
    add(
        "priority-holdback-policy", "usage",
        {
            "minCeiling": _number(0, 1, required=True), "maxCeiling": _number(0, 1), "shape": _word("linear"),
            "domain": _word("rank", "value"),
        },
        alpha=True,
    )  # fmt: skip
    add("soft-reflective-ceiling-policy", "usage", {}, alpha=True)
    plain("sheddable-eviction-filter priority-then-time-eviction-order-policy", "eviction", alpha=True)
    add(
        "utilization-detector", "detector filter",
        {
            "queueDepthThreshold": _number(above=0), "kvCacheUtilThreshold": _number(most=1, above=0),
            "metricsStalenessThreshold": _SPAN, "headroom": _number(0),
        },
    )  # fmt: skip
    add(
        "concurrency-detector", "detector filter",
        {
            "maxConcurrency": _int(above=0), "maxTokenConcurrency": _int(above=0), "headroom": _number(0),
            "concurrencyMode": _word("requests", "tokens", "hybrid"), **_LOAD_NAME,
        },
        needs=(LOAD,),
    )  # fmt: skip
    add("max-saturation-detector", "detector", {"detectors": Parameter("list", required=True), "stages": _MAP})


def _data(add: Any, plain: Any) -> None:
    add(
        "metrics-data-source", "source",
        {"scheme": _word("http", "https"), "path": _TEXT, "port": _int(1, 65535), **_TLS},
    )  # fmt: skip
    add(
        "core-metrics-extractor", "extractor",
        {"engineLabelKey": _TEXT, "defaultEngine": _TEXT, "engineConfigs": _LIST}, makes=(CORE,),
    )  # fmt: skip
    add(
        "models-data-source",
        "source",
        {"scheme": _word("http", "https"), "path": _TEXT, "port": _int(1, 65535), **_TLS},
    )
    plain("models-data-extractor", "extractor")
    add("dcgm-data-source", "source", alpha=True)
    plain("dcgm-extractor", "extractor", alpha=True)
    add("topology-extractor", "extractor", alpha=True)
    add(
        "k8s-notification-source", "source",
        {"version": _word(required=True), "kind": _word(required=True), "group": _TEXT},
    )  # fmt: skip
    plain("endpoint-notification-source", "source")
    add("multicluster-metrics-data-source", "source", alpha=True)
    add("multicluster-metrics-extractor", "extractor", alpha=True)
    add("file-discovery", "discovery", {"path": _word(required=True), "watchFile": _BOOL})
    add("multicluster-file-discovery", "discovery", alpha=True)
    add("local-syncer", "syncer")


@cache
def plugin_types() -> Mapping[str, PluginType]:
    """Every registered type by name, of all versions."""
    return {plugin.name: plugin for plugin in _all()}
