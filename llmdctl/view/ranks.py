"""How many ranks an engine starts in its pod, and which data-parallel ranks they are.

Sources: vLLM engine/arg_utils.py, config/parallel.py and entrypoints/cli/serve.py; SGLang server_args.py.
"""

from __future__ import annotations

import re

from llmdctl.engines import Opaque
from llmdctl.findings.frozen import frozen
from llmdctl.view.arithmetic import evaluate
from llmdctl.view.engine import SGLANG, TRTLLM, VLLM, EngineCommand
from llmdctl.view.flags import to_integer

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_DEEPEST = 3
_RANK_FLAGS = ("data-parallel-rank", "dpn", "data-parallel-external-lb")


@frozen
class World:
    """`ranks` is what is sure to run in the pod; `sure` tells that there can't be more. `formula` explains it."""

    ranks: int
    sure: bool
    formula: str


def number(engine: EngineCommand, default: int | None, *names: str, index: int | None = None) -> int | None:
    """As EngineCommand.integer, with shell arithmetic over known variables; `index` is the pod's index in its group."""
    found = engine.option(*names)
    if found is None or len(found.values) != 1 or not isinstance(found.values[0], Opaque):
        return engine.integer(default, *names)
    values = {
        name: value for name, item in engine.container.env.items() if (value := to_integer(item.value)) is not None
    }
    if index is not None:
        values["LWS_WORKER_INDEX"] = index
    _assign(engine, found.values[0].text, values)
    return evaluate(found.values[0].text, values)


def _assign(engine: EngineCommand, text: str, values: dict[str, int], depth: int = 0) -> None:
    """Adds the variables that a script sets once, by arithmetic, and that a word names."""
    if depth > _DEEPEST:
        return
    script = "\n".join((*engine.container.command, *engine.container.args))
    for name in set(_NAME.findall(text)) - values.keys():
        set_to = [match[1] for match in re.finditer(rf"(?m)^[ \t]*(?:export[ \t]+)?{name}=(.*)$", script)]
        if len(set_to) == 1 and name not in engine.container.env:
            word = set_to[0].strip().rstrip(";").strip().strip('"')
            _assign(engine, word, values, depth + 1)
            value = evaluate(word, values)
            if value is not None:
                values[name] = value


def pipeline_parallel(engine: EngineCommand) -> int | None:
    """Stages that the layers are split into."""
    return number(engine, 1, "pipeline-parallel-size", "pp-size", "pp", "pp_size")


def tensor_parallel(engine: EngineCommand) -> int | None:
    """Ranks that share a layer, shell arithmetic included."""
    names = ("tensor-parallel-size", "tp-size", "tp", "tensor_parallel_size", "tp_size")
    return number(engine, 1, *names)


def data_parallel(engine: EngineCommand) -> int | None:
    """All data-parallel ranks, over all pods."""
    return number(engine, 1, "data-parallel-size", "dp-size", "dp")


def local_data_parallel(engine: EngineCommand) -> int | None:
    """The data-parallel ranks of this pod."""
    if engine.option("data-parallel-size-local", "dpl") is not None:
        return number(engine, 1, "data-parallel-size-local", "dpl")
    if any(engine.option(name) is not None for name in _RANK_FLAGS):
        return 1
    return data_parallel(engine)


def nodes(engine: EngineCommand) -> int | None:
    """Pods that one engine is spread over by its own flags."""
    return number(engine, 1, "nnodes")


def uses_ray(engine: EngineCommand) -> bool:
    """True when Ray places the ranks: the command line tells nothing of this pod's share."""
    backends = (engine.text("distributed-executor-backend"), engine.text("data-parallel-backend", "dpb"))
    return "ray" in backends or engine.is_set("use-ray")


def world(engine: EngineCommand) -> World | None:
    """The ranks of an engine in its pod; None for engines that need no accelerator."""
    if engine.engine not in (VLLM, SGLANG, TRTLLM):
        return None
    factors = {"tensor": tensor_parallel(engine), "pipeline": pipeline_parallel(engine)}
    if engine.engine == VLLM:
        factors["prefill context"] = number(engine, 1, "prefill-context-parallel-size", "pcp")
        factors["data, in this pod,"] = local_data_parallel(engine)
    elif engine.engine == SGLANG and not engine.is_set("enable-dp-attention"):
        factors["data"] = data_parallel(engine)
    ranks = 1
    for value in factors.values():
        ranks *= 1 if value is None else value
    spread = 1 if engine.engine == TRTLLM else nodes(engine)
    if spread is None:
        return World(1, False, "")
    told = [f"{value} {name}" for name, value in factors.items() if value is not None and value != 1]
    formula = " x ".join(told) + " parallel" if told else "one rank"
    if spread > 1:
        if engine.engine == VLLM:
            total = (factors["tensor"] or 1) * (factors["pipeline"] or 1) * (factors["prefill context"] or 1)
            ranks = total * (data_parallel(engine) or 1)
        if ranks % spread:
            return World(1, False, "")
        ranks //= spread
        formula += f" over {spread} pods"
    return World(ranks, all(value is not None for value in factors.values()), formula)
