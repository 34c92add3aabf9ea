"""ENG013, ENG014: what vLLM's connectors refuse at start, and what vLLM replaces without being asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llmdctl.findings import Outcome, Rule, Severity
from llmdctl.manifest.typed import nearest
from llmdctl.validate.rules.start import Refusal, Start, refusals
from llmdctl.view import View
from llmdctl.view.engine import VLLM
from llmdctl.view.transfer import MULTI, PEER_CONNECTORS, STORES

_CONFIG = "kv-transfer-config"
_ROLES = ("kv_producer", "kv_consumer", "kv_both")
_MANAGER = "disable-hybrid-kv-cache-manager"
_ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"


def check_connectors(view: View) -> Iterator[Outcome]:
    """ENG013: a connector's settings end the engine at start."""
    return refusals(view, {VLLM: _connectors})


def _connectors(start: Start) -> Iterator[Refusal]:
    config = start.engine.json_option(_CONFIG)
    if not isinstance(config, Mapping) or start.given("kv-offloading-size"):
        return
    yield from _config(config, "")
    if not config.get("kv_connector"):
        return
    allocator = start.engine.container.env_text(_ALLOCATOR) or ""
    if "expandable_segments:True" in allocator.replace(" ", "") and not start.on("enable-cumem-allocator"):
        what = f"{_ALLOCATOR} sets expandable_segments:True, whose memory no KV connector can register"
        yield Refusal(_CONFIG, what, f"drop expandable_segments from {_ALLOCATOR}")
    if start.on("use-replayssm"):
        yield Refusal("use-replayssm", "--use-replayssm goes with no KV connector", "leave one of the two out")
    transfer = start.engine.kv_transfer
    kept = start.given(_MANAGER) and start.engine.parsed.get_bool(_MANAGER) is False
    if kept and transfer is not None and transfer.supports_hma(start.engine.version) is False:
        what = "the hybrid KV cache manager is asked for, and a connector does not support it"
        yield Refusal(_MANAGER, what, f"leave --no-{_MANAGER} out: it is only on when every connector supports it")


def _config(config: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    name, role, extra = config.get("kv_connector"), config.get("kv_role"), config.get("kv_connector_extra_config")
    extra = extra if isinstance(extra, Mapping) else {}
    if not isinstance(name, str):
        return
    if role is None:
        yield Refusal(_CONFIG, f"{where}{name} has no kv_role", f"add kv_role: {', '.join(_ROLES)}")
    elif isinstance(role, str) and role not in _ROLES:
        yield Refusal(_CONFIG, f"{where}{name} has the kv_role {role!r}", f"one of: {', '.join(_ROLES)}")
    known = {*PEER_CONNECTORS, *STORES, MULTI}
    close = nearest(name, known) if name not in known else None
    if close and "kv_connector_module_path" not in config:
        what = f"{where}vLLM has no KV connector {name}, and no kv_connector_module_path says where it is"
        yield Refusal(_CONFIG, what, f"did you mean {close}?")
    if config.get("kv_connector_module_path") == "":
        yield Refusal(_CONFIG, f"{where}{name} has an empty kv_connector_module_path", "leave it out, or fill it in")
    if name == "OffloadingConnector" and extra.get("spec_name", "CPUOffloadingSpec") == "CPUOffloadingSpec":
        yield from _offloading(extra, where)
    if name == MULTI:
        yield from _children(extra, where)


def _offloading(extra: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    size = extra.get("cpu_bytes_to_use")
    if size is None or (isinstance(size, int | float) and size <= 0):
        what = f"{where}OffloadingConnector needs cpu_bytes_to_use above 0: bytes for all ranks together"
        yield Refusal(_CONFIG, what, "set cpu_bytes_to_use in kv_connector_extra_config")
    if "block_size" in extra and "blocks_per_chunk" in extra:
        what = f"{where}OffloadingConnector takes block_size or blocks_per_chunk, not both"
        yield Refusal(_CONFIG, what, "leave one of the two out")


def _children(extra: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    children = extra.get("connectors")
    if not isinstance(children, list) or not children:
        what = f"{where}{MULTI} has no list of connectors"
        yield Refusal(_CONFIG, what, "list them in kv_connector_extra_config.connectors")
        return
    for index, child in enumerate(children):
        if isinstance(child, Mapping):
            place = f"connectors[{index}]: "
            if "engine_id" in child:
                yield Refusal(_CONFIG, f"{place}a child of {MULTI} can't have an engine_id", "leave engine_id out")
            if not where:
                yield from _config(child, place)


def check_overrides(view: View) -> Iterator[Outcome]:
    """ENG014: a setting that the engine replaces without being asked."""
    return refusals(view, {VLLM: _overrides})


def _overrides(start: Start) -> Iterator[Refusal]:
    config = start.engine.json_option(_CONFIG)
    if start.given("kv-offloading-size") and isinstance(config, Mapping) and config.get("kv_connector"):
        what = f"--kv-offloading-size replaces {config['kv_connector']} of --{_CONFIG} by an offloading connector"
        fix = f"leave --kv-offloading-size out, and list both connectors in a {MULTI}"
        yield Refusal("kv-offloading-size", what, fix)
    hybrid, size, local = (
        "data-parallel-hybrid-lb",
        start.number("data-parallel-size", 1),
        start.number("data-parallel-size-local"),
    )
    if start.on(hybrid) and size is not None and local == size:
        what = f"--{hybrid} is turned off: all {size} ranks are in this pod"
        yield Refusal(hybrid, what, f"leave --{hybrid} out")


ENG013 = Rule(
    code="ENG013",
    severity=Severity.ERROR,
    title="vLLM's KV connector is set up in a way that it refuses at start",
    why="the engine ends while it builds its configuration or its connector; the pod restarts for ever",
    fix="give the connector what it needs",
    references=(
        "vllm/config/kv_transfer.py, vllm/config/vllm.py",
        "vllm/distributed/kv_transfer/kv_connector: factory.py, v1/multi_connector.py, v1/offloading",
    ),
    needs=frozenset({"engines"}),
    check=check_connectors,
)
ENG014 = Rule(
    code="ENG014",
    severity=Severity.WARNING,
    title="vLLM replaces a setting without being asked",
    why="the server starts and works differently from what its command line says",
    fix="say what you mean by one setting",
    references=("vllm/config/vllm.py, vllm/engine/arg_utils.py",),
    needs=frozenset({"engines"}),
    check=check_overrides,
)

START_TRANSFER_RULES: Iterable[Rule] = (ENG013, ENG014)
