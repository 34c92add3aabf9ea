"""Prefill and decode in a config: the profiles that the handler asks for, and whether it ever splits a request.

Source: llm-d-router pkg/epp/framework/plugins/scheduling/profilehandler/disagg.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmdctl.findings import Path
from llmdctl.manifest.typed import nearest
from llmdctl.router.config import Plugin, RouterConfig
from llmdctl.router.fault import Fault

HANDLER = "disagg-profile-handler"
_KNOWS_PREFILL = frozenset(
    {
        "no-hit-lru-scorer", "approx-prefix-cache-producer", "precise-prefix-cache-producer", "inflight-load-producer",
        "predicted-latency-producer",
    }
)  # fmt: skip
"""Types that look for a profile called prefill, whatever the handler's is called."""
_FLAT = {"decode": "decodeProfile", "prefill": "prefillProfile", "encode": "encodeProfile"}
_FLAT_DECIDERS = {"prefill": ("prefillDeciderPluginName", "deciderPluginName"), "encode": ("encodeDeciderPluginName",)}


def profile_name(plugin: Plugin, stage: str) -> str:
    """The profile that the handler runs for a stage."""
    parameters = plugin.parameters or {}
    nested = parameters.get("profiles")
    name = nested.get(stage) if isinstance(nested, dict) else None
    return _text(name) or _text(parameters.get(_FLAT[stage])) or stage


def decider_name(plugin: Plugin, stage: str) -> str:
    """The decider of a stage, or "" when that stage never runs."""
    parameters = plugin.parameters or {}
    nested = parameters.get("deciders")
    name = nested.get(stage) if isinstance(nested, dict) else None
    return _text(name) or next((_text(parameters.get(key)) for key in _FLAT_DECIDERS[stage] if parameters.get(key)), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _runs_prefill_first(plugin: Plugin) -> bool:
    order = _text((plugin.parameters or {}).get("stageOrder"))
    return order.replace("-", "").replace("_", "").lower() in ("prefillfirst", "prefill")


def check_staging(config: RouterConfig) -> Iterator[Fault]:
    """What the handlers of several profiles ask for."""
    profiles = [profile.name for profile in config.scheduling_profiles or []]
    for index, plugin in enumerate(config.plugins):
        at: Path = ("plugins", index, "parameters")
        if plugin.type == HANDLER:
            yield from _check_disaggregation(config, plugin, profiles, at)
        if plugin.type == "header-profile-handler" and len(profiles) > 1:
            wanted = _text((plugin.parameters or {}).get("defaultProfile")) or "decode"
            if wanted not in profiles:
                yield _no_profile(at, "defaultProfile", wanted, profiles)
        if plugin.type == "prefix-based-pd-decider" and not (plugin.parameters or {}).get("nonCachedTokens"):
            title = "nonCachedTokens 0 means that no request is ever sent to a prefill server"
            yield Fault("RTR016", at, title, "give the number of uncached tokens from which on prefill is worth it")


def _check_disaggregation(config: RouterConfig, plugin: Plugin, profiles: list[str], at: Path) -> Iterator[Fault]:
    decode = profile_name(plugin, "decode")
    if decode not in profiles:
        yield _no_profile(at, "profiles.decode", decode, profiles)
    for stage in ("prefill", "encode"):
        name, decider = profile_name(plugin, stage), decider_name(plugin, stage)
        always = stage == "prefill" and _runs_prefill_first(plugin)
        if (decider or always) and name not in profiles:
            yield _no_profile(at, f"profiles.{stage}", name, profiles)
        elif name in profiles and not decider and not always:
            title = f"profile {name} is never run: the handler has no decider for {stage}"
            yield Fault("RTR016", at, title, f"name a decider in deciders.{stage}, such as always-disagg-pd-decider")
    prefill = profile_name(plugin, "prefill")
    if prefill != "prefill" and prefill in profiles:
        bound = sorted({item.type for item in config.plugins if item.type in _KNOWS_PREFILL})
        if bound:
            title = f"the prefill profile is called {prefill}, and {', '.join(bound)} look for one called prefill"
            yield Fault("RTR030", at, title, "call the profile prefill")


def _no_profile(at: Path, key: str, wanted: str, profiles: list[str]) -> Fault:
    close = nearest(wanted, profiles)
    fix = f"did you mean {close}?" if close else f"declared: {', '.join(profiles) or 'none'}"
    return Fault("RTR015", at, f"{key} is {wanted}, and no profile is called so: every request fails", fix)
