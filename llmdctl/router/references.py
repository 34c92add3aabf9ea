"""Names, references, profiles and handlers of a config: what the loader refuses.

Source: llm-d-router pkg/epp/config/loader/{configloader,validation}.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from llmdctl.findings import Path
from llmdctl.manifest.typed import nearest
from llmdctl.router.config import Plugin, RouterConfig
from llmdctl.router.effective import SINGLE_HANDLER, has_facet
from llmdctl.router.fault import Fault
from llmdctl.router.lifetimes import GATES
from llmdctl.router.plugins import plugin_types

KNOWN_GATES = frozenset({"flowControl", *GATES})
_TRUTHS = frozenset({"1", "t", "true", "0", "f", "false"})
TESTING = "mock-"


def check_plugins(config: RouterConfig) -> Iterator[Fault]:
    """Types and names."""
    seen: dict[str, int] = {}
    for index, plugin in enumerate(config.plugins):
        at: Path = ("plugins", index)
        if not plugin.type:
            yield Fault("RTR003", (*at, "type"), "a plugin has no type")
        elif plugin.type not in plugin_types():
            close = nearest(plugin.type, sorted(plugin_types()))
            hint = f"did you mean {close}? " if close else ""
            fix = f"{hint}a plugin of your own build is fine: then ignore this finding with that reason"
            yield Fault("RTR003", (*at, "type"), f"no router has a plugin of type {plugin.type}", fix)
        if plugin.instance in seen:
            yield Fault(
                "RTR004", at, f"two plugins are called {plugin.instance}",
                "give each instance a name of its own; without one its type is its name",
            )  # fmt: skip
        seen[plugin.instance] = index


def check_gates(config: RouterConfig) -> Iterator[Fault]:
    """Feature gates: names, and values that read as booleans."""
    for index, written in enumerate(config.feature_gates or []):
        name, equals, value = written.partition("=")
        at: Path = ("featureGates", index)
        if name not in KNOWN_GATES:
            close = nearest(name, sorted(KNOWN_GATES))
            hint = f"did you mean {close}?" if close else f"known: {', '.join(sorted(KNOWN_GATES))}"
            yield Fault("RTR011", at, f"there is no feature gate {name!r}", hint)
        elif equals and value.partition("=")[0].strip().lower() not in _TRUTHS:
            yield Fault("RTR011", at, f"feature gate {name} is neither true nor false: {value!r}", f"write {name}=true")


def gate_is_on(config: RouterConfig, name: str) -> bool:
    """Whether a gate that is off by default is on; the last word counts."""
    state = False
    for written in config.feature_gates or []:
        gate, equals, value = written.partition("=")
        if gate == name:
            state = not equals or value.partition("=")[0].strip().lower() in ("1", "t", "true")
    return state


def references(config: RouterConfig) -> Iterator[tuple[Path, str, tuple[str, ...], bool]]:
    """Every reference outside profiles: place, name, the kinds it may have, and whether a type's name will do."""
    layer, flow, handler = config.data_layer, config.flow_control, config.request_handler
    for index, source in enumerate(layer.sources or [] if layer else []):
        at: Path = ("dataLayer", "sources", index)
        yield (*at, "pluginRef"), source.plugin_ref, ("source",), False
        for inner, extractor in enumerate(source.extractors or []):
            yield (*at, "extractors", inner, "pluginRef"), extractor.plugin_ref, ("extractor",), False
    if layer and layer.discovery and layer.discovery.endpoints:
        at = ("dataLayer", "discovery", "endpoints", "pluginRef")
        yield at, layer.discovery.endpoints.plugin_ref, ("discovery",), False
    if layer and layer.cross_replica and layer.cross_replica.syncer_plugin_ref:
        yield (
            ("dataLayer", "crossReplica", "syncerPluginRef"),
            layer.cross_replica.syncer_plugin_ref,
            ("syncer",),
            False,
        )
    if flow and flow.saturation_detector:
        at = ("flowControl", "saturationDetector", "pluginRef")
        yield at, flow.saturation_detector.plugin_ref, ("detector",), False
    if flow and gate_is_on(config, "flowControl"):
        yield from _flow_references(config)
    for index, parser in enumerate(handler.parsers or [] if handler else []):
        yield ("requestHandler", "parsers", index, "pluginRef"), parser.plugin_ref, ("parser",), True


def _flow_references(config: RouterConfig) -> Iterator[tuple[Path, str, tuple[str, ...], bool]]:
    flow = config.flow_control
    if flow is None:
        return
    if flow.usage_limit_policy_plugin_ref:
        yield ("flowControl", "usageLimitPolicyPluginRef"), flow.usage_limit_policy_plugin_ref, ("usage",), True
    bands = [(("flowControl", "defaultPriorityBand"), flow.default_priority_band)]
    bands.append((("flowControl", "defaultNegativePriorityBand"), flow.default_negative_priority_band))
    numbered: list[tuple[Path, object]] = [*bands]
    numbered += [
        (("flowControl", "priorityBands", index), band) for index, band in enumerate(flow.priority_bands or [])
    ]
    for at, band in numbered:
        fairness, ordering = getattr(band, "fairness_policy_ref", None), getattr(band, "ordering_policy_ref", None)
        if fairness:
            yield (*at, "fairnessPolicyRef"), fairness, ("fairness",), True
        if ordering:
            yield (*at, "orderingPolicyRef"), ordering, ("ordering",), True


