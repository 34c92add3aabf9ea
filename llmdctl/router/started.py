"""What a router of a version runs with a config: the effective config, and what is worth knowing of it."""

from __future__ import annotations

from dataclasses import replace

from llmdctl.findings.versions import Version
from llmdctl.router.config import V1_SINCE, RouterConfig
from llmdctl.router.effective import DEFAULT_PARSERS, Effective, effective
from llmdctl.router.lint import experimental


def started(config: RouterConfig, version: Version | None) -> Effective:
    """The config after defaulting, as that version does it; an unknown version is taken for the newest."""
    new = version is None or version.at_least(*V1_SINCE)
    parsers = DEFAULT_PARSERS if new else DEFAULT_PARSERS[:3]
    found = effective(config, uncached_by_default=new, default_parsers=parsers)
    notes = list(found.notes)
    flow = found.config.flow_control
    detector = flow.saturation_detector.plugin_ref if flow and flow.saturation_detector else ""
    if new and config.scheduling_profiles and detector:
        notes.append(f"{detector} also filters in every profile; at which place is not known, so it is not listed")
    alpha = experimental(found.config)
    if alpha:
        notes.append(f"needs --allow-experimental-plugins: {', '.join(alpha)}")
    return replace(found, notes=tuple(notes))
