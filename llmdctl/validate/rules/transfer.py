"""KVT: KV transfer between prefill and decode servers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.engines.defaults import SIDECAR_PROTOCOLS
from llmdctl.findings import Hit, Outcome, Rule, Severity, Skip
from llmdctl.validate.rules.compatibility import KVT022
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.mend import part_replaced
from llmdctl.validate.rules.peer_facts import transfer_place
from llmdctl.validate.rules.shapes import KVT004, KVT007
from llmdctl.view import Connector, EngineCommand, Pair, PodTemplate, View
from llmdctl.view.engine import SGLANG, VLLM
from llmdctl.view.peers import DECODE, PREFILL, acts_as


def check_connectors(view: View) -> Iterator[Outcome]:
    """KVT001: prefill and decode move KV blocks in different ways."""
    for pair in view.pairs:
        left, right = pair.prefill_engine, pair.decode_engine
        if left.kv_transfer_is_unknown or right.kv_transfer_is_unknown:
            yield Skip("the KV transfer configuration is only known in the running pod", pair.decode.place)
        elif not pair.engine:
            yield _differ(
                pair, f"prefill runs {left.engine}, decode runs {right.engine}", "run one engine in both roles"
            )
        elif pair.engine == SGLANG:
            yield from _check_backends(pair)
        elif pair.engine == VLLM:
            yield from _check_peers(pair)


def _differ(pair: Pair, title: str, fix: str) -> Hit:
    left = transfer_place(pair.prefill_engine)
    return Hit(
        transfer_place(pair.decode_engine),
        title,
        evidence=(seen(f"prefill is {pair.prefill.workload.title}", left),),
        fix=fix,
    )


def _check_backends(pair: Pair) -> Iterator[Outcome]:
    # mooncake is SGLang's default; mooncake_tcp is mooncake over TCP.
    left, right = (
        engine.parsed.get_str("disaggregation-transfer-backend", default="mooncake")
        for engine in (pair.prefill_engine, pair.decode_engine)
    )
    if left and right and left.removesuffix("_tcp") != right.removesuffix("_tcp"):
        yield _differ(
            pair,
            f"prefill moves KV blocks by {left}, decode by {right}",
            "give both the same --disaggregation-transfer-backend",
        )


def _check_peers(pair: Pair) -> Iterator[Outcome]:
    left, right = pair.prefill_engine.kv_transfer, pair.decode_engine.kv_transfer
    if left is None and right is None:
        return
    mine = {(item.name, item.module) for item in left.peers} if left else set()
    theirs = {(item.name, item.module) for item in right.peers} if right else set()
    unknown = [item.name for side in (left, right) if side for item in side.unknown]
    if mine & theirs:
        return
    if not mine and not theirs:
        names = [sorted(item.name for item in side.connectors) if side else [] for side in (left, right)]
        if names[0] != names[1]:
            yield _differ(pair, f"prefill has {_names(names[0])}, decode {_names(names[1])}", "use one connector")
    elif unknown:
        yield Skip(f"the KV connector {unknown[0]} is not known to llmdctl", pair.decode.place)
    else:
        yield _differ(
            pair,
            f"prefill moves KV blocks by {_described(mine)}, decode by {_described(theirs)}",
            "give both roles the same kv_connector and kv_connector_module_path",
        )


def _names(names: list[str]) -> str:
    return " and ".join(names) or "no KV connector"


def _described(connectors: set[tuple[str, str]]) -> str:
    return _names([f"{name} of {module}" if module else name for name, module in sorted(connectors)])


KVT001 = Rule(
    code="KVT001",
    severity=Severity.ERROR,
    title="prefill and decode move KV blocks by different connectors",
    why="the two sides of a transfer speak the connector's own protocol: with different ones no handshake succeeds",
    fix="use one engine and one connector in both roles",
    references=("vLLM kv_connector/factory.py", "SGLang srt/disaggregation"),
    needs=frozenset({"pairs"}),
    implies=("KVT002", "KVT007", "KVT022"),
    check=check_connectors,
)


def check_directions(view: View) -> Iterator[Outcome]:
    """KVT002: a prefill server that can't send, or a decode server that can't receive."""
    for template in view.serving:
        role, engine = acts_as(template), template.engine
        if engine is None or role not in (PREFILL, DECODE) or role != template.role:
            continue
        if engine.engine == SGLANG:
            yield from _check_mode(template, engine, role)
        elif engine.kv_transfer is not None:
            yield from (
                _wrong_way(template, engine, role, item) for item in engine.kv_transfer.peers if _is_wrong(role, item)
            )


def _check_mode(template: PodTemplate, engine: EngineCommand, role: str) -> Iterator[Outcome]:
    if engine.mode and engine.mode != role:
        yield Hit(
            engine.place_of("disaggregation-mode"),
            f"{template.lead}the pods have the role {role} and run SGLang in mode {engine.mode}",
            fix=f"set --disaggregation-mode={role}, or correct the label",
            why="the router sends prefill requests to a server that decodes, or the other way round",
        )


def _is_wrong(role: str, connector: Connector) -> bool:
    return connector.role == ("kv_consumer" if role == PREFILL else "kv_producer")


def _wrong_way(template: PodTemplate, engine: EngineCommand, role: str, connector: Connector) -> Hit:
    wanted = "kv_producer" if role == PREFILL else "kv_consumer"
    return Hit(
        connector.place,
        f"{template.lead}the pods have the role {role} and their {connector.name} is {connector.role}",
        fix=f"set kv_role to {wanted}",
        edits=part_replaced(engine.container.node, connector.place, f'"{connector.role}"', f'"{wanted}"'),
    )


KVT002 = Rule(
    code="KVT002",
    severity=Severity.ERROR,
    title="a prefill server can't send KV blocks, or a decode server can't receive them",
    why="a consumer never keeps blocks for a peer and a producer never fetches any: the transfer does not take place",
    fix="kv_producer on prefill and kv_consumer on decode, or kv_both on both",
    references=("vLLM config/kv_transfer.py", "llm-d docs/operations/disaggregation/vllm.md"),
    needs=frozenset({"engines"}),
    check=check_directions,
)


def check_protocol(view: View) -> Iterator[Outcome]:
    """KVT003: the sidecar speaks another protocol than the engine behind it."""
    for template in view.serving:
        sidecar, engine = template.sidecar, template.engine
        if sidecar is None or engine is None:
            continue
        wanted, reason = _protocols(engine)
        if reason or sidecar.connector is None:
            yield Skip(reason or "the sidecar's --kv-connector is only known in the running pod", sidecar.place)
        elif wanted and sidecar.connector not in wanted:
            names = " or ".join(sorted(wanted))
            place = sidecar.place_of("kv-connector", "connector")
            given = f"--kv-connector={sidecar.connector}"
            yield Hit(
                place,
                f"the routing sidecar speaks {sidecar.connector}, the engine behind it needs {names}",
                evidence=(seen(f"the engine is {_engine_text(engine)}", transfer_place(engine)),),
                fix=f"set --kv-connector={sorted(wanted)[0]}",
                edits=part_replaced(sidecar.container.node, place, given, f"--kv-connector={next(iter(wanted))}")
                if len(wanted) == 1
                else (),
            )


def _engine_text(engine: EngineCommand) -> str:
    if engine.engine == SGLANG:
        return f"SGLang in mode {engine.mode}"
    return f"vLLM with {_names([item.name for item in engine.kv_transfer.peers] if engine.kv_transfer else [])}"


def _protocols(engine: EngineCommand) -> tuple[set[str], str]:
    """What the sidecar may speak to this engine (nothing: it moves no blocks), or why that is not known."""
    if engine.engine == SGLANG:
        return ({"sglang"}, "") if engine.mode else (set(), "")
    if engine.kv_transfer_is_unknown:
        return set(), "the engine's KV transfer configuration is only known in the running pod"
    if engine.kv_transfer is None:
        return set(), ""
    wanted = {SIDECAR_PROTOCOLS[item.name] for item in engine.kv_transfer.peers if item.name in SIDECAR_PROTOCOLS}
    unmapped = [item.name for item in engine.kv_transfer.peers if item.name not in SIDECAR_PROTOCOLS]
    unmapped += [item.name for item in engine.kv_transfer.unknown]
    return wanted, f"no sidecar protocol is known for {unmapped[0]}" if unmapped and not wanted else ""


KVT003 = Rule(
    code="KVT003",
    severity=Severity.ERROR,
    title="the routing sidecar speaks another protocol than the engine's connector",
    why=(
        "the sidecar writes the fields that tell engines where KV blocks are; an engine that doesn't know them "
        "prefills again itself, or answers 400"
    ),
    fix="set the sidecar's --kv-connector to the engine's protocol",
    references=("llm-d-router pkg/sidecar/proxy", "llm-d guides/pd-disaggregation"),
    needs=frozenset({"engines"}),
    check=check_protocol,
)


KVT_RULES: Iterable[Rule] = (KVT001, KVT002, KVT003, KVT004, KVT007, KVT022)
