"""Moving a config to the apiVersion, plugin types and parameters of another router version.

Only what means the same afterwards is changed; what needs a decision stays as it is and is told. Source: llm-d-router
pkg/epp/config/loader/conversion.go for the fields, the plugins' own deprecation notes for types and parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llmdctl.findings import format_path
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.router.config import Plugin, RouterConfig, dump, load
from llmdctl.router.lifetimes import GATES, misfits_at

_RENAMED = {
    "tokenizer": ("token-producer", (0, 9)),
    "by-label-selector": ("label-selector-filter", (0, 9)),
    "kv-cache-scorer": ("kv-cache-utilization-scorer", (0, 9)),
}
"""Old type -> the type that takes the same parameters, and the version that has it."""

_NEEDLESS = ("disagg-headers-handler", "prefill-header-handler")
"""disagg-profile-handler does their work."""

_SELECTOR = frozenset({"matchLabels", "matchExpressions"})
_FLAT = {
    "decodeprofile": ("profiles", "decode"),
    "prefillprofile": ("profiles", "prefill"),
    "encodeprofile": ("profiles", "encode"),
    "deciderpluginname": ("deciders", "prefill"),
    "prefilldeciderpluginname": ("deciders", "prefill"),
    "encodedeciderpluginname": ("deciders", "encode"),
}
"""Flat parameters of disagg-profile-handler in lower case -> where the nested form has them."""


@frozen
class Converted:
    """The new plain data, what was changed, and what the router would still refuse (place, what, what to do)."""

    data: dict[str, Any]
    changes: tuple[str, ...]
    left: tuple[tuple[str, str, str], ...]


def convert(data: Any, version: Version) -> Converted:
    """The config for a router of that version. Raises UserError with every fault when it can't be decoded."""
    config = load(data)
    changes: list[str] = []
    config = _gates(config, version, changes)
    config = _needless(config, version, changes)
    config = _types(config, version, changes)
    config = _stages(config, version, changes)
    config = _block_sizes(config, version, changes)
    out = dump(config, str(version))
    if isinstance(data, Mapping):
        changes[:0] = _moved(data, out)
    left = tuple((format_path(path), what, fix) for path, what, fix in misfits_at(config, version))
    return Converted(out, tuple(changes), left)


def _moved(old: Mapping[Any, Any], new: Mapping[str, Any]) -> list[str]:
    moved = []
    if old.get("apiVersion") != new["apiVersion"]:
        moved.append(f"apiVersion: {old.get('apiVersion')} -> {new['apiVersion']}")
    if old.get("saturationDetector") is not None:
        moved.append("saturationDetector -> flowControl.saturationDetector")
    if old.get("parser") is not None:
        moved.append("parser -> requestHandler.parsers")
    if old.get("dataLayer") and old["dataLayer"] != new.get("dataLayer"):
        moved.append(f"dataLayer: discovery and crossReplica as {new['apiVersion']} nests them")
    return moved


def _gates(config: RouterConfig, version: Version, changes: list[str]) -> RouterConfig:
    gates = config.feature_gates or []
    gone = [gate for gate in gates if (life := GATES.get(gate.partition("=")[0])) and "gone" in life.fault(version)]
    if not gone:
        return config
    changes.extend(f"featureGates: {gate} removed, it is always on" for gate in gone)
    return replace(config, feature_gates=[gate for gate in gates if gate not in gone] or None)


def _needless(config: RouterConfig, version: Version, changes: list[str]) -> RouterConfig:
    """Header handlers go where a disagg-profile-handler writes the headers."""
    if not version.at_least(0, 10) or all(plugin.type != "disagg-profile-handler" for plugin in config.plugins):
        return config
    gone = {plugin.instance for plugin in config.plugins if plugin.type in _NEEDLESS}
    if not gone:
        return config
    changes.extend(f"plugins: {name} removed, disagg-profile-handler writes the headers" for name in sorted(gone))
    profiles = [
        replace(profile, plugins=[entry for entry in profile.plugins if entry.plugin_ref not in gone])
        for profile in config.scheduling_profiles or []
    ]
    kept = [plugin for plugin in config.plugins if plugin.instance not in gone]
    return replace(config, plugins=kept, scheduling_profiles=profiles or config.scheduling_profiles)


