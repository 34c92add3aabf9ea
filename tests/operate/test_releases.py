"""Every declared stack in every release says to each program only what that version of it takes.

The tables here are written from the programs' own sources (llm-d-router v0.9.0, v0.10.0 and the graduation to
llm-d.ai/v1), not from our code, so that both must be wrong in the same way to agree on a fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.findings import UserError
from llmdctl.findings.versions import Version
from llmdctl.operate.matrix import declared
from llmdctl.plan.build import build_plan
from llmdctl.plan.model import Plan

RELEASES = ("0.8", "0.9", "1.0")

API_VERSION = {"0.8": "llm-d.ai/v1alpha1", "0.9": "llm-d.ai/v1alpha1", "1.0": "llm-d.ai/v1"}

# Plugin type -> its parameters, as far as these are the same in every release. None of them is Alpha, so none needs
# --allow-experimental-plugins.
PLUGINS: dict[str, set[str]] = {
    "metrics-data-source": {"scheme", "path", "insecureSkipVerify"},
    "core-metrics-extractor": set(),
    "always-disagg-pd-decider": set(),
    "prefill-filter": set(),
    "decode-filter": set(),
    "prefix-cache-affinity-filter": {
        "affinityThreshold", "explorationProbability", "maxTTFTPenaltyMs", "ttftSource", "peakPrefillThroughput",
        "prefixMatchInfoProducerName", "latencyPredictionInfoProducerName", "inFlightLoadProducerName",
    },
    "queue-scorer": set(),
    "kv-cache-utilization-scorer": set(),
    "prefix-cache-scorer": {"prefixMatchInfoProducerName", "matchLengthWeight", "matchLengthScaleTokens"},
    "no-hit-lru-scorer": {"lruSize", "prefixMatchInfoProducerName"},
    "active-request-scorer": {"idleThreshold", "maxBusyScore", "inFlightLoadProducerName"},
    "token-load-scorer": {"queueThresholdTokens", "inFlightLoadProducerName"},
    "max-score-picker": {"maxNumOfEndpoints"},
    "approx-prefix-cache-producer": {
        "autoTune", "blockSizeTokens", "maxPrefixBlocksToMatch", "maxPrefixTokensToMatch", "lruCapacityPerServer",
    },
    "inflight-load-producer": {
        "addEstimatedOutputTokens", "outputRatio", "maxEstimatedOutputTokens", "prefixMatchInfoProducerName",
    },
    "token-producer": {"modelName", "vllm.url", "vllm.timeout", "vllm.mmTimeout"},
    "endpoint-notification-source": set(),
    "precise-prefix-cache-producer": {
        "speculativeIndexing", "speculativeTTL", "indexerConfig.kvBlockIndexConfig.enableMetrics",
        # Read over the defaults (producer.go, PluginFactory), so that it may stand without `size`.
        "indexerConfig.kvBlockIndexConfig.inMemoryConfig.podCacheSize",
        "kvEventsConfig.topicFilter", "kvEventsConfig.concurrency", "kvEventsConfig.engineType",
        "kvEventsConfig.discoverPods", "kvEventsConfig.podDiscoveryConfig.socketPort",
    },
    "disagg-profile-handler": set(),
}  # fmt: skip

ONLY_PLUGINS: dict[str, dict[str, set[str]]] = {"0.8": {"disagg-headers-handler": set()}, "0.9": {}, "1.0": {}}

ONLY_PARAMETERS: dict[str, dict[str, set[str]]] = {
    "0.8": {
        "disagg-profile-handler": {"deciderPluginName"},
        "precise-prefix-cache-producer": {"tokenProcessorConfig.blockSize"},
    },
    "0.9": {
        "disagg-profile-handler": {"deciders.prefill"},
        "precise-prefix-cache-producer": {"tokenProcessorConfig.blockSizeTokens"},
    },
    "1.0": {
        "disagg-profile-handler": {"deciders.prefill"},
        "precise-prefix-cache-producer": {
            "tokenProcessorConfig.blockSizeTokens",
            "tokenProcessorConfig.hashAlgorithm",
        },
    },
}

SCORERS = {name for name in PLUGINS if name.endswith("-scorer")}

SIDECAR_FLAGS = {
    "--port",
    "--kv-connector",
    "--data-parallel-size",
    "--zap-log-level",
    "--enable-prefiller-sampling",
    "--mooncake-bootstrap-port",
}
MORIIO_FLAGS = {
    "--moriio-write-mode", "--moriio-parallel-dispatch", "--moriio-local-pod-ip", "--moriio-tp-size",
    "--moriio-prefill-handshake-port", "--moriio-prefill-notify-port", "--moriio-dp-size", "--moriio-dp-size-local",
    "--moriio-remote-hosts", "--moriio-decode-hosts", "--moriio-parallel-decode-wait-timeout",
}  # fmt: skip
ONLY_SIDECAR_FLAGS = {
    "0.8": {"--vllm-port", "--secure-proxy"},
    "0.9": {"--model-server-port", "--secure-proxy", *MORIIO_FLAGS},
    "1.0": {"--model-server-port", "--secure-serving", *MORIIO_FLAGS},
}
SIDECAR_PROTOCOLS = {"nixlv2", "shared-storage", "sglang", "mooncake"}

PICKER_FLAGS = {
    "--pool-name", "--pool-namespace", "--config-file", "--grpc-port", "--grpc-health-port", "--metrics-port",
    "--zap-encoder", "--v", "--tracing",
}  # fmt: skip

Stack = tuple[str, Plan]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def stacks(catalog: Catalog) -> dict[str, list[Stack]]:
    """All declared stacks by release, but for those that their release refuses."""
    found: dict[str, list[Stack]] = {}
    for release in RELEASES:
        found[release] = []
        for variant in declared(catalog):
            try:
                plan = build_plan(variant.request(release), catalog)
            except UserError as error:
                assert release == "0.8", error
                assert "moriio needs router 0.10.0 or newer" in error.what
                continue
            found[release].append((variant.folder, plan))
    return found


def routed(stacks: list[Stack]) -> Iterator[Stack]:
    """Stacks with a router; a guide may stop at the engines."""
    return ((name, plan) for name, plan in stacks if any("router/" in item.template for item in plan.objects))


def leaves(node: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{before}{key}.")
        else:
            yield before + key


@pytest.mark.parametrize("release", RELEASES)
def test_the_picker_knows_every_plugin_and_parameter(stacks: dict[str, list[Stack]], release: str) -> None:
    checked = 0
    for name, plan in routed(stacks[release]):
        config = plan.router.config
        assert config["apiVersion"] == API_VERSION[release], name
        assert set(config) <= {"apiVersion", "kind", "plugins", "schedulingProfiles", "dataLayer"}, name
        for plugin in config["plugins"]:
            kind = plugin["type"]
            known = {**PLUGINS, **ONLY_PLUGINS[release]}
            assert kind in known, (name, kind)
            allowed = known[kind] | ONLY_PARAMETERS[release].get(kind, set())
            assert set(leaves(plugin.get("parameters") or {})) <= allowed, (name, kind)
            checked += 1
    assert checked > 500


@pytest.mark.parametrize("release", RELEASES)
def test_the_pickers_config_is_whole(stacks: dict[str, list[Stack]], release: str) -> None:
    """References resolve, weights are a scorer's, and what no version makes by itself is declared."""
    for name, plan in routed(stacks[release]):
        config = plan.router.config
        types = {plugin.get("name", plugin["type"]): plugin["type"] for plugin in config["plugins"]}
        assert len(types) == len(config["plugins"]), name
        profiles = config["schedulingProfiles"]
        for profile in profiles:
            for item in profile["plugins"]:
                assert item["pluginRef"] in types, (name, item)
                assert "weight" not in item or types[item["pluginRef"]] in SCORERS, (name, item)
        for source in config.get("dataLayer", {}).get("sources", []):
            assert {source["pluginRef"], *(item["pluginRef"] for item in source["extractors"])} <= set(types), name
        handlers = [kind for kind in types.values() if kind.endswith("-profile-handler")]
        assert handlers == (["disagg-profile-handler"] if len(profiles) > 1 else []), name
        if handlers:
            assert {profile["name"] for profile in profiles} == {"prefill", "decode"}, name
            handler = next(item for item in config["plugins"] if item["type"] == handlers[0])["parameters"]
            decider = handler["deciderPluginName"] if release == "0.8" else handler["deciders"]["prefill"]
            assert decider in types, name
        # Routers up to 0.10 have no default producer of the tokens that it reads.
        assert "token-load-scorer" not in types.values() or "inflight-load-producer" in types, name
        # One that the router makes by itself would only estimate tokens, and no block would ever match.
        assert "precise-prefix-cache-producer" not in types or types.get("token-producer") == "token-producer", name


