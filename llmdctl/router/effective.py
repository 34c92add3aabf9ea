"""What the router's loader makes of a config: names, profiles, handlers, producers and sources that it adds.

Source: llm-d-router pkg/epp/config/loader/defaults.go and pkg/epp/datalayer/data_graph.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.router.config import (
    DataLayer,
    DataSource,
    FlowControl,
    Plugin,
    Profile,
    ProfilePlugin,
    Ref,
    RequestHandler,
    RouterConfig,
)
from llmdctl.router.plugins import DEFAULT_PRODUCERS, UNCACHED, PluginType, plugin_types

METRICS_SOURCE, CORE_EXTRACTOR = "metrics-data-source", "core-metrics-extractor"
DEFAULT_DETECTOR = "utilization-detector"
DEFAULT_POLICIES = ("global-strict-fairness-policy", "fcfs-ordering-policy", "static-usage-limit-policy")
DEFAULT_PARSERS = ("openai-parser", "anthropic-parser", "vllmhttp-parser", "passthrough-parser")
DEFAULT_PICKER = "max-score-picker"
SINGLE_HANDLER = "single-profile-handler"
BUILT_IN = (("queue-scorer", 2.0), ("kv-cache-utilization-scorer", 2.0), ("prefix-cache-scorer", 3.0))
"""What runs when no config is given."""

_PRODUCER_PARAMETERS = {
    "PrefixCacheMatchInfo": "prefixMatchInfoProducerName",
    "InFlightLoad": "inFlightLoadProducerName",
    "LatencyPredictionInfo": "latencyPredictionInfoProducerName",
}


@frozen
class Missing:
    """Data that a plugin needs and nothing makes: the plugin's instance name, the data, the producer it asks for."""

    plugin: str
    data: str
    producer: str


@frozen
class Effective:
    """A config after defaulting. `added` names what the loader put in, with the reason."""

    config: RouterConfig
    added: tuple[tuple[str, str], ...]
    missing: tuple[Missing, ...]
    notes: tuple[str, ...] = ()


def kind_of(plugin: Plugin) -> PluginType | None:
    """The registered type of an instance, None for one that we don't know."""
    return plugin_types().get(plugin.type)


def has_facet(plugin: Plugin | None, *facets: str) -> bool | None:
    """Whether an instance is of one of these kinds; None when its type is unknown."""
    kind = kind_of(plugin) if plugin is not None else None
    return None if kind is None else bool(kind.facets & set(facets))


def needs_of(plugin: Plugin) -> Iterator[tuple[str, str]]:
    """What an instance needs: the data, and the instance that is to make it ("" for the router's own choice)."""
    kind = kind_of(plugin)
    if kind is None:
        return
    parameters = plugin.parameters or {}
    for data in kind.needs:
        # The handler reads the default producer whatever else is declared.
        name = "" if "handler" in kind.facets else parameters.get(_PRODUCER_PARAMETERS.get(data, ""), "")
        yield data, name if isinstance(name, str) else ""
    if plugin.type == "prefix-cache-affinity-filter" and parameters.get("maxTTFTPenaltyMs", 18000):
        source = parameters.get("ttftSource", "prefillThroughput")
        data = "LatencyPredictionInfo" if source == "latencyPredictor" else "InFlightLoad"
        yield data, str(parameters.get(_PRODUCER_PARAMETERS[data]) or "")
    if plugin.type == "utilization-filter" and "active-requests" in str(parameters.get("conditions")):
        yield "InFlightLoad", str(parameters.get("inFlightLoadProducerName") or "")


def effective(
    config: RouterConfig, *, uncached_by_default: bool = False, default_parsers: Sequence[str] = DEFAULT_PARSERS
) -> Effective:
    """The config that runs. `uncached_by_default`: routers since 0.11 also make UncachedRequestTokens by themselves."""
    added: list[tuple[str, str]] = []
    notes: list[str] = []
    plugins = list(config.plugins)

    def ensure(kind: str, reason: str) -> None:
        if all(plugin.instance != kind for plugin in plugins):
            plugins.append(Plugin(type=kind))
            added.append((kind, reason))

    if not config.plugins and not config.scheduling_profiles:
        for kind, _ in BUILT_IN:
            ensure(kind, "no plugin is configured: these scorers are the router's own choice")
    profiles = _profiles(config, plugins, ensure, notes)
    if len(profiles) == 1 and not any(has_facet(plugin, "handler") for plugin in plugins):
        ensure(SINGLE_HANDLER, "one profile needs no handler of yours")
    layer = _data_layer(config, ensure)
    flow = config.flow_control or FlowControl()
    if flow.saturation_detector is None:
        ensure(DEFAULT_DETECTOR, "no saturation detector is configured")
        flow = replace(flow, saturation_detector=Ref(plugin_ref=DEFAULT_DETECTOR))
    for policy in DEFAULT_POLICIES:
        ensure(policy, "always there: what bands use that name no policy")
    handler = config.request_handler or RequestHandler()
    if not handler.parsers:
        for parser in default_parsers:
            ensure(parser, "no parser is configured")
        handler = replace(handler, parsers=[Ref(plugin_ref=parser) for parser in default_parsers])
    else:
        for ref in handler.parsers:
            if ref.plugin_ref in plugin_types():
                ensure(ref.plugin_ref, "named as a parser by its type")
    missing = _producers(plugins, ensure, len(config.plugins), uncached_by_default=uncached_by_default)
    whole = replace(
        config,
        plugins=plugins,
        scheduling_profiles=profiles,
        data_layer=layer,
        flow_control=flow,
        request_handler=handler,
    )
    return Effective(whole, tuple(added), tuple(missing), tuple(notes))


