"""PFX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mutate import Mutation, NotHere, Objects, drop_flag, set_flag

EVENTS = "--kv-events-config"
PRECISE = "precise-prefix-cache-producer"


def _parameters(config: dict[str, Any], kind: str) -> dict[str, Any]:
    for plugin in config["plugins"]:
        if plugin["type"] == kind:
            found: dict[str, Any] = plugin.setdefault("parameters", {})
            return found
    raise NotHere(f"no {kind}")


def _config(change: Callable[[dict[str, Any]], None]) -> Callable[[Objects], None]:
    return lambda objects: objects.set_picker_config(change)


def _block(config: dict[str, Any]) -> None:
    _parameters(config, PRECISE)["tokenProcessorConfig"]["blockSizeTokens"] = 48


def _socket(config: dict[str, Any]) -> None:
    discovery = _parameters(config, PRECISE)["kvEventsConfig"]["podDiscoveryConfig"]
    discovery["socketPort"] = 5999


def _model(config: dict[str, Any]) -> None:
    _parameters(config, PRECISE)
    _parameters(config, "token-producer")["modelName"] = "some/other-model"


def _replay(config: dict[str, Any]) -> None:
    _parameters(config, PRECISE)["kvEventsConfig"]["podDiscoveryConfig"]["replaySocketPort"] = 5600


def _events(pattern: str, value: str) -> Callable[[Objects], None]:
    def change(objects: Objects) -> None:
        engine = objects.engine()
        objects.set_picker_config(lambda config: _parameters(config, PRECISE) and None)
        for index, word in enumerate(engine["args"]):
            if EVENTS in word:
                changed = re.sub(pattern, value, word)
                if changed == word:
                    raise NotHere(f"no {pattern}")
                engine["args"][index] = changed
                return
        raise NotHere("no events")

    return change


def _no_events(objects: Objects) -> None:
    objects.set_picker_config(lambda config: _parameters(config, PRECISE) and None)
    drop_flag(objects.engine(), EVENTS)


def _no_rendering(objects: Objects) -> None:
    objects.set_picker_config(lambda config: _parameters(config, "token-producer")["vllm"] and None)
    for service in objects.all("Service", "-render"):
        service["metadata"]["name"] = "elsewhere"


def _no_caching(objects: Objects) -> None:
    objects.set_picker_config(lambda config: _parameters(config, PRECISE) and None)
    engine = objects.engine()
    if any("sglang" in word for word in engine.get("command", [])):
        set_flag(engine, "--disable-radix-cache")
        return
    drop_flag(engine, "--enable-prefix-caching")
    set_flag(engine, "--no-enable-prefix-caching")


def _many(objects: Objects) -> None:
    objects.set_picker_config(lambda config: _parameters(config, PRECISE) and None)
    objects.one("Deployment", "-decode")["spec"]["replicas"] = 500


MUTATIONS = [
    Mutation("PFX001", _config(_block)),
    Mutation("PFX002", _config(_socket)),
    Mutation("PFX003", _events(r"tcp://\*", "tcp://epp")),
    Mutation("PFX004", _events(r"kv@", "events@")),
    Mutation("PFX005", _config(_model)),
    Mutation("PFX006", _no_events),
    Mutation("PFX007", _no_rendering),
    Mutation("PFX012", _no_caching),
    Mutation("PFX014", _many),
    Mutation("PFX015", _config(_replay)),
]
