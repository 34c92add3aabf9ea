"""PFX: precise prefix-cache routing, from the engines' KV events to the index in the router."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from llmdctl.findings import Check, Hit, Outcome, Rule, Severity, Skip
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.routed import engines_of, part, plugins_of, routed
from llmdctl.view import EngineCommand, PodTemplate, View
from llmdctl.view.engine import SGLANG, VLLM
from llmdctl.view.picker_config import PickerConfig

PRECISE = "precise-prefix-cache-producer"
DEFAULT_BLOCK = 16
DEFAULT_SOCKET = 5557
DEFAULT_TOPIC = "kv@"
_ENDPOINT = re.compile(r"tcp://([^:/]+|\[[^\]]*\]):(\d+)")
_SCALE_OUT_SINCE = (0, 30)


def _precise(view: View) -> Iterator[tuple[PickerConfig, int, dict[str, Any], list[tuple[PodTemplate, EngineCommand]]]]:
    for config, _, templates in routed(view):
        for index, plugin in plugins_of(config, PRECISE):
            yield config, index, plugin.parameters or {}, list(engines_of(templates))


def check_block_size(view: View) -> Iterator[Outcome]:
    """PFX001: the index cuts prompts into other blocks than the engine."""
    for config, index, parameters, engines in _precise(view):
        tokens = part(parameters, "tokenProcessorConfig")
        size = part(tokens, "blockSizeTokens") or part(tokens, "blockSize") or DEFAULT_BLOCK
        path = ("plugins", index, "parameters", "tokenProcessorConfig", "blockSizeTokens")
        for template, engine in engines:
            own = engine.block_size
            flag = "page-size" if engine.engine == SGLANG else "block-size"
            if engine.engine not in (VLLM, SGLANG) or not isinstance(size, int):
                continue
            if own is None:
                if engine.is_unknown(flag) or engine.option(flag) is None:
                    yield Skip(
                        f"the engine's --{flag} is not given, and its default depends on the model", engine.place
                    )
                continue
            # An engine's block may hold several of the index's; the other way round nothing matches.
            if own % size:
                yield Hit(
                    config.at(path),
                    f"the index cuts prompts into blocks of {size} tokens, {template.workload.title} into {own}",
                    evidence=(seen(f"--{flag} is {own}", engine.place_of(flag)),),
                    fix=f"set blockSizeTokens: {own}",
                )


def _events(engine: EngineCommand) -> Any:
    return engine.json_option("kv-events-config")


def _port(endpoint: Any) -> tuple[str, int] | None:
    found = _ENDPOINT.fullmatch(endpoint) if isinstance(endpoint, str) else None
    return (found[1], int(found[2])) if found else None


def check_events(view: View) -> Iterator[Outcome]:
    """PFX006: engines behind a precise index that publish no KV events."""
    for config, index, _, engines in _precise(view):
        for template, engine in engines:
            if engine.engine not in (VLLM, SGLANG) or engine.is_open:
                continue
            events = _events(engine)
            place = engine.place_of("kv-events-config")
            told = (seen("the index reads KV events", config.at(("plugins", index))),)
            if engine.option("kv-events-config") is None:
                yield Hit(place, f"{template.lead}the engine publishes no KV events", evidence=told,
                          fix="give --kv-events-config with publisher zmq, endpoint and topic")  # fmt: skip
            elif (
                isinstance(events, dict) and engine.engine == VLLM and events.get("enable_kv_cache_events") is not True
            ):
                yield Hit(place, f"{template.lead}the engine's KV events are configured and not enabled", evidence=told,
                          fix='add "enable_kv_cache_events": true')  # fmt: skip
            elif isinstance(events, dict) and engine.engine == SGLANG and "enable_kv_cache_events" in events:
                yield Hit(place, f"{template.lead}SGLang refuses enable_kv_cache_events", evidence=told,
                          fix="remove the key: a publisher is enough")  # fmt: skip


def check_socket(view: View) -> Iterator[Outcome]:
    """PFX002, PFX003: the picker dials another port than the engines bind, or they bind none."""
    for config, index, parameters, engines in _precise(view):
        events = part(parameters, "kvEventsConfig")
        discovers = part(events, "discoverPods") is not False
        wanted = part(events, "podDiscoveryConfig", "socketPort") or DEFAULT_SOCKET
        path = ("plugins", index, "parameters", "kvEventsConfig", "podDiscoveryConfig", "socketPort")
        for template, engine in engines:
            bound = _port(part(_events(engine), "endpoint"))
            if bound is None or not discovers:
                continue
            place = engine.place_of("kv-events-config")
            if bound[1] != wanted and (engine.data_parallel or 1) == 1:
                yield Hit(
                    config.at(path),
                    f"the picker reads KV events at port {wanted}, {template.workload.title} publishes at {bound[1]}",
                    evidence=(seen(f"endpoint is port {bound[1]}", place),),
                    fix=f"set socketPort: {bound[1]}",
                )


def check_bind(view: View) -> Iterator[Outcome]:
    """PFX003: an engine connects where the picker expects it to listen, or the other way round."""
    for config, index, parameters, engines in _precise(view):
        discovers = part(parameters, "kvEventsConfig", "discoverPods") is not False
        for template, engine in engines:
            bound = _port(part(_events(engine), "endpoint"))
            if bound is None:
                continue
            listens = bound[0] in ("*", "[::]") or bound[0].startswith("0.")
            if listens is not discovers:
                title = (
                    f"{template.lead}the engine sends KV events to {bound[0]}, and the picker dials the pods"
                    if discovers
                    else f"{template.lead}the engine waits for subscribers, and the picker waits for engines"
                )
                yield Hit(
                    engine.place_of("kv-events-config"), title,
                    evidence=(seen(f"discoverPods is {str(discovers).lower()}", config.at(("plugins", index))),),
                    fix=f"use tcp://*:{bound[1]}" if discovers else "give the picker's address as endpoint",
                )  # fmt: skip


def check_topic(view: View) -> Iterator[Outcome]:
    """PFX004: events under a topic that the index drops or files under another endpoint."""
    for config, index, parameters, engines in _precise(view):
        wanted = part(parameters, "kvEventsConfig", "topicFilter") or DEFAULT_TOPIC
        for template, engine in engines:
            topic = part(_events(engine), "topic")
            if not isinstance(topic, str) or not isinstance(wanted, str):
                continue
            place = engine.place_of("kv-events-config")
            told = (seen(f"the picker reads topics that begin with {wanted}", config.at(("plugins", index))),)
            parts = topic.split("@")
            if not topic.startswith(wanted):
                yield Hit(place, f"{template.lead}the topic {topic} does not begin with {wanted}", evidence=told,
                          fix=f"use {wanted}$(POD_IP):PORT@MODEL")  # fmt: skip
            elif len(parts) < 3:
                yield Hit(place, f"{template.lead}the topic {topic} names no endpoint and model", evidence=told,
                          fix=f"use {wanted}$(POD_IP):PORT@MODEL")  # fmt: skip
            else:
                yield from _check_endpoint(template, engine, parts[1])


def _check_endpoint(template: PodTemplate, engine: EngineCommand, endpoint: str) -> Iterator[Outcome]:
    port = endpoint.rpartition(":")[2]
    ports = engine.http_ports
    if template.sidecar is not None and template.sidecar.listens is not None:
        ports = template.sidecar.listens
    if port.isdigit() and ports is not None and int(port) not in ports and ports.count == 1:
        yield Hit(
            engine.place_of("kv-events-config"),
            f"{template.lead}the topic names port {port}, requests reach this pod at {ports}",
            fix=f"write port {ports.first} into the topic",
        )


def check_models(view: View) -> Iterator[Outcome]:
    """PFX005: one of engine, topic and token producer names another model."""
    for config, _, templates in routed(view):
        if not any(plugins_of(config, PRECISE)):
            continue
        for index, plugin in plugins_of(config, "token-producer"):
            name = (plugin.parameters or {}).get("modelName")
            path = ("plugins", index, "parameters", "modelName")
            for template, engine in engines_of(templates):
                served = _served(engine)
                if isinstance(name, str) and name and served and name not in served:
                    shown = " or ".join(served)
                    yield Hit(
                        config.at(path), f"prompts are tokenised for {name}, {template.workload.title} serves {shown}",
                        evidence=(seen(f"it serves {shown}", engine.place_of("served-model-name")),),
                        fix=f"set modelName: {served[0]}",
                    )  # fmt: skip
                topic = part(_events(engine), "topic")
                model = topic.split("@", 2)[2] if isinstance(topic, str) and topic.count("@") >= 2 else ""
                if model and "$" not in model and served and model not in served:
                    yield Hit(
                        engine.place_of("kv-events-config"),
                        f"{template.lead}the topic names the model {model}, the engine serves {' or '.join(served)}",
                        fix=f"write {served[0]} into the topic",
                    )  # fmt: skip


def _served(engine: EngineCommand) -> list[str]:
    """The names that an engine answers to; empty when they aren't known."""
    if engine.is_unknown("served-model-name"):
        return []
    option = engine.option("served-model-name")
    if option is not None:
        return [word for word in option.values if isinstance(word, str)]
    return [engine.model] if engine.model and not engine.model.startswith("/") else []


