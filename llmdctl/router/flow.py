"""Flow control: values that are refused, settings that do nothing, and saturation.

Source: llm-d-router pkg/epp/flowcontrol/{registry,controller}/config.go and config/loader/flowcontrol.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llmdctl.findings import Path
from llmdctl.router.config import PriorityBand, RouterConfig
from llmdctl.router.effective import DEFAULT_DETECTOR
from llmdctl.router.fault import Fault
from llmdctl.router.references import gate_is_on

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_DEFAULT_STALENESS = 0.2


def seconds(value: Any) -> float | None:
    """A Go duration in seconds, None for what is none."""
    if not isinstance(value, str):
        return None
    if value == "0":
        return 0.0
    sign, rest = (-1, value[1:]) if value.startswith("-") else (1, value.removeprefix("+"))
    parts = _PART.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        return None
    return sign * sum(float(number) * _UNITS[unit] for number, unit in parts)


def _bands(config: RouterConfig) -> Iterator[tuple[Path, PriorityBand]]:
    flow = config.flow_control
    if flow is None:
        return
    if flow.default_priority_band:
        yield ("flowControl", "defaultPriorityBand"), flow.default_priority_band
    if flow.default_negative_priority_band:
        yield ("flowControl", "defaultNegativePriorityBand"), flow.default_negative_priority_band
    for index, band in enumerate(flow.priority_bands or []):
        yield ("flowControl", "priorityBands", index), band


def check_flow(config: RouterConfig) -> Iterator[Fault]:
    """Values of flow control, and whether it is on at all."""
    flow = config.flow_control
    if flow is None:
        return
    root: Path = ("flowControl",)
    on = gate_is_on(config, "flowControl")
    settings = {
        "maxBytes": flow.max_bytes, "maxRequests": flow.max_requests, "defaultRequestTTL": flow.default_request_ttl,
        "noEndpointRequestTTL": flow.no_endpoint_request_ttl, "defaultPriorityBand": flow.default_priority_band,
        "defaultNegativePriorityBand": flow.default_negative_priority_band, "priorityBands": flow.priority_bands,
        "usageLimitPolicyPluginRef": flow.usage_limit_policy_plugin_ref,
        "bandSelectionPolicyPluginRef": flow.band_selection_policy_plugin_ref,
    }  # fmt: skip
    given = [name for name, value in settings.items() if value is not None]
    if given and not on:
        title = f"{', '.join(given)} of flowControl do nothing: the feature gate is off"
        yield Fault("RTR014", root, title, "add flowControl to featureGates, or remove the settings")
    if flow.enable_eviction and not on:
        yield Fault("RTR033", (*root, "enableEviction"), "nothing is evicted while the feature gate flowControl is off")
    if not on:
        return
    for name in ("defaultRequestTTL", "noEndpointRequestTTL"):
        yield from _not_negative(settings[name], (*root, name))
    for name in ("maxBytes", "maxRequests"):
        yield from _not_negative(settings[name], (*root, name))
    seen: set[int] = set()
    for index, band in enumerate(flow.priority_bands or []):
        priority = band.priority or 0
        if priority in seen:
            yield Fault("RTR012", (*root, "priorityBands", index), f"priority {priority} has two bands", "keep one")
        seen.add(priority)
    for at, band in _bands(config):
        yield from _not_negative(band.default_request_ttl, (*at, "defaultRequestTTL"))
        for key, value, default in (("maxBytes", band.max_bytes, "1 GB"), ("maxRequests", band.max_requests, "5000")):
            yield from _not_negative(value, (*at, key))
            if str(value) == "0":
                title = f"{key} 0 of a band is not unlimited: the router takes {default}"
                yield Fault("RTR026", (*at, key), title, "write the limit that you mean")


def _not_negative(value: Any, at: Path) -> Iterator[Fault]:
    if str(value if value is not None else "").strip().startswith("-"):
        yield Fault("RTR012", at, f"{at[-1]} is negative: {value}", "use 0 or more")


def check_saturation(config: RouterConfig) -> Iterator[Fault]:
    """Metrics that are always too old for the saturation detector, and thresholds that can't be reached."""
    stale = _DEFAULT_STALENESS
    for plugin in config.plugins:
        if plugin.type == DEFAULT_DETECTOR:
            stale = seconds((plugin.parameters or {}).get("metricsStalenessThreshold")) or stale
    for index, plugin in enumerate(config.plugins):
        parameters = plugin.parameters or {}
        at: Path = ("plugins", index, "parameters")
        if plugin.type == "metrics-data-source":
            interval = seconds(parameters.get("interval"))
            uses_detector = (
                config.flow_control is None
                or config.flow_control.saturation_detector is None
                or any(item.type == DEFAULT_DETECTOR for item in config.plugins)
            )
            if interval and interval >= stale and uses_detector:
                title = f"metrics are read every {interval:g} s, and are too old for the detector after {stale:g} s"
                yield Fault(
                    "RTR027", (*at, "interval"), title,
                    "read them more often, or raise metricsStalenessThreshold of utilization-detector",
                )  # fmt: skip
        threshold = parameters.get("threshold")
        if plugin.type == "static-usage-limit-policy" and isinstance(threshold, int | float) and not 0 < threshold <= 1:
            title = f"a usage limit of {threshold:g} is outside 0 to 1"
            yield Fault("RTR026", (*at, "threshold"), title, "use a share above 0 and up to 1")
