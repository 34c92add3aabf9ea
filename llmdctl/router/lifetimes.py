"""Which plugins, parameters, fields and gates a router version has, as far as they came or went.

What is not named here is in every version, or unknown to us. Source: llm-d-router v0.9.0 and v0.10.0, and its pull
requests 1134, 2120, 2509, 2815, 2838, 2844 and 2923 on the way to llm-d.ai/v1, which 0.11 stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llmdctl.findings import Path, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.router.config import PriorityBand, RouterConfig

Bound = tuple[int, int]


@frozen
class Lifetime:
    """From `since` on (None: always) and before `until` (None: still there); `instead` is what to write elsewhere."""

    since: Bound | None = None
    until: Bound | None = None
    instead: str = ""

    def fault(self, version: Version) -> str:
        """Why it can't be used with that version, or ""."""
        if self.since is not None and not version.at_least(*self.since):
            return f"needs router {self.since[0]}.{self.since[1]} or newer"
        if self.until is not None and version.at_least(*self.until):
            return f"is gone since router {self.until[0]}.{self.until[1]}"
        return ""


NEW = Lifetime(since=(0, 11))

PLUGINS: Mapping[str, Lifetime] = {
    "disagg-headers-handler": Lifetime(until=(0, 11), instead="remove it: disagg-profile-handler writes the headers"),
    "prefill-header-handler": Lifetime(until=(0, 11), instead="remove it: disagg-profile-handler writes the headers"),
    "pd-profile-handler": Lifetime(until=(0, 11), instead="use disagg-profile-handler"),
    "precise-prefix-cache-scorer": Lifetime(
        until=(0, 11), instead="use precise-prefix-cache-producer with prefix-cache-scorer"
    ),
    "tokenizer": Lifetime(until=(0, 11), instead="use token-producer"),
    "by-label": Lifetime(until=(0, 11), instead="use label-selector-filter"),
    "by-label-selector": Lifetime(until=(0, 11), instead="use label-selector-filter"),
    "kv-cache-scorer": Lifetime(until=(0, 9), instead="use kv-cache-utilization-scorer"),
    "disaggregatedset-rollout-screener": Lifetime(since=(0, 10)),
    "sglanghttp-parser": NEW,
    "endpoint-attribute-weight-scorer": NEW,
    "latency-observation-scorer": NEW,
    "latency-observer-producer": NEW,
    "label-producer": NEW,
    "max-saturation-detector": NEW,
    "session-state-producer": NEW,
    "program-score-ordering-policy": NEW,
}

_FLAT_STAGE = Lifetime(until=(0, 11), instead="write it below profiles or deciders, as in deciders: {prefill: NAME}")

PARAMETERS: Mapping[tuple[str, str], Lifetime] = {
    ("disagg-profile-handler", "deciderPluginName"): _FLAT_STAGE,
    ("disagg-profile-handler", "prefillDeciderPluginName"): _FLAT_STAGE,
    ("disagg-profile-handler", "encodeDeciderPluginName"): _FLAT_STAGE,
    ("disagg-profile-handler", "decodeProfile"): _FLAT_STAGE,
    ("disagg-profile-handler", "prefillProfile"): _FLAT_STAGE,
    ("disagg-profile-handler", "encodeProfile"): _FLAT_STAGE,
    ("precise-prefix-cache-producer", "tokenProcessorConfig.hashAlgorithm"): NEW,
    ("program-aware-fairness", "lasDecayFactor"): Lifetime(until=(0, 11), instead="use lasHalfLifeSeconds"),
    ("program-aware-fairness", "turnPriorityTimeWeight"): NEW,
}
"""(plugin type, dotted parameter) -> lifetime. Routers refuse parameters that they don't know."""

GATES: Mapping[str, Lifetime] = {
    "dataLayer": Lifetime(until=(0, 10), instead="remove it: the data layer is always on"),
    "haPopulateNonLeaderDatastore": Lifetime(since=(0, 10)),
}