_IN_CLUSTER = re.compile(r"https?://([a-z0-9-]+)(?:\.([a-z0-9-]+)(?:\.svc(?:\.[a-z0-9.-]+)?)?)?(?=[:/]|$)")
"""The URL of a Service: name, namespace. A name of more parts that does not go on with `svc` is none of a Service."""


def check_rendering(view: View) -> Iterator[Outcome]:
    """PFX007: prompts are tokenised by engines that don't offer it, or by a Service that selects nobody."""
    for config, _, _ in routed(view):
        for index, plugin in plugins_of(config, "token-producer"):
            url = part(plugin.parameters or {}, "vllm", "url")
            host = _IN_CLUSTER.match(url) if isinstance(url, str) else None
            if host is None or host[1] in ("localhost",) or not view.services:
                continue
            place = config.at(("plugins", index, "parameters", "vllm", "url"))
            where = host[2] or config.node.document.ref.namespace
            service = next(iter(view.services_by_name.named(host[1], where)), None)
            if service is None:
                if view.is_whole(where):
                    yield Hit(place, f"prompts are tokenised by Service {host[1]}, which does not exist",
                              fix="name the Service of the render pods")  # fmt: skip
                continue
            pods = list(view.selected(service.selector, service.document)) if service.selector else []
            if service.selector and not pods and view.is_whole(where):
                yield Hit(place, f"Service {host[1]} selects no pods", fix="select the pods that tokenise")
            for template, engine in engines_of(pods):
                yield from _check_scale_out(template, engine)