_WORDS = {
    "source": "data source", "extractor": "extractor", "discovery": "endpoint discovery", "syncer": "syncer",
    "detector": "saturation detector", "usage": "usage limit policy", "fairness": "fairness policy",
    "ordering": "ordering policy", "parser": "parser", "decider": "decider",
}  # fmt: skip
_ALWAYS_THERE = frozenset({"global-strict-fairness-policy", "fcfs-ordering-policy", "static-usage-limit-policy"})


def check_references(config: RouterConfig) -> Iterator[Fault]:
    """References that name nothing, or a plugin of another kind."""
    for place, name, kinds, type_will_do in references(config):
        yield from _check_reference(config, place, name, kinds, type_will_do=type_will_do)
    for index, profile in enumerate(config.scheduling_profiles or []):
        for inner, entry in enumerate(profile.plugins):
            at: Path = ("schedulingProfiles", index, "plugins", inner, "pluginRef")
            yield from _check_reference(config, at, entry.plugin_ref, (), type_will_do=False)
    for index, plugin in enumerate(config.plugins):
        yield from _check_deciders(config, plugin, ("plugins", index, "parameters"))


def _check_deciders(config: RouterConfig, plugin: Plugin, at: Path) -> Iterator[Fault]:
    if plugin.type != "disagg-profile-handler":
        return
    parameters = plugin.parameters or {}
    deciders = parameters.get("deciders")
    for stage, name in deciders.items() if isinstance(deciders, dict) else ():
        if isinstance(name, str) and name:
            yield from _check_reference(config, (*at, "deciders", str(stage)), name, ("decider",), type_will_do=False)
    for key in ("deciderPluginName", "prefillDeciderPluginName", "encodeDeciderPluginName"):
        name = parameters.get(key)
        if isinstance(name, str) and name:
            yield from _check_reference(config, (*at, key), name, ("decider",), type_will_do=False)


def _check_reference(
    config: RouterConfig, place: Path, name: str, kinds: tuple[str, ...], *, type_will_do: bool
) -> Iterator[Fault]:
    plugin = config.plugin(name)
    if not name:
        yield Fault("RTR005", place, "a reference names no plugin", "name an instance of `plugins`")
        return
    if plugin is None and (name in _ALWAYS_THERE or (type_will_do and name in plugin_types() and kinds == ("parser",))):
        plugin = Plugin(type=name)
    if plugin is None:
        names = [item.instance for item in config.plugins]
        close = nearest(name, names)
        fix = f"did you mean {close}?" if close else f"declare it under plugins; declared: {', '.join(names) or 'none'}"
        yield Fault("RTR005", place, f"no plugin is called {name}", fix)
    elif kinds and has_facet(plugin, *kinds) is False:
        yield Fault("RTR006", place, f"{name} is a {plugin.type}, which is no {_WORDS[kinds[0]]}", "name one that is")


def check_profiles(config: RouterConfig) -> Iterator[Fault]:
    """Profiles and the handler that chooses among them."""
    profiles = config.scheduling_profiles or []
    names = Counter(profile.name for profile in profiles)
    for index, profile in enumerate(profiles):
        at: Path = ("schedulingProfiles", index)
        if not profile.name:
            yield Fault("RTR007", (*at, "name"), "a profile has no name")
        elif names[profile.name] > 1 and [item.name for item in profiles].index(profile.name) < index:
            yield Fault("RTR007", (*at, "name"), f"two profiles are called {profile.name}")
        pickers = [
            entry.plugin_ref for entry in profile.plugins if has_facet(config.plugin(entry.plugin_ref), "picker")
        ]
        if len(pickers) > 1:
            title = f"profile {profile.name} has {len(pickers)} pickers: {', '.join(pickers)}"
            yield Fault("RTR007", (*at, "plugins"), title, "keep one")
    handlers = [(i, plugin) for i, plugin in enumerate(config.plugins) if has_facet(plugin, "handler")]
    unknown = any(plugin.type not in plugin_types() for plugin in config.plugins)
    if len(handlers) > 1:
        named = ", ".join(plugin.instance for _, plugin in handlers)
        yield Fault("RTR008", ("plugins", handlers[1][0]), f"{len(handlers)} profile handlers: {named}", "keep one")
    elif not handlers and len(profiles) > 1 and not unknown:
        yield Fault(
            "RTR008", ("schedulingProfiles",), f"{len(profiles)} profiles, and no handler that chooses among them",
            "declare one under plugins, such as disagg-profile-handler",
        )  # fmt: skip
    elif handlers and handlers[0][1].type in (SINGLE_HANDLER, "data-parallel-profile-handler") and len(profiles) > 1:
        title = f"{handlers[0][1].type} takes one profile, and there are {len(profiles)}"
        yield Fault("RTR008", ("plugins", handlers[0][0]), title, "keep one profile, or use disagg-profile-handler")
