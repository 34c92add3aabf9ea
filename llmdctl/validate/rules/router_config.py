"""RTR: what the endpoint picker's loader refuses in its config, and what it takes and then does otherwise.

The checks are llmdctl.router.lint's; each code here says what its faults mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from llmdctl.findings import Hit, Outcome, Rule, Severity, Skip
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import View

_REFUSED = "the endpoint picker refuses its config and exits: the pod restarts for ever, and no request is routed"
_SILENT = "the router says nothing, and does something else than the config reads like"
_LOADER = "llm-d-router pkg/epp/config/loader"
_PLUGINS = "llm-d-router pkg/epp/framework/plugins"


def _check(code: str) -> Callable[[View], Iterator[Outcome]]:
    def check(view: View) -> Iterator[Outcome]:
        for config in view.picker_configs:
            if code in _BY_VERSION and config.version is None:
                yield Skip("the endpoint picker's version is not known", config.node.place)
                continue
            for fault in config.faults:
                if fault.code == code:
                    evidence = (
                        (seen(f"router {config.version}", config.epp.place),) if config.epp and config.version else ()
                    )
                    yield Hit(config.at(fault.path), fault.title, fix=fault.fix, evidence=evidence)

    return check


_BY_VERSION = frozenset({"RTR002", "RTR034"})

_TABLE: tuple[tuple[str, Severity, str, str, str, str], ...] = (
    (
        "RTR001", Severity.ERROR, "the endpoint picker's config can't be decoded", _REFUSED,
        "use the fields of EndpointPickerConfig, spelt and nested as there", _LOADER,
    ),
    (
        "RTR002", Severity.ERROR, "the config's apiVersion is unknown to this router", _REFUSED,
        "llm-d.ai/v1alpha1 up to router 0.10, llm-d.ai/v1 after it", _LOADER,
    ),
    (
        "RTR003", Severity.ERROR, "a plugin has a type that no router registers", _REFUSED,
        "use a registered type", "llm-d-router cmd/epp/runner/runner.go",
    ),
    (
        "RTR004", Severity.ERROR, "two plugins have the same name", _REFUSED,
        "give each instance a name of its own", f"{_LOADER}/configloader.go",
    ),
    (
        "RTR005", Severity.ERROR, "a reference names a plugin that is not declared", _REFUSED,
        "declare the plugin, or name one that is declared", f"{_LOADER}/validation.go",
    ),
    (
        "RTR006", Severity.ERROR, "a reference names a plugin of the wrong kind", _REFUSED,
        "name a plugin of the kind that the field asks for", f"{_LOADER}/configloader.go",
    ),
    (
        "RTR007", Severity.ERROR, "a scheduling profile has no name, a name twice, or two pickers", _REFUSED,
        "name every profile once, and give it at most one picker", f"{_LOADER}/validation.go",
    ),
    (
        "RTR008", Severity.ERROR, "profiles and the handler that chooses among them do not fit", _REFUSED,
        "declare exactly one handler when there are several profiles", f"{_LOADER}/configloader.go",
    ),
    (
        "RTR009", Severity.ERROR, "a plugin's parameter is unknown or has a value that it refuses", _REFUSED,
        "use the plugin's own parameters and their bounds", _PLUGINS,
    ),
    (
        "RTR010", Severity.WARNING, "the config uses what is deprecated",
        "newer routers refuse it, and the endpoint picker then does not start", "write what replaces it", _LOADER,
    ),
    (
        "RTR011", Severity.ERROR, "a feature gate is unknown or has no boolean value", _REFUSED,
        "write the gate's name, or NAME=true", f"{_LOADER}/configloader.go",
    ),
    (
        "RTR012", Severity.ERROR, "flow control has a negative value or a priority twice", _REFUSED,
        "use values of 0 or more and one band a priority", "llm-d-router pkg/epp/flowcontrol",
    ),
    (
        "RTR014", Severity.ERROR, "flow control is configured and switched off",
        "without its feature gate the whole block is ignored, but for one line in the log",
        "add flowControl to featureGates",
        f"{_LOADER}/flowcontrol.go",
    ),
    (
        "RTR015", Severity.ERROR, "the profile handler asks for a profile that does not exist",
        "the router starts, and then every request fails", "give the profile that name, or tell the handler its name",
        f"{_PLUGINS}/scheduling/profilehandler",
    ),
    (
        "RTR016", Severity.WARNING, "requests are never split between prefill and decode",
        "a stage without a decider never runs: prefill servers stay idle while decode servers do all the work",
        "name a decider for the stage", f"{_PLUGINS}/scheduling/profilehandler",
    ),
    (
        "RTR017", Severity.ERROR, "a plugin needs data that nothing makes",
        "the endpoint picker does not start: no producer makes the data, and none is added for it",
        "declare a producer of the data, under the name that the plugin asks for",
        "llm-d-router pkg/epp/datalayer/data_graph.go",
    ),
    (
        "RTR018", Severity.WARNING, "precise prefix matching runs on estimated tokens",
        "hashes of estimated tokens match no block that an engine reports: every look-up misses, and nothing says so",
        "declare token-producer, under that name, with a vllm backend", "llm-d-router docs; token-producer's factory",
    ),
    (
        "RTR019", Severity.WARNING, "a consumer of prefix matches reads another producer than the precise one",
        "scores come from an approximate producer that the router adds, and the precise index is built for nothing",
        "set prefixMatchInfoProducerName", "llm-d-router pkg/epp/datalayer/data_graph.go",
    ),
    (
        "RTR020", Severity.WARNING, "an entry of a profile has no effect", _SILENT,
        "list only filters, scorers and pickers in profiles", f"{_LOADER}/configloader.go",
    ),
    (
        "RTR021", Severity.WARNING, "a weight or an entry of a profile counts otherwise than it reads", _SILENT,
        "give each scorer once, with a weight above 0", f"{_LOADER}/configloader.go",
    ),
    (
        "RTR022", Severity.WARNING, "what runs differs from start to start",
        "the loader walks over a map in random order: replicas and restarts behave differently",
        "write down the profile, its order and its picker", f"{_LOADER}/defaults.go",
    ),
    (
        "RTR023", Severity.WARNING, "parameters are given to a plugin that takes no notice of them", _SILENT,
        "remove them, or use a plugin that has them", _PLUGINS,
    ),
    (
        "RTR024", Severity.INFO, "a plugin is declared and never used", "it costs nothing, and misleads the reader",
        "remove it, or list it in a profile", _LOADER,
    ),
    (
        "RTR025", Severity.WARNING, "a parser is never asked",
        "parsers after one that takes every request, and second ones of a type, are dropped",
        "remove it, or change the order",
        "llm-d-router pkg/epp/handlers/parsers",
    ),
    (
        "RTR026", Severity.WARNING, "a value is replaced in silence", _SILENT,
        "write a value inside the bounds", _PLUGINS,
    ),
    (
        "RTR027", Severity.ERROR, "metrics are always too old for the saturation detector",
        "every endpoint counts as stale, the pool looks saturated, and requests are held back or shed",
        "read metrics more often than the detector's threshold", "llm-d-router utilization-detector",
    ),
    (
        "RTR028", Severity.WARNING, "the engines' metrics are read never or twice",
        "scorers and detectors see zeros, or values that two readers overwrite",
        "bind core-metrics-extractor to one metrics-data-source", f"{_LOADER}/defaults.go",
    ),
    (
        "RTR029", Severity.ERROR, "a number of nanoseconds is given as a duration, or is far too small",
        "these two parameters are plain integers: a text is refused, and 300 is 300 nanoseconds",
        "write nanoseconds", _PLUGINS,
    ),
    (
        "RTR030", Severity.WARNING, "plugins look for a profile called prefill, and there is none",
        "they then take prefill requests for decode requests: loads and caches of prefill servers are booked wrongly",
        "call the profile prefill", _PLUGINS,
    ),
    (
        "RTR031", Severity.ERROR, "a plugin makes the endpoint picker panic",
        "the process dies while it starts, and is restarted for ever", "remove the second instance, or give parameters",
        _PLUGINS,
    ),
    (
        "RTR032", Severity.INFO, "a parameter is spelt in another case than the plugin's",
        "the router reads parameters whatever their case, other tools do not", "use the plugin's spelling", _PLUGINS,
    ),
    (
        "RTR033", Severity.INFO, "a setting has no effect", _SILENT,
        "remove it, or switch on what it belongs to", _PLUGINS,
    ),
    (
        "RTR034", Severity.ERROR, "the config uses what this router version lacks", _REFUSED,
        "write what this version has, or use another version", "llm-d-router v0.9.0 to v1.0.0",
    ),
)  # fmt: skip

# A type that is not known leaves the kinds, the data and the uses of its instance unknown; a reference to nothing
# leaves what it meant unused.
_IMPLIES = {
    "RTR003": ("RTR005", "RTR006", "RTR007", "RTR008", "RTR017", "RTR024"),
    "RTR005": ("RTR024", "RTR022"),
    "RTR034": ("RTR010",),
}

RTR_CONFIG_RULES: Iterable[Rule] = tuple(
    Rule(
        code=code,
        severity=severity,
        title=title,
        why=why,
        fix=fix,
        references=(reference,),
        needs=frozenset({"configs"}),
        implies=_IMPLIES.get(code, ()),
        check=_check(code),
    )
    for code, severity, title, why, fix, reference in _TABLE
)
