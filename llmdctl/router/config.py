"""EndpointPickerConfig: one typed model for all its apiVersions, loading and dumping by router version.

It is a file that the endpoint picker reads once at start, not a cluster object. Plugin parameters stay as they are:
each plugin has its own (lifetimes.py knows which came and went). Source: llm-d-router apix/config, config loader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from llmdctl.findings import UserError
from llmdctl.findings.versions import Version
from llmdctl.manifest.record import record
from llmdctl.manifest.typed import Problem, TypedError, doc
from llmdctl.manifest.typed import dump as dump_typed
from llmdctl.manifest.typed import load as load_typed

KIND = "EndpointPickerConfig"
V1 = "llm-d.ai/v1"
V1ALPHA1 = "llm-d.ai/v1alpha1"
LEGACY = "inference.networking.x-k8s.io/v1alpha1"
API_VERSIONS = (V1, V1ALPHA1, LEGACY)

V1_SINCE = (0, 11)
"""The first router after v0.10.0 registers llm-d.ai/v1."""


@record
class Plugin:
    """A plugin instance. Its name defaults to its type."""

    type: str = field(metadata=doc("Registered type."))
    name: str | None = field(default=None, metadata=doc("Instance name; the type when absent."))
    parameters: dict[str, Any] | None = field(default=None, metadata=doc("The plugin's own parameters."))

    @property
    def instance(self) -> str:
        """The name that references use."""
        return self.name or self.type


@record
class ProfilePlugin:
    """A plugin's use in a profile."""

    plugin_ref: str = field(metadata=doc("Name of a declared plugin."))
    weight: float | None = field(default=None, metadata=doc("Weight of a scorer."))


@record
class Profile:
    """A scheduling profile: filters, scorers and at most one picker."""

    name: str = field(metadata=doc("Name of the profile."))
    plugins: list[ProfilePlugin] = field(default_factory=list, metadata=doc("Its plugins."))


@record
class Ref:
    """A reference to a plugin."""

    plugin_ref: str = field(metadata=doc("Name of a declared plugin."))


@record
class DataSource:
    """A source of endpoint data with its extractors."""

    plugin_ref: str = field(metadata=doc("Name of the source."))
    extractors: list[Ref] | None = field(default=None, metadata=doc("Extractors that read it."))


@record
class Discovery:
    """How endpoints and peers are found."""

    endpoints: Ref | None = field(default=None, metadata=doc("Endpoint discovery."))
    peers: Ref | None = field(default=None, metadata=doc("Peer discovery."))


@record
class CrossReplica:
    """Sharing state between replicas."""

    syncer_plugin_ref: str | None = field(default=None, metadata=doc("The syncer."))
    sync_interval: str | None = field(default=None, metadata=doc("Duration between rounds."))
    publish_timeout: str | None = field(default=None, metadata=doc("Longest publish."))


@record
class DataLayer:
    """Where endpoint data comes from."""

    inject_defaults: bool | None = field(default=None, metadata=doc("Add the default sources."))
    sources: list[DataSource] | None = field(default=None, metadata=doc("Sources."))
    discovery: Discovery | None = field(default=None, metadata=doc("Discovery."))
    cross_replica: CrossReplica | None = field(default=None, metadata=doc("Sharing between replicas."))


@record
class PriorityBand:
    """Limits of one priority."""

    priority: int | None = field(default=None, metadata=doc("Priority; 0 when absent."))
    max_bytes: str | int | None = field(default=None, metadata=doc("Queued bytes, a quantity."))
    max_requests: str | int | None = field(default=None, metadata=doc("Queued requests, a quantity."))
    default_request_ttl: str | None = field(default=None, metadata=doc("Duration.", key="defaultRequestTTL"))
    fairness_policy_ref: str | None = field(default=None, metadata=doc("Fairness policy."))
    ordering_policy_ref: str | None = field(default=None, metadata=doc("Ordering policy."))


@record
class FlowControl:
    """Queueing in front of the pool; needs the feature gate flowControl."""

    max_bytes: str | int | None = field(default=None, metadata=doc("Queued bytes, a quantity."))
    max_requests: str | int | None = field(default=None, metadata=doc("Queued requests, a quantity."))
    default_request_ttl: str | None = field(default=None, metadata=doc("Duration.", key="defaultRequestTTL"))
    no_endpoint_request_ttl: str | None = field(default=None, metadata=doc("Duration.", key="noEndpointRequestTTL"))
    default_priority_band: PriorityBand | None = field(default=None, metadata=doc("Band of unlisted priorities."))
    default_negative_priority_band: PriorityBand | None = field(default=None, metadata=doc("Band below zero."))
    priority_bands: list[PriorityBand] | None = field(default=None, metadata=doc("Listed bands."))
    usage_limit_policy_plugin_ref: str | None = field(default=None, metadata=doc("Usage limit policy."))
    band_selection_policy_plugin_ref: str | None = field(default=None, metadata=doc("Band selection policy (v1)."))
    saturation_detector: Ref | None = field(default=None, metadata=doc("Saturation detector."))
    enable_eviction: bool | None = field(default=None, metadata=doc("Evict requests in flight."))


@record
class RequestHandler:
    """How requests are read."""

    parsers: list[Ref] | None = field(default=None, metadata=doc("Parsers, replacing the default ones."))
    propagate_priority: bool | None = field(default=None, metadata=doc("Tell the engine the priority."))


