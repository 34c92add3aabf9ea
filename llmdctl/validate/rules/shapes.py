"""KVT004, KVT007: parallel sizes and block sizes that prefill and decode can map onto each other."""

from __future__ import annotations

from collections.abc import Iterator

from llmdctl.findings import Evidence, Hit, Outcome, Rule, Severity, Skip, counted
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.peer_facts import common_peers, hybrid_cache, is_sglang_pair, uses_nixl
from llmdctl.view import Pair, View
from llmdctl.view.engine import SGLANG

_TENSOR = ("tensor-parallel-size", "tp-size", "tp")


def check_tensor_parallel(view: View) -> Iterator[Outcome]:
    """KVT004: tensor-parallel sizes that can't be mapped onto each other."""
    for pair in view.pairs:
        nixl = uses_nixl(pair)
        if not (nixl or is_sglang_pair(pair) or any(item.name == "MooncakeConnector" for item in common_peers(pair))):
            continue
        prefill = pair.prefill_engine.attention_tensor_parallel
        decode = pair.decode_engine.attention_tensor_parallel
        if not prefill or not decode:
            yield Skip("a tensor-parallel size is only known in the running pod", pair.decode.place)
        elif max(prefill, decode) % min(prefill, decode):
            why = _GARBAGE if pair.engine == SGLANG else ""
            yield _sizes(pair, prefill, decode, "neither divides the other", why)
        elif nixl and prefill > decode:
            yield from _check_heads(view, pair, prefill, decode)


_GARBAGE = "SGLang divides ranks without checking: KV heads land on wrong ranks, and answers are garbage"


def _check_heads(view: View, pair: Pair, prefill: int, decode: int) -> Iterator[Outcome]:
    model = pair.decode_engine.model
    facts = view.models(model) if model else None
    if facts is not None and (facts.mla or facts.mamba):
        return
    if facts is None or facts.kv_heads is None:
        name = model or "the model"
        yield Skip(f"the number of KV heads of {name} is not in the catalog", pair.decode.place)
    elif prefill > facts.kv_heads:
        yield _sizes(
            pair,
            prefill,
            decode,
            f"prefill's is larger than decode's and than the model's {counted(facts.kv_heads, 'KV head')}",
            "prefill ranks then hold copies of heads, and the connector refuses to merge copies",
        )


def _sizes(pair: Pair, prefill: int, decode: int, what: str, why: str) -> Hit:
    place = pair.prefill_engine.place_of(*_TENSOR)
    return Hit(
        pair.decode_engine.place_of(*_TENSOR),
        f"tensor-parallel sizes {prefill} (prefill) and {decode} (decode): {what}",
        why=why,
        evidence=(seen(f"prefill is {pair.prefill.workload.title} with {prefill}", place),),
    )


KVT004 = Rule(
    code="KVT004",
    severity=Severity.ERROR,
    title="tensor-parallel sizes of prefill and decode do not fit each other",
    why=(
        "the connector maps ranks of one side to ranks of the other; the handshake at the first request fails while "
        "both servers look healthy"
    ),
    fix="let one size divide the other, decode's being the larger",
    references=(
        "vLLM kv_connector/utils.py",
        "vLLM nixl/base_worker.py",
        "SGLang disaggregation/common/conn.py",
    ),
    needs=frozenset({"pairs"}),
    check=check_tensor_parallel,
)


def check_block_size(view: View) -> Iterator[Outcome]:
    """KVT007: block sizes that the transfer can't translate."""
    for pair in view.pairs:
        if not (uses_nixl(pair) or common_peers(pair) or is_sglang_pair(pair)):
            continue
        flag = _flag(pair)
        if pair.prefill_engine.is_unknown(flag) or pair.decode_engine.is_unknown(flag):
            yield Skip("a block size is only known in the running pod", pair.decode.place)
            continue
        prefill, decode = pair.prefill_engine.block_size, pair.decode_engine.block_size
        if (prefill is None) != (decode is None):
            yield _one_sided(pair, prefill, decode)
        elif prefill is not None and decode is not None and prefill != decode and prefill > 0:
            yield from _check_blocks(pair, prefill, decode)


