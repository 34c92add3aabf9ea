"""RTR: the endpoint picker's config."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mutate import Mutation, NotHere, Objects

Config = dict[str, Any]


def _changed(change: Callable[[Config], None]) -> Callable[[Objects], None]:
    return lambda objects: objects.set_picker_config(change)


def _plugin(config: Config, kind: str) -> dict[str, Any]:
    for plugin in config["plugins"]:
        if plugin["type"] == kind:
            found: dict[str, Any] = plugin
            return found
    raise NotHere(f"no {kind}")


def _entry(config: Config, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    for profile in config["schedulingProfiles"]:
        for entry in profile["plugins"]:
            if entry["pluginRef"] == name:
                return profile, entry
    raise NotHere(f"no profile has {name}")


def _misspelt_field(config: Config) -> None:
    config["schedulingProfile"] = config.pop("schedulingProfiles")


def _old_version(objects: Objects) -> None:
    picker = objects.picker()
    annotations = objects.one("Deployment", "-epp")["spec"]["template"]["metadata"].get("annotations") or {}
    if "v1.0" not in picker["image"] and "1.0" not in str(annotations):
        raise NotHere("not a new router")
    picker["image"] = picker["image"].rpartition(":")[0] + ":v0.10.0"
    annotations.pop("llmdctl.io/component-version", None)


def _unknown_type(config: Config) -> None:
    config["plugins"].append({"type": "prefix-cash-scorer"})


def _twice(config: Config) -> None:
    config["plugins"].append(dict(config["plugins"][0]))


def _nobody(config: Config) -> None:
    config["schedulingProfiles"][0]["plugins"].append({"pluginRef": "nobody"})


def _wrong_kind(config: Config) -> None:
    config.setdefault("flowControl", {})["saturationDetector"] = {
        "pluginRef": _plugin(config, "max-score-picker")["type"]
    }


def _two_pickers(config: Config) -> None:
    _plugin(config, "max-score-picker")
    config["plugins"].append({"type": "random-picker"})
    profile, _ = _entry(config, "max-score-picker")
    profile["plugins"].append({"pluginRef": "random-picker"})


def _no_handler(config: Config) -> None:
    config["plugins"].remove(_plugin(config, "disagg-profile-handler"))


def _unknown_parameter(config: Config) -> None:
    _plugin(config, "token-load-scorer").setdefault("parameters", {})["queueTreshold"] = 1


def _old_group(config: Config) -> None:
    if config["apiVersion"] == "llm-d.ai/v1":
        config["apiVersion"] = "llm-d.ai/v1alpha1"
        return
    config["apiVersion"] = "inference.networking.x-k8s.io/v1alpha1"


def _unknown_gate(config: Config) -> None:
    config.setdefault("featureGates", []).append("flowControl=perhaps")


def _negative(config: Config) -> None:
    config.setdefault("featureGates", []).append("flowControl")
    config.setdefault("flowControl", {})["maxRequests"] = "-1"


def _no_gate(config: Config) -> None:
    config.setdefault("flowControl", {})["maxRequests"] = "100"


def _no_decode_profile(config: Config) -> None:
    _plugin(config, "disagg-profile-handler")
    for profile in config["schedulingProfiles"]:
        if profile["name"] == "decode":
            profile["name"] = "decoding"


def _no_decider(config: Config) -> None:
    _plugin(config, "disagg-profile-handler")["parameters"].pop("deciders")


def _no_producer(config: Config) -> None:
    _plugin(config, "token-load-scorer").setdefault("parameters", {})["inFlightLoadProducerName"] = "elsewhere"


def _estimated(config: Config) -> None:
    _plugin(config, "precise-prefix-cache-producer")
    _plugin(config, "token-producer")["name"] = "tokens"


def _wrong_producer(config: Config) -> None:
    _plugin(config, "precise-prefix-cache-producer")
    _plugin(config, "prefix-cache-affinity-filter")["parameters"].pop("prefixMatchInfoProducerName")


def _no_effect(config: Config) -> None:
    name = _plugin(config, "inflight-load-producer")["type"]
    config["schedulingProfiles"][0]["plugins"].insert(0, {"pluginRef": name})


def _no_weight(config: Config) -> None:
    _entry(config, "token-load-scorer")[1]["weight"] = -1


def _chance(config: Config) -> None:
    profile, entry = _entry(config, "max-score-picker")
    config["plugins"].append({"type": "random-picker"})
    profile["plugins"].remove(entry)


def _ignored(config: Config) -> None:
    _plugin(config, "decode-filter")["parameters"] = {"label": "role"}


def _unused(config: Config) -> None:
    config["plugins"].append({"type": "queue-scorer", "name": "another"})


def _dropped(config: Config) -> None:
    parsers = [{"pluginRef": name} for name in ("passthrough-parser", "openai-parser")]
    config["requestHandler"] = {"parsers": parsers}


def _replaced(config: Config) -> None:
    config.setdefault("featureGates", []).append("flowControl")
    config["flowControl"] = {"priorityBands": [{"priority": 1, "maxRequests": "0"}]}


def _stale(config: Config) -> None:
    config["plugins"].append({"type": "metrics-data-source", "parameters": {"interval": "5s"}})


def _read_twice(config: Config) -> None:
    config["plugins"].append({"type": "metrics-data-source", "name": "mine"})


def _nanoseconds(config: Config) -> None:
    config["plugins"].append({"type": "predicted-latency-producer", "parameters": {"contextTTL": "5m"}})


def _renamed(config: Config) -> None:
    handler = _plugin(config, "disagg-profile-handler")
    _plugin(config, "inflight-load-producer")
    handler["parameters"]["profiles"] = {"prefill": "prompt"}
    for profile in config["schedulingProfiles"]:
        if profile["name"] == "prefill":
            profile["name"] = "prompt"


def _panic(config: Config) -> None:
    config["plugins"].append({"type": "request-attribute-reporter"})


def _case(config: Config) -> None:
    _plugin(config, "token-load-scorer")["parameters"] = {"queuethresholdtokens": 4194304}


def _eviction(config: Config) -> None:
    config.setdefault("flowControl", {})["enableEviction"] = True


def _gone(config: Config) -> None:
    config["plugins"].append({"type": "kv-cache-scorer"})


MUTATIONS = [
    Mutation("RTR001", _changed(_misspelt_field)),
    Mutation("RTR002", _old_version, also=("RTR034", "RTR042", "RTR043")),
    Mutation("RTR003", _changed(_unknown_type)),
    Mutation("RTR004", _changed(_twice)),
    Mutation("RTR005", _changed(_nobody)),
    Mutation("RTR006", _changed(_wrong_kind)),
    Mutation("RTR007", _changed(_two_pickers)),
    Mutation("RTR008", _changed(_no_handler)),
    Mutation("RTR009", _changed(_unknown_parameter)),
    Mutation("RTR010", _changed(_old_group), also=("RTR002", "RTR034", "RTR001")),
    Mutation("RTR011", _changed(_unknown_gate)),
    Mutation("RTR012", _changed(_negative)),
    Mutation("RTR014", _changed(_no_gate)),
    Mutation("RTR015", _changed(_no_decode_profile)),
    Mutation("RTR016", _changed(_no_decider)),
    Mutation("RTR017", _changed(_no_producer)),
    Mutation("RTR018", _changed(_estimated)),
    Mutation("RTR019", _changed(_wrong_producer)),
    Mutation("RTR020", _changed(_no_effect)),
    Mutation("RTR021", _changed(_no_weight)),
    Mutation("RTR022", _changed(_chance)),
    Mutation("RTR023", _changed(_ignored)),
    Mutation("RTR024", _changed(_unused)),
    Mutation("RTR025", _changed(_dropped)),
    Mutation("RTR026", _changed(_replaced)),
    Mutation("RTR027", _changed(_stale)),
    Mutation("RTR028", _changed(_read_twice)),
    Mutation("RTR029", _changed(_nanoseconds)),
    Mutation("RTR030", _changed(_renamed)),
    Mutation("RTR031", _changed(_panic)),
    Mutation("RTR032", _changed(_case)),
    Mutation("RTR033", _changed(_eviction)),
    Mutation("RTR034", _changed(_gone)),
]
