"""KVT022: what prefill and decode compare when they first meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llmdctl.findings import Hit, Outcome, Place, Rule, Severity, Skip
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.peer_facts import hybrid_cache, is_sglang_pair, uses_nixl
from llmdctl.view import EngineCommand, Pair, View

# Speculation with a draft model of this kind is part of vLLM's hash from 0.30 on.
_DRAFTS = frozenset({"eagle", "eagle3", "mtp", "dflash", "dspark"})
_DRAFT_KEYS = ("method", "model", "revision", "code_revision", "parallel_drafting")

_SAME_DTYPES = {"half": "float16", "fp8": "fp8_e4m3", "auto": ""}


def check_compatibility(view: View) -> Iterator[Outcome]:
    """KVT022: a difference that makes the two sides refuse each other."""
    for pair in view.pairs:
        if uses_nixl(pair) and not _is_off(pair):
            yield from _check_vllm(pair)
        elif is_sglang_pair(pair):
            yield from _check_sglang(pair)


def _is_off(pair: Pair) -> bool:
    """True when a side is told not to compare (enforce_handshake_compat)."""
    engines = (pair.prefill_engine, pair.decode_engine)
    peers = [item for engine in engines if engine.kv_transfer for item in engine.kv_transfer.peers]
    return any(item.extra.get("enforce_handshake_compat") is False for item in peers)


def _check_vllm(pair: Pair) -> Iterator[Outcome]:
    yield from _check_versions(pair)
    yield from _check_models(pair, "the model's name is compared as it is written: a path differs from a hub id")
    for flag in ("dtype", "kv-cache-dtype", "attention-backend"):
        yield from _check_flag(pair, flag)
    yield from _check_hybrid(pair)
    if all(engine.version and engine.version.at_least(0, 30) for engine in (pair.prefill_engine, pair.decode_engine)):
        yield from _check_modes(pair)
        yield from _check_drafts(pair)


def _check_sglang(pair: Pair) -> Iterator[Outcome]:
    yield from _check_models(pair, "SGLang doesn't compare models: decode answers from another model's KV cache")
    yield from _check_flag(pair, "kv-cache-dtype")


def _hit(
    pair: Pair, what: str, sides: tuple[object, object], places: tuple[Place, Place], why: str = "", fix: str = ""
) -> Hit:
    return Hit(
        places[1],
        f"prefill and decode differ in {what}: {sides[0]} and {sides[1]}",
        why=why,
        fix=fix or f"give both the same {what}",
        evidence=(seen(f"prefill is {pair.prefill.workload.title}", places[0]),),
    )


def _image_places(pair: Pair) -> tuple[Place, Place]:
    return pair.prefill_engine.container.at("image"), pair.decode_engine.container.at("image")


def _check_versions(pair: Pair) -> Iterator[Outcome]:
    left, right = pair.prefill_engine, pair.decode_engine
    if left.version and right.version:
        if left.version != right.version:
            yield _hit(pair, "vLLM version", (left.version, right.version), _image_places(pair))
        return
    if left.container.image == right.container.image:
        return
    images = (left.container.image or "none", right.container.image or "none")
    hit = _hit(pair, "image", images, _image_places(pair), why=_UNKNOWN_BUILDS, fix="run one image in both roles")
    yield Hit(hit.at, hit.title, hit.why, hit.fix, hit.evidence, Severity.WARNING)


_UNKNOWN_BUILDS = "the images don't tell their vLLM version; if it differs, prefill and decode refuse each other"


def _check_models(pair: Pair, why: str) -> Iterator[Outcome]:
    left, right = pair.prefill_engine, pair.decode_engine
    if left.model is None or right.model is None:
        yield Skip("a model's name is only known in the running pod", pair.decode.place)
    elif left.model != right.model:
        yield _hit(pair, "model", (left.model, right.model), (left.model_place, right.model_place), why)


def _check_flag(pair: Pair, flag: str) -> Iterator[Outcome]:
    left, right = pair.prefill_engine, pair.decode_engine
    if left.is_unknown(flag) or right.is_unknown(flag):
        yield Skip(f"--{flag} is only known in the running pod", pair.decode.place)
        return
    values = [_SAME_DTYPES.get(text, text) for text in (left.text(flag) or "", right.text(flag) or "")]
    if values[0].lower() == values[1].lower():
        return
    shown = (values[0] or "unset", values[1] or "unset")
    hit = _hit(pair, f"--{flag}", shown, (left.place_of(flag), right.place_of(flag)))
    # Unset means the engine's own choice, which may be the very same.
    severity = None if all(values) else Severity.WARNING
    yield Hit(hit.at, hit.title, hit.why, hit.fix, hit.evidence, severity)


def _check_hybrid(pair: Pair) -> Iterator[Outcome]:
    left, right = pair.prefill_engine, pair.decode_engine
    mine, theirs = hybrid_cache(left), hybrid_cache(right)
    flag = "disable-hybrid-kv-cache-manager"
    if mine is None or theirs is None:
        yield Skip("whether the hybrid KV cache manager is on is not known", pair.decode.place)
    elif mine != theirs:
        yield _hit(
            pair,
            "the hybrid KV cache manager",
            ("on" if mine else "off", "on" if theirs else "off"),
            (_hybrid_place(left, flag), _hybrid_place(right, flag)),
            why="unset, it is on exactly when every connector supports it, and both sides compare it",
            fix=f"set --{flag} on both, or use connectors that support it on both",
        )


def _hybrid_place(engine: EngineCommand, flag: str) -> Place:
    return engine.place_of(flag) if engine.option(flag) else engine.place_of("kv-transfer-config")


def _check_modes(pair: Pair) -> Iterator[Outcome]:
    left, right = (
        {item.name for item in engine.kv_transfer.peers if item.is_nixl} if engine.kv_transfer else set()
        for engine in (pair.prefill_engine, pair.decode_engine)
    )
    if left and right and not left & right:
        places = (pair.prefill_engine.place_of("kv-transfer-config"), pair.decode_engine.place_of("kv-transfer-config"))
        yield _hit(pair, "transfer mode", (min(left), min(right)), places)


def _check_drafts(pair: Pair) -> Iterator[Outcome]:
    flag = "speculative-config"
    left, right = pair.prefill_engine, pair.decode_engine
    if left.is_unknown(flag) or right.is_unknown(flag):
        yield Skip(f"--{flag} is only known in the running pod", pair.decode.place)
        return
    mine, theirs = _draft(left.json_option(flag)), _draft(right.json_option(flag))
    if mine != theirs:
        shown = (_draft_text(mine), _draft_text(theirs))
        why = "the KV cache of a draft model is transferred too, so both sides need the same"
        yield _hit(pair, "speculation", shown, (left.place_of(flag), right.place_of(flag)), why)


def _draft(config: Any) -> tuple[Any, ...]:
    if not isinstance(config, Mapping) or config.get("method") not in _DRAFTS:
        return ()
    return tuple(str(config.get(key, "")) for key in _DRAFT_KEYS)


def _draft_text(draft: tuple[Any, ...]) -> str:
    return " ".join(part for part in draft[:2] if part) or "none"


KVT022 = Rule(
    code="KVT022",
    severity=Severity.ERROR,
    title="prefill and decode differ in what their handshake compares",
    why=(
        "vLLM's NIXL connector compares a hash of vLLM version, model, dtypes, attention backend, hybrid KV cache and, "
        "from 0.30 on, transfer mode and speculation; when it differs, every transfer fails while both servers look "
        "healthy"
    ),
    fix="run the same image and the same engine arguments in both roles, but for parallelism and memory",
    references=("vLLM nixl/metadata.py", "SGLang disaggregation/common/conn.py"),
    needs=frozenset({"pairs"}),
    check=check_compatibility,
)