def _types(config: RouterConfig, version: Version, changes: list[str]) -> RouterConfig:
    taken = {plugin.instance for plugin in config.plugins}
    names: dict[str, str] = {}
    plugins = []
    for plugin in config.plugins:
        made = _renamed(plugin, version)
        if made is None:
            plugins.append(plugin)
            continue
        changes.append(f"plugins: type {plugin.type} -> {made.type}")
        if plugin.name is None and made.type in taken:
            # Another instance has the new type's name.
            made = replace(made, name=plugin.type)
        elif plugin.name is None:
            names[plugin.type] = made.type
            taken.add(made.type)
        plugins.append(made)
    config = replace(config, plugins=plugins)
    return _with_names(config, names) if names else config


def _renamed(plugin: Plugin, version: Version) -> Plugin | None:
    """The plugin under the type that took over, None when there is none that means the same."""
    new, since = _RENAMED.get(plugin.type, ("", ()))
    parameters = plugin.parameters or {}
    if plugin.type == "by-label" and version.at_least(0, 9):
        label, values = parameters.get("label"), parameters.get("validValues")
        if set(parameters) - {"label", "validValues", "allowsNoLabel"} or parameters.get("allowsNoLabel"):
            return None
        if not isinstance(label, str) or not isinstance(values, list) or not values:
            return None
        selector = {"matchExpressions": [{"key": label, "operator": "In", "values": values}]}
        return Plugin(type="label-selector-filter", name=plugin.name, parameters=selector)
    if not new or not version.at_least(*since) or (plugin.type == "by-label-selector" and set(parameters) - _SELECTOR):
        return None
    return replace(plugin, type=new)


def _with_names(config: RouterConfig, names: Mapping[str, str]) -> RouterConfig:
    """The config with other instance names in every reference, those in parameters among them."""

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            return {inner: walk(item, key if key == "deciders" else str(inner)) for inner, item in value.items()}
        if isinstance(value, list):
            return [walk(item, key) for item in value]
        is_reference = key.endswith(("Ref", "ProducerName", "PluginName")) or key == "deciders"
        return names.get(value, value) if is_reference and isinstance(value, str) else value

    # The newest form holds every field.
    return load(walk(dump(config, "")))


def _stages(config: RouterConfig, version: Version, changes: list[str]) -> RouterConfig:
    """Profiles and deciders of disagg-profile-handler as maps, which routers read since 0.10."""
    if not version.at_least(0, 10):
        return config
    plugins = []
    for plugin in config.plugins:
        parameters = plugin.parameters or {}
        flat = {key: _FLAT[str(key).lower()] for key in parameters if str(key).lower() in _FLAT}
        if plugin.type != "disagg-profile-handler" or not flat or len(set(flat.values())) < len(flat):
            plugins.append(plugin)
            continue
        if not {str(key).lower() for key in parameters}.isdisjoint({"profiles", "deciders"}):
            # Routers refuse both forms at once: which one was meant is not ours to say.
            plugins.append(plugin)
            continue
        made: dict[str, Any] = {key: value for key, value in parameters.items() if key not in flat}
        for key, (group, stage) in flat.items():
            made.setdefault(group, {})[stage] = parameters[key]
            changes.append(f"{plugin.instance}: {key} -> {group}.{stage}")
        plugins.append(replace(plugin, parameters=made))
    return replace(config, plugins=plugins)


def _block_sizes(config: RouterConfig, version: Version, changes: list[str]) -> RouterConfig:
    """The precise producer's block size under its newer name. Both count tokens, unlike the approximate producer's."""
    if not version.at_least(0, 10):
        return config
    plugins = []
    for plugin in config.plugins:
        processor = (plugin.parameters or {}).get("tokenProcessorConfig")
        is_old = isinstance(processor, dict) and "blockSize" in processor and "blockSizeTokens" not in processor
        if plugin.type == "precise-prefix-cache-producer" and isinstance(processor, dict) and is_old:
            made = {"blockSizeTokens" if key == "blockSize" else key: value for key, value in processor.items()}
            plugin = replace(plugin, parameters={**(plugin.parameters or {}), "tokenProcessorConfig": made})
            changes.append(f"{plugin.instance}: tokenProcessorConfig.blockSize -> blockSizeTokens")
        plugins.append(plugin)
    return replace(config, plugins=plugins)