def misfits_at(config: RouterConfig, version: Version) -> Iterator[tuple[Path, str, str]]:
    """The same for a known version, as path, what, and what to do."""
    for place, name, lifetime in _used(config):
        fault = lifetime.fault(version)
        if fault:
            fix = lifetime.instead if "gone" in fault else ""
            yield _path(place), f"{name} {fault}, and this router is {version}", fix or "leave it out"


def _path(place: str) -> Path:
    steps: list[str | int] = []
    for part in place.split("."):
        name, bracket, index = part.partition("[")
        steps.append(name)
        if bracket:
            steps.append(int(index[:-1]))
    return tuple(steps)


def misfits(config: RouterConfig, router_version: str) -> list[UserError]:
    """What a router of this version would refuse, one error each; nothing for a version that is no number."""
    version = Version.parse(router_version)
    if version is None:
        return []
    faults = []
    for place, name, lifetime in _used(config):
        fault = lifetime.fault(version)
        if fault:
            fix = lifetime.instead if "gone" in fault else ""
            faults.append(
                UserError(
                    f"{place}: {name} {fault}, and this stack has {version}",
                    why="the endpoint picker refuses the whole config and does not start",
                    fix=fix or "leave it out, or choose a newer release",
                )
            )
    return faults


def _used(config: RouterConfig) -> Iterator[tuple[str, str, Lifetime]]:
    """Everything in a config that some version lacks: where, what, and its lifetime."""
    for index, written in enumerate(config.feature_gates or []):
        gate = written.partition("=")[0]
        if gate in GATES:
            yield f"featureGates[{index}]", gate, GATES[gate]
    for index, plugin in enumerate(config.plugins):
        if plugin.type in PLUGINS:
            yield f"plugins[{index}].type", plugin.type, PLUGINS[plugin.type]
        for (kind, dotted), lifetime in PARAMETERS.items():
            if kind == plugin.type and _has(plugin.parameters or {}, dotted):
                yield f"plugins[{index}].parameters.{dotted}", dotted.rpartition(".")[2], lifetime
    for index, parser in enumerate(config.request_handler.parsers or [] if config.request_handler else []):
        # A parser may be named by its type without being declared.
        if parser.plugin_ref in PLUGINS and config.plugin(parser.plugin_ref) is None:
            yield f"requestHandler.parsers[{index}]", parser.plugin_ref, PLUGINS[parser.plugin_ref]
    yield from ((place, place.rpartition(".")[2], NEW) for place in _new_fields(config))


def _new_fields(config: RouterConfig) -> Iterator[str]:
    """Fields that came with llm-d.ai/v1, and have no place in the configs before it."""
    layer, flow, handler = config.data_layer, config.flow_control, config.request_handler
    if layer and layer.discovery and layer.discovery.peers:
        yield "dataLayer.discovery.peers"
    if layer and layer.cross_replica and layer.cross_replica.publish_timeout is not None:
        yield "dataLayer.crossReplica.publishTimeout"
    if handler and handler.propagate_priority is not None:
        yield "requestHandler.propagatePriority"
    if flow is None:
        return
    if flow.no_endpoint_request_ttl is not None:
        yield "flowControl.noEndpointRequestTTL"
    if flow.band_selection_policy_plugin_ref is not None:
        yield "flowControl.bandSelectionPolicyPluginRef"
    bands: list[tuple[str, PriorityBand | None]] = [
        ("defaultPriorityBand", flow.default_priority_band),
        ("defaultNegativePriorityBand", flow.default_negative_priority_band),
    ]
    bands += [(f"priorityBands[{index}]", band) for index, band in enumerate(flow.priority_bands or [])]
    yield from (f"flowControl.{name}.defaultRequestTTL" for name, band in bands if band and band.default_request_ttl)


def _has(parameters: Mapping[str, Any], dotted: str) -> bool:
    """Whether a parameter is given. Case does not matter in parameters: the plugins read them with encoding/json."""
    node: Any = parameters
    for step in dotted.split("."):
        if not isinstance(node, Mapping):
            return False
        found = {str(key).lower(): value for key, value in node.items()}
        if step.lower() not in found:
            return False
        node = found[step.lower()]
    return True
