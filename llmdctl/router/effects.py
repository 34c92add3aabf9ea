"""What the loader takes and that then does nothing, something else, or something at random.

Source: llm-d-router pkg/epp/config/loader/defaults.go, pkg/epp/handlers/parsers and the plugins' factories.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from llmdctl.findings import Path
from llmdctl.router.config import RouterConfig
from llmdctl.router.effective import has_facet, kind_of
from llmdctl.router.fault import Fault
from llmdctl.router.plugins import PROFILE_FACETS
from llmdctl.router.references import gate_is_on, references


def check_entries(config: RouterConfig) -> Iterator[Fault]:
    """Entries of profiles: those without effect, odd weights, repetitions, pickers left to chance."""
    pickers = [plugin.instance for plugin in config.plugins if has_facet(plugin, "picker")]
    for index, profile in enumerate(config.scheduling_profiles or []):
        at: Path = ("schedulingProfiles", index)
        seen: Counter[str] = Counter()
        for inner, entry in enumerate(profile.plugins):
            here: Path = (*at, "plugins", inner)
            plugin = config.plugin(entry.plugin_ref)
            seen[entry.plugin_ref] += 1
            if plugin is not None and has_facet(plugin, *PROFILE_FACETS) is False:
                title = f"{entry.plugin_ref} in profile {profile.name} has no effect: it is no filter, scorer or picker"
                yield Fault("RTR020", here, title, "remove the entry: declaring the plugin is enough")
            if seen[entry.plugin_ref] == 2:
                title = f"{entry.plugin_ref} stands twice in profile {profile.name}: it counts twice"
                yield Fault("RTR021", here, title, "keep one, with the weight that you mean")
            if entry.weight is None:
                continue
            if plugin is not None and has_facet(plugin, "scorer") is False:
                title = f"the weight of {entry.plugin_ref} does nothing: it is no scorer"
                yield Fault("RTR021", (*here, "weight"), title, "remove the weight")
            elif not math.isfinite(entry.weight) or entry.weight <= 0:
                effect = "turns the score round" if entry.weight < 0 else "switches the scorer off"
                title = f"a weight of {entry.weight:g} {effect}"
                yield Fault("RTR021", (*here, "weight"), title, "use a weight above 0, or remove the entry")
        if len(pickers) > 1 and not any(entry.plugin_ref in pickers for entry in profile.plugins):
            title = (
                f"profile {profile.name} names no picker: one of {', '.join(pickers)} is taken at random at each start"
            )
            yield Fault("RTR022", at, title, "name the picker in the profile")
    filters = [plugin.instance for plugin in config.plugins if has_facet(plugin, "filter")]
    if not config.scheduling_profiles and len(filters) > 1:
        title = f"no profile is given: {', '.join(filters)} run in an order that differs from start to start"
        yield Fault("RTR022", ("plugins",), title, "give schedulingProfiles with the order that you mean")


def check_unused(config: RouterConfig) -> Iterator[Fault]:
    """Filters, scorers, pickers and detectors that nothing refers to."""
    if not config.scheduling_profiles:
        return
    used = {entry.plugin_ref for profile in config.scheduling_profiles for entry in profile.plugins}
    used |= {name for _, name, _, _ in references(config)}
    pickers = {plugin.instance for plugin in config.plugins if has_facet(plugin, "picker")}
    # Where a profile names no picker, the loader takes any.
    left_to_chance = any(
        not pickers & {entry.plugin_ref for entry in profile.plugins} for profile in config.scheduling_profiles
    )
    for index, plugin in enumerate(config.plugins):
        kind = kind_of(plugin)
        if kind is None or plugin.instance in used:
            continue
        if "picker" in kind.facets and left_to_chance:
            continue
        only = kind.facets <= {"filter", "scorer", "picker", "detector"}
        members = any(
            plugin.instance in str((item.parameters or {}).get("detectors"))
            for item in config.plugins
            if item.type == "max-saturation-detector"
        )
        if only and not members:
            yield Fault("RTR024", ("plugins", index), f"{plugin.instance} is declared and never used", "remove it")


def check_parsers(config: RouterConfig) -> Iterator[Fault]:
    """Parsers that are dropped."""
    handler = config.request_handler
    types: set[str] = set()
    catch_all = ""
    for index, ref in enumerate(handler.parsers or [] if handler else []):
        at: Path = ("requestHandler", "parsers", index)
        plugin = config.plugin(ref.plugin_ref)
        kind = plugin.type if plugin is not None else ref.plugin_ref
        if catch_all:
            yield Fault("RTR025", at, f"{ref.plugin_ref} is never asked: {catch_all} before it takes every request")
        elif kind in types:
            yield Fault("RTR025", at, f"a second {kind} is dropped", "keep one")
        types.add(kind)
        if kind == "passthrough-parser":
            catch_all = ref.plugin_ref


def check_values(config: RouterConfig) -> Iterator[Fault]:
    """Values that are replaced in silence, plugins that stop the process, settings without effect."""
    fairness = [index for index, plugin in enumerate(config.plugins) if plugin.type == "program-aware-fairness"]
    if len(fairness) > 1:
        title = "two instances of program-aware-fairness register the same metrics, and the process stops"
        yield Fault("RTR031", ("plugins", fairness[1]), title, "keep one")
    for index, plugin in enumerate(config.plugins):
        parameters = plugin.parameters or {}
        at: Path = ("plugins", index, "parameters")
        if plugin.type == "request-attribute-reporter" and plugin.parameters is None:
            title = "request-attribute-reporter without parameters stops the process"
            yield Fault("RTR031", ("plugins", index), title, "give its attributes")
        strategy = parameters.get("headroomSelectionStrategy")
        if plugin.type == "latency-scorer" and strategy not in (None, "", "least", "most"):
            title = f"headroomSelectionStrategy {strategy!r} is taken for least"
            yield Fault("RTR026", (*at, "headroomSelectionStrategy"), title, "write least or most")
        score = parameters.get("maxBusyScore")
        if plugin.type == "active-request-scorer" and isinstance(score, int | float) and not 0 <= score <= 1:
            yield Fault("RTR026", (*at, "maxBusyScore"), f"maxBusyScore {score:g} is outside 0 to 1 and is not used")
        if plugin.type == "edf-ordering-policy" and gate_is_on(config, "flowControl"):
            title = "edf-ordering-policy orders as first come, first served: all requests have the same time to live"
            yield Fault("RTR033", ("plugins", index), title, "use fcfs-ordering-policy or slo-deadline-ordering-policy")