def _check_scale_out(template: PodTemplate, engine: EngineCommand) -> Iterator[Outcome]:
    if engine.engine != VLLM or engine.is_open or "render" in engine.parsed.positionals[:1]:
        return
    if engine.version is None:
        yield Skip("the engine's version is unknown, and with it whether --enable-scale-out is needed", engine.place)
        return
    by_env = engine.container.env_text("VLLM_ENABLE_SCALE_OUT_ENDPOINTS") in ("1", "true")
    offers = by_env or engine.is_set("enable-scale-out")
    if not offers and engine.version.at_least(*_SCALE_OUT_SINCE):
        yield Hit(
            engine.place,
            f"{template.lead}the picker asks this engine to tokenise, and it does not offer that",
            fix="give the engine --enable-scale-out",
        )


def check_caching(view: View) -> Iterator[Outcome]:
    """PFX012: an index of caches that are switched off."""
    for config, index, _, engines in _precise(view):
        for template, engine in engines:
            off = engine.engine == VLLM and engine.parsed.get_bool("enable-prefix-caching", default=True) is False
            if off or (engine.engine == SGLANG and engine.is_set("disable-radix-cache")):
                flag = "enable-prefix-caching" if engine.engine == VLLM else "disable-radix-cache"
                yield Hit(
                    engine.place_of(flag), f"{template.lead}prefix caching is off: the index has nothing to find",
                    evidence=(seen("the index is configured", config.at(("plugins", index))),),
                    fix="switch prefix caching on",
                )  # fmt: skip