def _profiles(config: RouterConfig, plugins: list[Plugin], ensure: Any, notes: list[str]) -> list[Profile]:
    profiles = list(config.scheduling_profiles or [])
    if not profiles:
        weights = dict(BUILT_IN) if not config.plugins else {}
        entries = [
            ProfilePlugin(plugin_ref=plugin.instance, weight=weights.get(plugin.instance))
            for plugin in plugins
            if has_facet(plugin, "filter", "scorer", "picker")
        ]
        profiles = [Profile(name="default", plugins=entries)]
        notes.append("no profile is configured: `default` holds every filter, scorer and picker, in random order")
    by_name = {plugin.instance: plugin for plugin in plugins}
    out = []
    for profile in profiles:
        entries = [
            replace(entry, weight=1.0)
            if entry.weight is None and has_facet(by_name.get(entry.plugin_ref), "scorer")
            else entry
            for entry in profile.plugins
        ]
        if not any(has_facet(by_name.get(entry.plugin_ref), "picker") for entry in entries):
            pickers = [plugin.instance for plugin in plugins if has_facet(plugin, "picker")]
            if len(pickers) > 1:
                notes.append(f"profile {profile.name} names no picker: one of {', '.join(pickers)} is taken at random")
            if not pickers:
                ensure(DEFAULT_PICKER, "no picker is configured")
                pickers = [DEFAULT_PICKER]
            entries.append(ProfilePlugin(plugin_ref=pickers[0]))
        out.append(replace(profile, plugins=entries))
    return out


def _data_layer(config: RouterConfig, ensure: Any) -> DataLayer:
    layer = config.data_layer or DataLayer()
    sources = list(layer.sources or [])
    if layer.inject_defaults is not False and all(source.plugin_ref != METRICS_SOURCE for source in sources):
        reason = "metrics of the engines are read unless injectDefaults is false"
        ensure(METRICS_SOURCE, reason)
        ensure(CORE_EXTRACTOR, reason)
        sources.append(DataSource(plugin_ref=METRICS_SOURCE, extractors=[Ref(plugin_ref=CORE_EXTRACTOR)]))
    return replace(layer, sources=sources)


def _producers(plugins: list[Plugin], ensure: Any, declared: int, *, uncached_by_default: bool) -> list[Missing]:
    """Adds what is needed until nothing is; what no default makes is returned."""
    missing: dict[tuple[str, str, str], Missing] = {}
    index = 0
    while index < len(plugins):
        plugin = plugins[index]
        index += 1
        for data, wanted in needs_of(plugin):
            # The loop fails on data without a default before what it added for other data could make it.
            makers = plugins[:declared] if data == UNCACHED and not uncached_by_default else plugins
            if _is_made(data, wanted, makers):
                continue
            default = DEFAULT_PRODUCERS.get(data)
            if data == UNCACHED and uncached_by_default:
                default = DEFAULT_PRODUCERS["InFlightLoad"]
            if default is None or (wanted and wanted != default):
                missing[plugin.instance, data, wanted] = Missing(plugin.instance, data, wanted or default or "")
            else:
                ensure(default, f"{plugin.instance} needs {data}")
    return list(missing.values())


def _is_made(data: str, wanted: str, plugins: list[Plugin]) -> bool:
    if data == "core metrics":
        return any(plugin.type == CORE_EXTRACTOR for plugin in plugins)
    name = wanted or DEFAULT_PRODUCERS.get(data, "")
    for plugin in plugins:
        kind = kind_of(plugin)
        makes = kind is None or data in kind.makes
        if makes and (plugin.instance == name or (data == UNCACHED and kind is not None)):
            return True
    return False