@pytest.mark.parametrize("release", RELEASES)
def test_picker_and_sidecar_know_every_flag(stacks: dict[str, list[Stack]], release: str) -> None:
    sidecars = 0
    for name, plan in stacks[release]:
        assert {arg.partition("=")[0] for arg in plan.router.args} <= PICKER_FLAGS, name
        for role in plan.roles:
            if role.sidecar is None:
                continue
            sidecars += 1
            flags = dict(arg.split("=", 1) for arg in role.sidecar.args)
            assert set(flags) <= SIDECAR_FLAGS | ONLY_SIDECAR_FLAGS[release], name
            assert flags["--kv-connector"] in SIDECAR_PROTOCOLS, name
            # The engine's port is always said, since the default differs: 8001 in 0.8, then 8200.
            assert flags["--vllm-port" if release == "0.8" else "--model-server-port"] == str(role.engine_port), name
            assert flags["--secure-serving" if release == "1.0" else "--secure-proxy"] == "false", name
            assert f"--port={role.engine_port}" in role.container.args, name
    assert sidecars > 50


@pytest.mark.parametrize("release", RELEASES)
def test_roles_of_kv_transfer_follow_the_engine(stacks: dict[str, list[Stack]], release: str) -> None:
    seen = set()
    for name, plan in stacks[release]:
        for role in plan.roles:
            for arg in role.container.args:
                if not arg.startswith("--kv-transfer-config="):
                    continue
                found = json.loads(arg.partition("=")[2])["kv_role"]
                version = Version.parse(role.container.image.version)
                assert version is not None
                directed = "kv_producer" if role.name == "prefill" else "kv_consumer"
                assert found == (directed if version.at_least(0, 26) else "kv_both"), (name, role.name)
                seen.add(found)
    assert seen == ({"kv_both"} if release == "0.8" else {"kv_producer", "kv_consumer"})


@pytest.mark.parametrize("release", RELEASES)
def test_images_are_those_of_the_release(catalog: Catalog, stacks: dict[str, list[Stack]], release: str) -> None:
    images = catalog.images.releases[release].images
    used = set()
    for name, plan in stacks[release]:
        found = [role.container.image for role in plan.roles] + [plan.router.image]
        found += [role.sidecar.image for role in plan.roles if role.sidecar]
        found += [plan.router.proxy.image] if plan.router.proxy else []
        found += [plan.render.server.image] if plan.render and plan.render.server else []
        for image in found:
            wanted = images[image.name]
            assert image.reference == f"{wanted.repository}:{wanted.tag}", name
            assert (image.component, image.version) == (wanted.component, wanted.version), name
            used.add(image.name)
    assert used == set(images)
