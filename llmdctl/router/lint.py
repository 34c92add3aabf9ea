"""Everything that is wrong with one config, for a router version or for any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llmdctl.findings.versions import Version
from llmdctl.router.config import API_VERSIONS, KIND, LEGACY, V1, RouterConfig, load_problems
from llmdctl.router.dataflow import check_data, check_metrics, check_tokens
from llmdctl.router.effective import effective, kind_of
from llmdctl.router.effects import check_entries, check_parsers, check_unused, check_values
from llmdctl.router.fault import Fault
from llmdctl.router.flow import check_flow, check_saturation
from llmdctl.router.lifetimes import misfits_at
from llmdctl.router.parameters import check_parameters
from llmdctl.router.references import check_gates, check_plugins, check_profiles, check_references
from llmdctl.router.staging import check_staging

V1_SINCE = (0, 11)
_REPLACED_SINCE = (0, 10)


def lint(data: Any, version: Version | None) -> list[Fault]:
    """The faults of a config's plain data. A version that is None leaves out what differs from version to version."""
    config, problems = load_problems(data)
    found = [Fault("RTR001", problem.path, problem.what, problem.fix) for problem in problems]
    if isinstance(data, Mapping):
        found += _api_version(data, version)
        found += _moved_fields(data, version)
    if config is None:
        return found
    uncached = None if version is None else version.at_least(*V1_SINCE)
    for check in (
        check_plugins, check_gates, check_references, check_profiles, check_parameters, check_staging, check_flow,
        check_saturation, check_tokens, check_metrics, check_entries, check_unused, check_parsers, check_values,
    ):  # fmt: skip
        found += check(config)
    found += _deprecated(config)
    if version is not None and not version.at_least(*_REPLACED_SINCE):
        # What replaces them was not there yet, or did less.
        found = [fault for fault in found if fault.code != "RTR010" or fault.path[:1] != ("plugins",)]
    found += check_data(config, uncached_by_default=uncached)
    if version is not None:
        found += [Fault("RTR034", path, what, fix) for path, what, fix in misfits_at(config, version)]
    return found


def _api_version(data: Mapping[Any, Any], version: Version | None) -> Iterator[Fault]:
    written = data.get("apiVersion")
    if data.get("kind") != KIND or written not in API_VERSIONS:
        return
    new = version is not None and version.at_least(*V1_SINCE)
    if version is not None and written == V1 and not new:
        yield Fault("RTR002", ("apiVersion",), f"router {version} does not know {V1}", "write llm-d.ai/v1alpha1")
    elif new and written == LEGACY:
        yield Fault("RTR002", ("apiVersion",), f"router {version} does not know {LEGACY} any more", f"write {V1}")
    elif written == LEGACY:
        yield Fault("RTR010", ("apiVersion",), f"{LEGACY} is deprecated", "write llm-d.ai/v1alpha1, or v1 since 0.11")
    elif new and written != V1:
        yield Fault("RTR010", ("apiVersion",), f"{written} is deprecated since {V1}", f"write {V1}")


_OLD_FIELDS = {
    ("saturationDetector",): "flowControl.saturationDetector",
    ("parser",): "requestHandler.parsers",
    ("dataLayer", "peerDiscovery"): "dataLayer.discovery.peers",
}
_NEW_FIELDS = {
    ("dataLayer", "discovery", "endpoints"): "dataLayer.discovery.pluginRef",
    ("dataLayer", "crossReplica"): "crossReplicaSyncerPluginRef and crossReplicaSyncInterval below dataLayer",
}


def _moved_fields(data: Mapping[Any, Any], version: Version | None) -> Iterator[Fault]:
    """Fields of v1alpha1 that stand where only other routers look for them. In v1 they are unknown to any."""
    if data.get("apiVersion") not in API_VERSIONS or data.get("apiVersion") == V1:
        return
    new = version is not None and version.at_least(*V1_SINCE)
    for path, place in _OLD_FIELDS.items():
        if new and _given(data, path):
            title = f"{path[-1]} is gone since router 0.11, and this router is {version}"
            yield Fault("RTR034", path, title, f"write it as {place}")
        elif len(path) == 1 and _given(data, path):
            yield Fault("RTR010", path, f"{path[-1]} is deprecated, and gone since 0.11", f"write it as {place}")
    for path, place in _NEW_FIELDS.items():
        if version is not None and not new and _given(data, path):
            title = f"{path[-1]} needs router 0.11 or newer, and this router is {version}"
            yield Fault("RTR034", path, title, f"write {place}")


def _given(data: Any, path: tuple[str, ...]) -> bool:
    for step in path:
        data = data.get(step) if isinstance(data, Mapping) else None
    return data is not None


def _deprecated(config: RouterConfig) -> Iterator[Fault]:
    for index, plugin in enumerate(config.plugins):
        kind = kind_of(plugin)
        if kind is not None and kind.deprecated:
            yield Fault("RTR010", ("plugins", index, "type"), f"{plugin.type} is deprecated", kind.deprecated)


def experimental(config: RouterConfig) -> list[str]:
    """The instances that need --allow-experimental-plugins, those that the router adds among them."""
    plugins = effective(config, uncached_by_default=True).config.plugins
    return [plugin.instance for plugin in plugins if (kind := kind_of(plugin)) is not None and kind.alpha]