def check_capacity(view: View) -> Iterator[Outcome]:
    """PFX014: an index that keeps fewer holders of a block than there are."""
    for config, index, parameters, engines in _precise(view):
        memory = part(parameters, "indexerConfig", "kvBlockIndexConfig", "inMemoryConfig")
        size = part(memory, "podCacheSize")
        size = size if isinstance(size, int) else 10
        replicas = [template.workload.replicas for template, _ in engines]
        if any(count is None for count in replicas):
            continue
        holders = sum(
            (count or 0) * (engine.local_data_parallel or 1)
            for count, (_, engine) in zip(replicas, engines, strict=True)
        )
        if holders > size:
            path = ("plugins", index, "parameters", "indexerConfig", "kvBlockIndexConfig")
            yield Hit(
                config.at(path), f"{holders} endpoints may hold a block, and the index keeps {size} of them",
                fix=f"set inMemoryConfig.podCacheSize: {2 * holders}",
            )  # fmt: skip


def check_replay(view: View) -> Iterator[Outcome]:
    """PFX015: the picker asks for replays that no engine offers."""
    for config, index, parameters, engines in _precise(view):
        port = part(parameters, "kvEventsConfig", "podDiscoveryConfig", "replaySocketPort")
        for template, engine in engines:
            if port and isinstance(_events(engine), dict) and not part(_events(engine), "replay_endpoint"):
                path = ("plugins", index, "parameters", "kvEventsConfig", "podDiscoveryConfig", "replaySocketPort")
                yield Hit(
                    config.at(path), f"the picker asks {template.workload.title} for replays at {port}, where none are",
                    fix="remove replaySocketPort, or give the engines a replay_endpoint",
                )  # fmt: skip


_SILENT = "every look-up in the index misses, requests fall back to load alone, and nothing says so"
_KV = "llm-d-router docs kv-indexer.md"
_EVENTS = "llm-d guides/precise-prefix-cache-routing"


def _rule(code: str, title: str, why: str, fix: str, check: Check, *references: str, warning: bool = False) -> Rule:
    severity = Severity.WARNING if warning else Severity.ERROR
    return Rule(
        code, severity, title, why, fix, references, needs=frozenset({"configs", "pools", "engines"}), check=check
    )


PFX_RULES: Iterable[Rule] = (
    _rule(
        "PFX001", "the index's block size does not fit the engine's",
        "blocks are found by hashes of their tokens: blocks of another length have other hashes, and " + _SILENT,
        "set blockSizeTokens to the engine's --block-size (SGLang: --page-size)", check_block_size, _KV,
        "llm-d-router pkg/kvevents/pool.go",
    ),
    _rule(
        "PFX002", "the picker reads KV events at another port than the engines publish at",
        "the subscriber dials a closed port again and again, and the index stays empty",
        "make socketPort the port of endpoint",
        check_socket, _KV,
    ),
    _rule(
        "PFX003", "engine and picker both dial, or both wait", "no connection comes about, and the index stays empty",
        "let engines bind tcp://*:PORT and the picker discover pods", check_bind, _KV,
    ),
    _rule(
        "PFX004", "KV events have a topic that the index cannot use",
        "the index takes the endpoint and the model from the topic: others are dropped, or filed where no request goes",
        "use kv@$(POD_IP):PORT@MODEL, with the pool's target port", check_topic, _EVENTS,
    ),
    _rule(
        "PFX005", "engine, topic and token producer speak of different models",
        "tokens of another model, or events under another name: " + _SILENT, "use the served name in all three",
        check_models, _EVENTS,
    ),
    _rule(
        "PFX006", "engines behind a precise index publish no KV events", _SILENT,
        "enable KV events with a zmq publisher", check_events, _EVENTS,
    ),
    _rule(
        "PFX007", "prompts are tokenised by something that cannot",
        "the call fails with 404 or does not arrive, the request is routed by load alone, and still answers 200",
        "point vllm.url at a Service of engines that offer tokenising", check_rendering, _EVENTS,
    ),
    _rule(
        "PFX012", "prefix caching is off behind a prefix index",
        "engines keep no blocks between requests: nothing can match",
        "switch prefix caching on, or route without the index", check_caching, _EVENTS,
    ),
    _rule(
        "PFX014", "the index keeps fewer holders of a block than there are endpoints",
        "holders push each other out, and affinity drops to none under load", "raise podCacheSize", check_capacity, _KV,
        warning=True,
    ),
    _rule(
        "PFX015", "the picker asks for replays that no engine offers", "it connects in vain again and again",
        "remove replaySocketPort", check_replay, _KV, warning=True,
    ),
)  # fmt: skip
