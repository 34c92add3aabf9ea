"""Parameters of plugins: names, types, bounds. Unknown ones are refused by the plugins' own strict reading.

Source: the factories of llm-d-router pkg/epp/framework/plugins; keys are read by encoding/json, whatever their case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llmdctl.findings import Path
from llmdctl.manifest.typed import nearest
from llmdctl.router.config import Plugin, RouterConfig
from llmdctl.router.effective import kind_of
from llmdctl.router.fault import Fault
from llmdctl.router.plugins import Parameter

_DURATION = re.compile(r"[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+")

_PRECISE: Mapping[str, Mapping[str, Parameter]] = {
    "tokenProcessorConfig": {
        "blockSizeTokens": Parameter("int", above=0), "blockSize": Parameter("int", old="blockSizeTokens"),
        "hashSeed": Parameter("any"), "hashAlgorithm": Parameter("str", choices=("cbor-fnv", "xxh64")),
    },
    "indexerConfig": {
        "kvBlockIndexConfig": Parameter("map"), "kvCacheBackendConfigs": Parameter("list"),
        "tokenizersPoolConfig": Parameter("gone", old="configure token-producer"),
        "tokenProcessorConfig": Parameter("map"),
    },
    "kvEventsConfig": {
        "zmqEndpoint": Parameter("str"), "topicFilter": Parameter("str"), "concurrency": Parameter("int"),
        "engineType": Parameter("str", choices=("vllm", "sglang")), "discoverPods": Parameter("bool"),
        "podDiscoveryConfig": Parameter("map"),
    },
}  # fmt: skip
_NESTED: Mapping[tuple[str, str], Mapping[str, Parameter]] = {
    **{("precise-prefix-cache-producer", key): value for key, value in _PRECISE.items()},
    ("disagg-profile-handler", "profiles"): {key: Parameter("str") for key in ("decode", "prefill", "encode")},
    ("disagg-profile-handler", "deciders"): {key: Parameter("str") for key in ("prefill", "encode")},
    ("token-producer", "vllm"): {
        "url": Parameter("str"), "timeout": Parameter("duration"), "mmTimeout": Parameter("duration"),
    },
}  # fmt: skip
_DEEPER: Mapping[tuple[str, str, str], Mapping[str, Parameter]] = {
    ("precise-prefix-cache-producer", "kvEventsConfig", "podDiscoveryConfig"): {
        "podLabelSelector": Parameter("str"), "podNamespace": Parameter("str"),
        "socketPort": Parameter("int", 1, 65535), "replaySocketPort": Parameter("int", 1, 65535),
    },
    ("precise-prefix-cache-producer", "indexerConfig", "kvBlockIndexConfig"): {
        "inMemoryConfig": Parameter("map"), "redisConfig": Parameter("map"), "costAwareMemoryConfig": Parameter("map"),
        "enableMetrics": Parameter("bool"), "metricsLoggingInterval": Parameter("nanoseconds"),
    },
}  # fmt: skip


def check_parameters(config: RouterConfig) -> Iterator[Fault]:
    """Every parameter of every plugin whose parameters are known."""
    for index, plugin in enumerate(config.plugins):
        kind = kind_of(plugin)
        if kind is None or kind.parameters is None:
            continue
        at: Path = ("plugins", index, "parameters")
        given = plugin.parameters or {}
        if plugin.type == "request-attribute-reporter" and plugin.parameters is None:
            continue  # That is worse than a missing parameter: effects.py tells.
        if kind.ignores:
            if given:
                title = f"{plugin.type} takes no notice of its parameters ({', '.join(map(str, given))})"
                yield Fault("RTR023", at, title, "remove them")
            continue
        yield from _check_map(plugin.type, given, kind.parameters, at)
        for (name, key), known in _NESTED.items():
            inner = given.get(key)
            if name == plugin.type and isinstance(inner, Mapping):
                yield from _check_map(f"{plugin.type}.{key}", inner, known, (*at, key))
                for (owner, outer, last), deeper in _DEEPER.items():
                    if (owner, outer) == (name, key) and isinstance(inner.get(last), Mapping):
                        yield from _check_map(f"{plugin.type}.{outer}.{last}", inner[last], deeper, (*at, outer, last))
        yield from _check_together(plugin, at)


def _check_map(owner: str, given: Mapping[Any, Any], known: Mapping[str, Parameter], at: Path) -> Iterator[Fault]:
    lower = {name.lower(): name for name in known}
    for key, value in given.items():
        name = str(key)
        parameter = known.get(name)
        if parameter is None and name.lower() in lower:
            right = lower[name.lower()]
            yield Fault("RTR032", (*at, name), f"{owner} spells this parameter {right}", f"write {right}")
            parameter = known[right]
        if parameter is None:
            close = nearest(name, sorted(known))
            hint = f"did you mean {close}?" if close else f"known: {', '.join(sorted(known)) or 'none'}"
            yield Fault("RTR009", (*at, name), f"{owner} has no parameter {name}", hint)
            continue
        yield from _check_value(owner, name, value, parameter, (*at, name))
    for name, parameter in known.items():
        if parameter.required and name.lower() not in {str(key).lower() for key in given}:
            yield Fault("RTR009", at, f"{owner} needs the parameter {name}", f"give {name}")


def _check_value(owner: str, name: str, value: Any, parameter: Parameter, at: Path) -> Iterator[Fault]:
    if parameter.kind == "gone":
        yield Fault("RTR009", at, f"{owner} refuses {name}", parameter.old)
        return
    if parameter.old:
        yield Fault("RTR010", at, f"{name} of {owner} is deprecated", f"write {parameter.old}")
    if value is None or parameter.kind == "any":
        return
    if parameter.kind == "nanoseconds":
        yield from _check_nanoseconds(owner, name, value, at)
        return
    test, words = _TYPES[parameter.kind]
    if not test(value):
        yield Fault("RTR009", at, f"{name} of {owner} must be {words}, not {value!r}", f"write {words}")
    elif parameter.choices and value not in parameter.choices:
        close = nearest(str(value), parameter.choices)
        hint = f"did you mean {close}?" if close else f"one of {', '.join(parameter.choices)}"
        yield Fault("RTR009", at, f"{name} of {owner} can't be {value!r}", hint)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _check_bounds(owner, name, value, parameter, at)


def _check_bounds(owner: str, name: str, value: float, parameter: Parameter, at: Path) -> Iterator[Fault]:
    limits = []
    if parameter.above is not None and not value > parameter.above:
        limits.append(f"above {parameter.above:g}")
    if parameter.least is not None and value < parameter.least:
        limits.append(f"at least {parameter.least:g}")
    if parameter.most is not None and value > parameter.most:
        limits.append(f"at most {parameter.most:g}")
    if limits or (isinstance(value, float) and not math.isfinite(value)):
        words = " and ".join(limits) or "a finite number"
        yield Fault("RTR009", at, f"{name} of {owner} must be {words}, and is {value:g}")


def _check_nanoseconds(owner: str, name: str, value: Any, at: Path) -> Iterator[Fault]:
    if isinstance(value, bool) or not isinstance(value, int):
        title = f"{name} of {owner} is a number of nanoseconds, not {value!r}"
        yield Fault("RTR029", at, title, "write it in nanoseconds, as 300000000000 for five minutes")
    elif 0 < value < 1_000_000:
        title = f"{name} of {owner} is in nanoseconds: {value} is less than a millisecond"
        yield Fault("RTR029", at, title, "write it in nanoseconds, as 300000000000 for five minutes")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "int": (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    "number": (_is_number, "a number"),
    "str": (lambda value: isinstance(value, str), "a string"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "list": (lambda value: isinstance(value, list), "a list"),
    "map": (lambda value: isinstance(value, dict), "a map"),
    "duration": (lambda value: isinstance(value, str) and bool(_DURATION.fullmatch(value)), "a duration such as 200ms"),
}


def _check_together(plugin: Plugin, at: Path) -> Iterator[Fault]:
    """Parameters that exclude or need each other."""
    given = plugin.parameters or {}
    if plugin.type == "approx-prefix-cache-producer" and given.get("autoTune") is False:
        size = given.get("blockSizeTokens", 16)
        if isinstance(size, int) and size <= 0:
            yield Fault("RTR009", (*at, "blockSizeTokens"), "blockSizeTokens must be above 0 when autoTune is false")
    if plugin.type == "token-producer":
        backends = [key for key in ("vllm", "estimate", "udsTokenizerConfig") if given.get(key) is not None]
        if len(backends) > 1:
            yield Fault("RTR009", at, f"token-producer takes one backend, not {' and '.join(backends)}", "keep one")
        if backends and backends[0] != "estimate" and not given.get("modelName"):
            yield Fault(
                "RTR009", at, f"token-producer with {backends[0]} needs modelName", "give the served model's name"
            )
    if plugin.type == "session-id-producer" and bool(given.get("headerName")) == bool(given.get("cookieName")):
        yield Fault("RTR009", at, "session-id-producer takes either headerName or cookieName", "give one of them")
    if bool(given.get("clientCertPath")) != bool(given.get("clientKeyPath")):
        yield Fault("RTR009", at, "clientCertPath and clientKeyPath belong together", "give both or neither")
    flat = sorted(set(given) & _FLAT)
    if plugin.type == "disagg-profile-handler" and flat and ("profiles" in given or "deciders" in given):
        title = f"{', '.join(flat)} can't stand beside profiles and deciders"
        yield Fault("RTR009", at, title, "keep profiles and deciders")
    if plugin.type == "disagg-profile-handler" and _order(given.get("stageOrder")) == "prefillfirst":
        deciders = given.get("deciders")
        if isinstance(deciders, dict) and deciders.get("prefill"):
            title = "stageOrder prefill-first runs every prefill: a prefill decider is refused"
            yield Fault("RTR009", (*at, "deciders", "prefill"), title, "remove the decider, or use decode-first")


_FLAT = frozenset(
    {
        "decodeProfile", "prefillProfile", "encodeProfile", "prefillDeciderPluginName", "encodeDeciderPluginName",
        "deciderPluginName",
    }
)  # fmt: skip


def _order(value: Any) -> str:
    return str(value or "").replace("-", "").replace("_", "").lower()
