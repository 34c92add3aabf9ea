"""ENG: flags that need each other, and numbers that do not fit, as engines check them before they load a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from llmdctl.findings import Outcome, Rule, Severity
from llmdctl.validate.rules.start import Refusal, Start, over, product, refusals, uneven
from llmdctl.view import View
from llmdctl.view.engine import SGLANG, VLLM


def check_companions(view: View) -> Iterator[Outcome]:
    """ENG010: a flag is given without the flag that it needs, or with one that excludes it."""
    return refusals(view, {VLLM: _vllm_companions, SGLANG: _sglang_companions})


def _vllm_companions(start: Start) -> Iterator[Refusal]:
    for flag, needed in (
        ("enable-auto-tool-choice", "tool-call-parser"),
        ("enable-log-outputs", "enable-log-requests"),
        ("numa-bind-nodes", "numa-bind"),
        ("numa-bind-cpus", "numa-bind"),
        ("enable-eplb", "enable-expert-parallel"),
        ("enable-elastic-ep", "enable-eplb"),
        ("enable-fault-tolerance", "data-parallel-external-lb"),
    ):
        if start.used(flag) and start.off(needed):
            yield Refusal(flag, f"--{flag} needs --{needed}", f"add --{needed}, or leave --{flag} out")
    if start.on("enable-per-request-metrics") and start.on("disable-log-stats"):
        what = "--enable-per-request-metrics needs the statistics that --disable-log-stats turns off"
        yield Refusal("enable-per-request-metrics", what, "leave one of the two out")
    if start.given("mamba-block-size") and start.engine.parsed.get_bool("enable-prefix-caching") is False:
        what = "--mamba-block-size needs prefix caching, which is off"
        yield Refusal("mamba-block-size", what, "turn prefix caching on, or leave --mamba-block-size out")
    balancer = start.engine.json_option("eplb-config")
    redundant = balancer.get("num_redundant_experts") if isinstance(balancer, Mapping) else None
    if isinstance(redundant, int) and redundant and start.off("enable-eplb"):
        what = f"--eplb-config asks for {redundant} redundant experts while --enable-eplb is not given"
        yield Refusal("eplb-config", what, "add --enable-eplb, or drop num_redundant_experts")


def _sglang_companions(start: Start) -> Iterator[Refusal]:
    mode, backend = start.text("disaggregation-mode"), start.text("disaggregation-transfer-backend")
    if backend == "fake" and mode == "prefill":
        what = "a prefill server can't use the transfer backend fake"
        yield Refusal("disaggregation-transfer-backend", what, "use mooncake, nixl, mori or ascend")
    if backend == "fake" and start.on("disaggregation-decode-enable-radix-cache"):
        what = "--disaggregation-decode-enable-radix-cache does not go with the transfer backend fake"
        yield Refusal("disaggregation-decode-enable-radix-cache", what, "leave it out, or use another backend")
    if start.on("encoder-only") and (start.on("language-only") or mode in ("prefill", "decode")):
        what = "--encoder-only does not go with --language-only or a disaggregation mode"
        yield Refusal("encoder-only", what, "start encoder and language model as servers of their own")
    if start.given("load-publish-endpoint") and start.absent("kv-events-config"):
        what = "--load-publish-endpoint needs --kv-events-config with a publisher"
        yield Refusal("load-publish-endpoint", what, "add --kv-events-config, or leave it out")
    name = start.text("served-model-name")
    if name and ":" in name:
        what = f"--served-model-name={name} holds a colon, by which SGLang tells adapters apart"
        yield Refusal("served-model-name", what, "choose a name without a colon")


def check_numbers(view: View) -> Iterator[Outcome]:
    """ENG012: two numbers contradict each other."""
    return refusals(view, {VLLM: _vllm_numbers, SGLANG: _sglang_numbers})


def _vllm_numbers(start: Start) -> Iterator[Refusal]:
    length, batch = start.number("max-model-len"), start.number("max-num-batched-tokens")
    sequences = start.number("max-num-seqs")
    if start.engine.parsed.get_bool("enable-chunked-prefill") is False and over(length, batch):
        what = f"without chunked prefill a prompt of {length} tokens does not fit a batch of {batch}"
        yield Refusal("max-num-batched-tokens", what, "raise --max-num-batched-tokens, or leave chunked prefill on")
    for flag, value, limit_flag, limit in (
        ("max-num-seqs", sequences, "max-num-batched-tokens", batch),
        ("max-num-active-seqs", start.number("max-num-active-seqs"), "max-num-seqs", sequences),
        ("long-prefill-token-threshold", start.number("long-prefill-token-threshold"), "max-model-len", length),
        ("data-parallel-size", start.number("data-parallel-size"), "elastic-ep-max-dp-size", _elastic(start)),
        ("max-loras", start.number("max-loras"), "max-cpu-loras", start.number("max-cpu-loras")),
    ):
        if over(value, limit):
            what = f"--{flag} is {value}, above --{limit_flag}, which is {limit}"
            yield Refusal(flag, what, f"lower --{flag}, or raise --{limit_flag}")
    tensor = start.number("tensor-parallel-size", 1)
    context, decode = start.number("prefill-context-parallel-size", 1), start.number("decode-context-parallel-size", 1)
    if context == 1 and uneven(tensor, decode):
        what = f"--decode-context-parallel-size={decode} does not divide --tensor-parallel-size={tensor}"
        yield Refusal("decode-context-parallel-size", what, "choose a divisor of the tensor-parallel size")
    if start.on("enable-eplb") and product(tensor, context, start.number("data-parallel-size", 1)) == 1:
        what = "--enable-eplb balances experts over ranks, and there is one rank"
        yield Refusal("enable-eplb", what, "leave it out, or start more ranks")
    share = _decimal(start.text("gpu-memory-utilization"))
    if share is not None and not 0 < share <= 1:
        what = f"--gpu-memory-utilization={share:g} is no share of the memory: above 0, at most 1"
        yield Refusal("gpu-memory-utilization", what, "0.92 is vLLM's default")


def _elastic(start: Start) -> int | None:
    return start.number("elastic-ep-max-dp-size") if start.given("elastic-ep-max-dp-size") else None


def _decimal(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _sglang_numbers(start: Start) -> Iterator[Refusal]:
    tensor, nodes = start.number("tensor-parallel-size", 1), start.number("nnodes", 1)
    data, attention = start.number("data-parallel-size", 1), start.number("attn-dp-size", 1)
    ranks = product(tensor, start.number("pipeline-parallel-size", 1))
    if uneven(ranks, nodes):
        what = f"{ranks} ranks can't be spread evenly over --nnodes={nodes}"
        yield Refusal("nnodes", what, "choose a number of nodes that divides tensor times pipeline parallelism")
    if over(data, 1) and over(nodes, 1) and start.off("enable-dp-attention"):
        what = f"--dp-size={data} is for one node, and --nnodes is {nodes}"
        yield Refusal("data-parallel-size", what, "use data-parallel attention, or servers of their own")
    if over(data, 1) and over(attention, 1):
        what = f"--attn-dp-size={attention} and --dp-size={data} can't both be above 1"
        yield Refusal("attn-dp-size", what, "leave --dp-size at 1")
    split = attention if start.given("attn-dp-size") else data if start.on("enable-dp-attention") else None
    if uneven(tensor, split):
        what = f"data-parallel attention over {split} does not divide --tp-size={tensor}"
        yield Refusal("tensor-parallel-size", what, "choose a divisor of the tensor-parallel size")
    chunk, page = start.number("chunked-prefill-size"), start.number("page-size")
    if start.text("disaggregation-mode") != "decode" and over(chunk, 0) and uneven(chunk, page):
        what = f"--chunked-prefill-size={chunk} is no multiple of --page-size={page}"
        yield Refusal("chunked-prefill-size", what, "choose a multiple of the page size")
    port = start.number("port", 30000)
    if start.given("grpc-port") and port is not None and start.number("grpc-port") == port:
        yield Refusal("grpc-port", f"gRPC and HTTP both take port {port}", "give them different ports")


_WHY = "the engine ends while it builds its configuration, before it loads anything; the pod restarts for ever"

ENG010 = Rule(
    code="ENG010",
    severity=Severity.ERROR,
    title="an engine gets a flag without the flag that it needs, or with one that excludes it",
    why=_WHY,
    fix="give both flags, or neither",
    references=(
        "vllm/entrypoints/common/cli_args.py, vllm/config/parallel.py",
        "sglang/srt/arg_groups/pd_hook.py, validation_hook.py",
    ),
    needs=frozenset({"engines"}),
    check=check_companions,
)
ENG012 = Rule(
    code="ENG012",
    severity=Severity.ERROR,
    title="two numbers on an engine's command line contradict each other",
    why=_WHY,
    fix="make the two fit",
    references=(
        "vllm/config/scheduler.py, parallel.py, lora.py, cache.py",
        "sglang/srt/arg_groups/validation_hook.py, parallel_hook.py",
    ),
    needs=frozenset({"engines"}),
    check=check_numbers,
)

START_FLAG_RULES: Iterable[Rule] = (ENG010, ENG012)
