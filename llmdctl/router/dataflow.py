"""Who makes the data that plugins need, and whether it is the data that was meant.

Source: llm-d-router pkg/epp/datalayer/{data_graph,runtime}.go and the plugins' Consumes declarations.
"""

from __future__ import annotations

from collections.abc import Iterator

from llmdctl.findings import Path
from llmdctl.router.config import Plugin, RouterConfig
from llmdctl.router.effective import CORE_EXTRACTOR, METRICS_SOURCE, effective, kind_of
from llmdctl.router.fault import Fault
from llmdctl.router.plugins import PREFIX, TOKENS

PRECISE = "precise-prefix-cache-producer"
_CHOOSERS = frozenset(
    {
        "prefix-cache-scorer", "prefix-cache-affinity-filter", "no-hit-lru-scorer", "latency-scorer",
        "inflight-load-producer", "prefix-based-pd-decider", "predicted-latency-producer", "p2p-source-producer",
    }
)  # fmt: skip
"""Types that read prefix matches from the producer that they are told."""


def check_data(config: RouterConfig, *, uncached_by_default: bool | None) -> Iterator[Fault]:
    """Data that nothing makes. `uncached_by_default` is None for an unknown version, and then taken as true."""
    found = effective(config, uncached_by_default=uncached_by_default is not False)
    places = {plugin.instance: index for index, plugin in enumerate(config.plugins)}
    for missing in found.missing:
        at: Path = ("plugins", places[missing.plugin]) if missing.plugin in places else ("plugins",)
        if missing.data == "core metrics":
            title = f"{missing.plugin} needs the engines' metrics, and no {CORE_EXTRACTOR} is declared"
            fix = "declare metrics-data-source and core-metrics-extractor, or leave injectDefaults out"
        else:
            named = f" ({missing.producer})" if missing.producer else ""
            title = f"{missing.plugin} needs {missing.data}, and no producer{named} makes it"
            fix = (
                "declare inflight-load-producer"
                if missing.data == "UncachedRequestTokens"
                else "name a declared producer"
            )
        yield Fault("RTR017", at, title, fix)


def check_tokens(config: RouterConfig) -> Iterator[Fault]:
    """Precise prefix matching on estimated tokens, or beside consumers that ask another producer."""
    precise = [(index, plugin) for index, plugin in enumerate(config.plugins) if plugin.type == PRECISE]
    if not precise:
        return
    index, producer = precise[0]
    makers = [plugin for plugin in config.plugins if (kind := kind_of(plugin)) is None or TOKENS in kind.makes]
    named = next((plugin for plugin in makers if plugin.instance == "token-producer"), None)
    if named is None:
        others = ", ".join(plugin.instance for plugin in makers)
        why = f"{others} has another name" if others else "none is declared"
        title = f"{producer.instance} needs the tokens of token-producer, and {why}: the router adds one that estimates"
        yield Fault(
            "RTR018", ("plugins", index), title, "declare token-producer under that name, with vllm and modelName"
        )
    elif named.type == "token-producer" and not _has_real_tokens(named):
        place = config.plugins.index(named)
        title = "token-producer only estimates, and hashes of estimates match no block of an engine"
        yield Fault("RTR018", ("plugins", place), title, "give it vllm: {url: ...} and modelName")
    yield from _check_choosers(config, producer)


def _has_real_tokens(plugin: Plugin) -> bool:
    parameters = plugin.parameters or {}
    return parameters.get("vllm") is not None or parameters.get("udsTokenizerConfig") is not None


def _check_choosers(config: RouterConfig, producer: Plugin) -> Iterator[Fault]:
    makers = {
        plugin.instance for plugin in config.plugins if (kind := kind_of(plugin)) is not None and PREFIX in kind.makes
    }
    for index, plugin in enumerate(config.plugins):
        if plugin.type not in _CHOOSERS:
            continue
        told = (plugin.parameters or {}).get("prefixMatchInfoProducerName")
        if not told and not any(item.type == "approx-prefix-cache-producer" for item in config.plugins):
            title = (
                f"{plugin.instance} does not name {producer.instance}: it reads an approximate producer, which is added"
            )
            yield Fault("RTR019", ("plugins", index), title, f"add prefixMatchInfoProducerName: {producer.instance}")
        elif isinstance(told, str) and told and told not in makers and told != "approx-prefix-cache-producer":
            title = f"{plugin.instance} asks {told} for prefix matches, and that makes none"
            yield Fault("RTR019", ("plugins", index), title, f"name {producer.instance}")


def check_metrics(config: RouterConfig) -> Iterator[Fault]:
    """An extractor that reads nothing, and engines that are asked twice."""
    layer = config.data_layer
    injects = layer is None or layer.inject_defaults is not False
    sources = layer.sources or [] if layer else []
    bound = {extractor.plugin_ref for source in sources for extractor in source.extractors or []}
    for index, plugin in enumerate(config.plugins):
        at: Path = ("plugins", index)
        if plugin.type == CORE_EXTRACTOR and not injects and plugin.instance not in bound:
            title = f"{plugin.instance} is bound to no source, and injectDefaults is false: it never reads anything"
            yield Fault("RTR028", at, title, "list it as an extractor of a source in dataLayer.sources")
        if plugin.type == METRICS_SOURCE and plugin.instance != METRICS_SOURCE and injects:
            title = f"the metrics source is called {plugin.instance}: with {METRICS_SOURCE}, engines are asked twice"
            yield Fault("RTR028", at, title, "drop its name, or set dataLayer.injectDefaults: false")