@record
class RouterConfig:
    """A whole EndpointPickerConfig, in the shape of v1."""

    feature_gates: list[str] | None = field(default=None, metadata=doc("Gates: `name` or `name=false`."))
    plugins: list[Plugin] = field(default_factory=list, metadata=doc("Plugin instances."))
    scheduling_profiles: list[Profile] | None = field(default=None, metadata=doc("Profiles."))
    data_layer: DataLayer | None = field(default=None, metadata=doc("Endpoint data."))
    flow_control: FlowControl | None = field(default=None, metadata=doc("Flow control."))
    request_handler: RequestHandler | None = field(default=None, metadata=doc("Request reading."))

    def plugin(self, name: str) -> Plugin | None:
        """The plugin instance of that name."""
        return next((plugin for plugin in self.plugins if plugin.instance == name), None)


def load(data: Any) -> RouterConfig:
    """The config of plain data. Raises UserError with every fault for what the picker's decoder refuses."""
    config, problems = load_problems(data)
    if config is None:
        errors = [UserError(str(problem), fix=problem.fix) for problem in problems]
        raise UserError(errors[0].what, fix=errors[0].fix, others=errors[1:])
    return config


def load_problems(data: Any) -> tuple[RouterConfig | None, list[Problem]]:
    """The config, or None with everything that the picker's decoder refuses."""
    if not isinstance(data, Mapping):
        return None, [Problem((), "the config is not a map", f"start it with apiVersion: {V1} and kind: {KIND}")]
    version, kind = data.get("apiVersion"), data.get("kind")
    if kind != KIND or version not in API_VERSIONS:
        what = f"apiVersion {version!r} with kind {kind!r} is no endpoint picker config"
        fix = f"use kind {KIND} with one of " + ", ".join(API_VERSIONS)
        return None, [Problem(("apiVersion",), what, fix)]
    body = {key: value for key, value in data.items() if key not in ("apiVersion", "kind")}
    if version != V1:
        body = _from_v1alpha1(body)
    try:
        return load_typed(RouterConfig, body), []
    except TypedError as error:
        return None, error.problems


def dump(config: RouterConfig, router_version: str) -> dict[str, Any]:
    """Plain data in the apiVersion that a router of this version wants. An unknown version gets the newest."""
    known = Version.parse(router_version)
    body: dict[str, Any] = dump_typed(config)
    if known is None or known.at_least(*V1_SINCE):
        return {"apiVersion": V1, "kind": KIND, **body}
    return {"apiVersion": V1ALPHA1, "kind": KIND, **_to_v1alpha1(body)}


def _from_v1alpha1(body: dict[str, Any]) -> dict[str, Any]:
    """Moves what v1alpha1 keeps elsewhere to where v1 has it; values already in the new place win."""
    out = dict(body)
    detector = out.pop("saturationDetector", None)
    if detector is not None and _is_open(out.get("flowControl")):
        out["flowControl"] = {"saturationDetector": detector, **(out.get("flowControl") or {})}
    parser = out.pop("parser", None)
    if parser is not None and _is_open(out.get("requestHandler")):
        out["requestHandler"] = {"parsers": [parser], **(out.get("requestHandler") or {})}
    layer = out.get("dataLayer")
    if isinstance(layer, Mapping):
        out["dataLayer"] = _layer_from_v1alpha1(dict(layer))
    return out


def _is_open(value: Any) -> bool:
    """True for a map or nothing; anything else is told as a wrong type, and can't take more."""
    return value is None or isinstance(value, Mapping)


_FLAT_REPLICA_KEYS = {
    "crossReplicaSyncerPluginRef": "syncerPluginRef",
    "crossReplicaSyncInterval": "syncInterval",
    "crossReplicaPublishTimeout": "publishTimeout",
}


def _layer_from_v1alpha1(layer: dict[str, Any]) -> dict[str, Any]:
    discovery = layer.get("discovery")
    if isinstance(discovery, Mapping) and "pluginRef" in discovery:
        rest = {key: value for key, value in discovery.items() if key != "pluginRef"}
        layer["discovery"] = {"endpoints": {"pluginRef": discovery["pluginRef"]}, **rest}
    peers = layer.pop("peerDiscovery", None)
    if peers is not None and _is_open(layer.get("discovery")):
        layer["discovery"] = {"peers": peers, **(layer.get("discovery") or {})}
    flat = {new: layer.pop(old) for old, new in _FLAT_REPLICA_KEYS.items() if old in layer}
    if flat and _is_open(layer.get("crossReplica")):
        layer["crossReplica"] = {**flat, **(layer.get("crossReplica") or {})}
    return layer


def _to_v1alpha1(body: dict[str, Any]) -> dict[str, Any]:
    out = dict(body)
    layer = out.get("dataLayer")
    if layer is None:
        return out
    layer = dict(layer)
    discovery = layer.pop("discovery", None) or {}
    if "endpoints" in discovery:
        layer["discovery"] = {"pluginRef": discovery["endpoints"]["pluginRef"]}
    if "peers" in discovery:
        layer["peerDiscovery"] = discovery["peers"]
    shared = layer.pop("crossReplica", None) or {}
    layer.update({old: shared[new] for old, new in _FLAT_REPLICA_KEYS.items() if new in shared})
    out["dataLayer"] = layer
    return out