def _flag(pair: Pair) -> str:
    return "page-size" if pair.engine == SGLANG else "block-size"


def _one_sided(pair: Pair, prefill: int | None, decode: int | None) -> Hit:
    setting, leaving = ("decode", "prefill") if prefill is None else ("prefill", "decode")
    return Hit(
        pair.decode_engine.place_of(_flag(pair)),
        f"{setting} sets --{_flag(pair)} {decode if prefill is None else prefill}, {leaving} leaves it to the engine",
        why="the engine's own choice follows the attention backend and may change with every version",
        fix=f"set the same --{_flag(pair)} on both",
        evidence=_evidence(pair),
        severity=Severity.WARNING,
    )


def _check_blocks(pair: Pair, prefill: int, decode: int) -> Iterator[Outcome]:
    if pair.engine == SGLANG:
        yield _blocks(pair, prefill, decode, "SGLang wants equal ones")
    elif not uses_nixl(pair):
        yield _blocks(pair, prefill, decode, "this connector does not translate them", Severity.WARNING)
    elif decode % prefill:
        yield _blocks(pair, prefill, decode, "decode's is no multiple of prefill's")
    else:
        yield from _check_multiple(pair, prefill, decode)


def _check_multiple(pair: Pair, prefill: int, decode: int) -> Iterator[Outcome]:
    """Blocks of decode that hold several of prefill's: allowed by version and layout."""
    version, hybrid = pair.decode_engine.version, hybrid_cache(pair.decode_engine)
    if version is None:
        yield Skip("different block sizes: whether they fit depends on vLLM's version, unknown here", pair.decode.place)
    elif any(item.buffer_device == "cpu" for item in common_peers(pair)):
        yield _blocks(pair, prefill, decode, "with kv_buffer_device cpu they must be equal")
    elif not version.at_least(0, 30):
        yield from _if_hybrid(pair, prefill, decode, hybrid, f"vLLM {version} wants equal ones with hybrid KV caches")
    elif any(item.name == "NixlPushConnector" for item in common_peers(pair)):
        yield from _if_hybrid(pair, prefill, decode, hybrid, "pushing into hybrid KV caches wants equal ones")
    elif (pair.prefill_engine.tensor_parallel or 0) > (pair.decode_engine.tensor_parallel or 0):
        note = "they can't differ where prefill's tensor-parallel size is the larger and its KV regions are split"
        yield _blocks(pair, prefill, decode, note, Severity.WARNING)


def _if_hybrid(pair: Pair, prefill: int, decode: int, hybrid: bool | None, what: str) -> Iterator[Outcome]:
    if hybrid is None:
        yield Skip("whether the hybrid KV cache manager is on is not known", pair.decode.place)
    elif hybrid:
        yield _blocks(pair, prefill, decode, what)


def _blocks(pair: Pair, prefill: int, decode: int, what: str, severity: Severity | None = None) -> Hit:
    word = "page" if pair.engine == SGLANG else "block"
    return Hit(
        pair.decode_engine.place_of(_flag(pair)),
        f"{word} sizes {prefill} (prefill) and {decode} (decode): {what}",
        evidence=_evidence(pair),
        fix=f"set the same --{_flag(pair)} on both",
        severity=severity,
    )


def _evidence(pair: Pair) -> tuple[Evidence, ...]:
    return (seen(f"prefill is {pair.prefill.workload.title}", pair.prefill_engine.place_of(_flag(pair))),)


KVT007 = Rule(
    code="KVT007",
    severity=Severity.ERROR,
    title="block sizes of prefill and decode do not fit each other",
    why=(
        "KV blocks are copied as they are, and the handshake refuses sizes that it can't translate. SGLang wants equal "
        "page sizes. vLLM takes a decode block that holds several of prefill's, never the other way round; with a CPU "
        "buffer, and with hybrid KV caches before 0.30, it wants equal ones too"
    ),
    fix="set the same block size on both",
    references=("vLLM nixl/base_worker.py", "SGLang disaggregation/common/conn.py"),
    needs=frozenset({"pairs"}),
    check=check_block_size,
)
