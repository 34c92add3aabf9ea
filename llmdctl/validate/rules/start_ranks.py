"""ENG011: how vLLM's data-parallel ranks are started and balanced, as its start-up code checks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Outcome, Rule, Severity
from llmdctl.validate.rules.start import Refusal, Start, over, product, refusals, uneven
from llmdctl.view import View
from llmdctl.view.engine import VLLM

_MULTI, _EXTERNAL, _HYBRID = (
    "data-parallel-multi-port-external-lb",
    "data-parallel-external-lb",
    "data-parallel-hybrid-lb",
)
_RANK, _START, _LOCAL, _SIZE = (
    "data-parallel-rank",
    "data-parallel-start-rank",
    "data-parallel-size-local",
    "data-parallel-size",
)
SUPERVISOR_PORT = 9256
"""Default of --data-parallel-supervisor-port (vllm/entrypoints/launchers/dp_supervisor.py)."""


def check_ranks(view: View) -> Iterator[Outcome]:
    """ENG011: modes of load balancing exclude each other, or lack what they need."""
    return refusals(view, {VLLM: _read})


def _read(start: Start) -> Iterator[Refusal]:
    multi = start.on(_MULTI)
    external = [flag for flag in (_EXTERNAL,) if start.on(flag)] + [flag for flag in (_RANK,) if start.given(flag)]
    hybrid = [flag for flag in (_HYBRID,) if start.on(flag)]
    if start.given(_START) and not multi:
        hybrid.append(_START)
    modes = [[_MULTI]] if multi else []
    modes += [found for found in (external, hybrid) if found]
    if len(modes) > 1:
        first, second = modes[0][0], modes[1][0]
        what = f"--{first} and --{second} choose different ways to balance data-parallel ranks"
        yield Refusal(second, what, "keep one of the two")
        return
    if multi:
        yield from _supervised(start)
    elif external:
        yield from _external(start, external[0])
    elif _HYBRID in hybrid:
        yield from _hybrid(start)
    yield from _headless(start, hybrid)
    yield from _sizes(start)
    yield from _nodes(start)


def _supervised(start: Start) -> Iterator[Refusal]:
    size, local = start.number(_SIZE, 1), start.number(_LOCAL)
    if start.absent(_LOCAL) or over(2, local):
        yield Refusal(_MULTI, f"--{_MULTI} needs --{_LOCAL} of 2 or more", f"give --{_LOCAL}")
    if over(2, size):
        yield Refusal(_MULTI, f"--{_MULTI} needs --{_SIZE} of 2 or more", f"give --{_SIZE}")
    if not over(local, size) and uneven(size, local):
        yield Refusal(_LOCAL, f"--{_LOCAL}={local} does not divide --{_SIZE}={size}", "choose a divisor")
    count = start.number("api-server-count", 1)
    if over(count, 1) or count == 0:
        what = f"--api-server-count={count} does not go with --{_MULTI}: each rank has one server"
        yield Refusal("api-server-count", what, "leave it out")
    for flag in ("grpc", "uds"):
        if start.given(flag):
            yield Refusal(flag, f"--{flag} does not go with --{_MULTI}", f"leave --{flag} out")
    if start.given("ssl-keyfile") != start.given("ssl-certfile") and not start.engine.is_open:
        alone = "ssl-keyfile" if start.given("ssl-keyfile") else "ssl-certfile"
        yield Refusal(alone, f"--{alone} is given without its other half", "give both, or neither")
    port, supervisor = start.number("port", 8000), start.number("data-parallel-supervisor-port", SUPERVISOR_PORT)
    if port is not None and supervisor is not None and local and port <= supervisor < port + local:
        what = f"the supervisor's port {supervisor} is also that of a rank: they take {port} to {port + local - 1}"
        yield Refusal("data-parallel-supervisor-port", what, "choose a port outside that range")


def _external(start: Start, flag: str) -> Iterator[Refusal]:
    size, local = start.number(_SIZE, 1), start.number(_LOCAL, 1)
    environment = "VLLM_DP_SIZE" in start.engine.container.env or start.engine.container.env_is_open
    if start.on(_EXTERNAL) and over(2, size) and not environment:
        yield Refusal(_EXTERNAL, f"--{_EXTERNAL} needs --{_SIZE} of 2 or more", f"give --{_SIZE}")
    elif start.on(_EXTERNAL) and start.absent(_RANK) and start.number("nnodes", 1) == 1 and not environment:
        yield Refusal(_EXTERNAL, f"--{_EXTERNAL} needs --{_RANK}: nothing tells which rank this is", f"give --{_RANK}")
    if local is not None and local != 1:
        what = f"--{flag} starts one rank, and --{_LOCAL} is {local}"
        yield Refusal(_LOCAL, what, f"leave --{_LOCAL} out")


def _hybrid(start: Start) -> Iterator[Refusal]:
    if start.absent(_LOCAL):
        yield Refusal(_HYBRID, f"--{_HYBRID} needs --{_LOCAL}", f"give --{_LOCAL}: the ranks of this pod")


def _headless(start: Start, hybrid: list[str]) -> Iterator[Refusal]:
    if not start.on("headless"):
        return
    if over(start.number("api-server-count", 0), 0):
        what = "--headless has no API server, and --api-server-count asks for some"
        yield Refusal("api-server-count", what, "leave --api-server-count out")
    if _HYBRID in hybrid:
        what = f"--{_HYBRID} needs an API server in each pod, and --headless has none"
        yield Refusal("headless", what, "leave --headless out")


def _sizes(start: Start) -> Iterator[Refusal]:
    size = start.number(_SIZE, 1)
    for flag in (_LOCAL, _RANK):
        value = start.number(flag) if start.given(flag) else None
        if over(value, size if flag == _LOCAL else size and size - 1):
            what = f"--{flag}={value} is beyond --{_SIZE}={size}"
            yield Refusal(flag, what, "ranks count from 0" if flag == _RANK else f"raise --{_SIZE}")


def _nodes(start: Start) -> Iterator[Refusal]:
    nodes = start.number("nnodes", 1)
    if nodes is None or nodes < 2:
        return
    rank = start.number("node-rank", 0)
    if over(rank, nodes - 1):
        yield Refusal("node-rank", f"--node-rank={rank} is beyond --nnodes={nodes}", "node ranks count from 0")
    for flag in ("data-parallel-backend", "distributed-executor-backend"):
        if start.text(flag) == "ray":
            yield Refusal(flag, f"--{flag}=ray does not go with --nnodes={nodes}", "use mp, or leave --nnodes to Ray")
    factors = ("tensor-parallel-size", "pipeline-parallel-size", "prefill-context-parallel-size", _SIZE)
    ranks = product(*(start.number(flag, 1) for flag in factors))
    if uneven(ranks, nodes):
        what = f"{ranks} ranks can't be spread evenly over --nnodes={nodes}"
        yield Refusal("nnodes", what, "choose a number of nodes that divides the number of ranks")


ENG011 = Rule(
    code="ENG011",
    severity=Severity.ERROR,
    title="vLLM's data-parallel ranks are started in a way that it refuses",
    why="vLLM ends while it builds its configuration, before it loads anything; the pod restarts for ever",
    fix="choose one way of balancing, and give the sizes that it needs",
    references=(
        "vllm/entrypoints/cli/serve.py",
        "vllm/entrypoints/launchers/dp_supervisor.py",
        "vllm/engine/arg_utils.py",
        "vllm/config/parallel.py",
    ),
    needs=frozenset({"engines"}),
    check=check_ranks,
)

START_RANK_RULES: Iterable[Rule] = (ENG011,)
