"""Data-parallel ranks of an engine: its flags, the ports that they open, and how rank numbers get into the pod.

vLLM has four forms. With a port a rank, a supervisor starts one API server for each local rank, so that the router
chooses ranks; in the hybrid form one API server balances the ranks of its pod; with a single rank a pod, each pod is
one rank; and with a leader, the first pod's API server balances the ranks of the whole group, whose other pods are
headless. Sources: vllm 0.30 entrypoints/launchers (cli_args.py, dp_supervisor.py), engine/arg_utils.py.
"""

from __future__ import annotations

import shlex
from typing import Any

from llmdctl.catalog.model import Engine
from llmdctl.findings import UserError
from llmdctl.plan.model import Balancing, ParallelismPlan

MAX_TARGET_PORTS = 8
"""An InferencePool takes eight targetPorts (GAIE inferencepool_types.go)."""

RPC_PORT = 5555
"""Port of the first pod for the data-parallel handshake; any port that nothing else in the pod uses."""

SUPERVISOR_PORT_NAME = "supervisor"
_WORKER_INDEX = "LWS_WORKER_INDEX"
_LEADER = "$(LWS_LEADER_ADDRESS)"


def rank_ports(base: int, parallelism: ParallelismPlan) -> list[int]:
    """The ports that answer requests: one a local rank, or only the first."""
    count = parallelism.data_local if parallelism.balancing == Balancing.PER_RANK else 1
    return list(range(base, base + count))


def supervisor_port(base: int, parallelism: ParallelismPlan) -> int | None:
    """The port behind those of the ranks, where vLLM's supervisor answers for all of them; None without one."""
    return base + parallelism.data_local if parallelism.balancing == Balancing.PER_RANK else None


def data_parallel_args(engine: Engine, role: str, parallelism: ParallelismPlan, port: int) -> dict[str, Any]:
    """Flags for more than one rank; the one that only the pod knows is `start_rank`'s.

    Raises UserError for an engine whose data parallelism llmdctl does not know.
    """
    if not parallelism.balancing:
        return {}
    if engine.data_parallel != "vllm":
        raise UserError(
            f"spec.roles.{role}.parallelism.data: engine {engine.name} has no data parallelism in llmdctl yet",
            fix="use vllm, or leave parallelism.data out",
            about=[f"spec.roles.{role}.parallelism.{size}" for size in ("data", "dataLocal")] + ["spec.engine"],
        )
    args: dict[str, Any] = {"data-parallel-size": parallelism.data}
    if parallelism.balancing == Balancing.PER_RANK:
        args["data-parallel-size-local"] = parallelism.data_local
        args["data-parallel-multi-port-external-lb"] = True
        args["data-parallel-supervisor-port"] = supervisor_port(port, parallelism)
    elif parallelism.balancing == Balancing.HYBRID:
        args["data-parallel-size-local"] = parallelism.data_local
        # With every rank in one pod there is nothing to be hybrid about: the engine balances all of them.
        args["data-parallel-hybrid-lb"] = True if parallelism.pods > 1 else None
    elif parallelism.balancing == Balancing.LEADER:
        # No start rank: from it, even from 0, newer versions conclude that each pod balances for itself (arg_utils.py).
        args["data-parallel-size-local"] = parallelism.data_local
    elif parallelism.pods > 1:
        args["data-parallel-rank"] = f"$({_WORKER_INDEX})"
    if parallelism.pods > 1:
        args["data-parallel-address"] = _LEADER
        args["data-parallel-rpc-port"] = RPC_PORT
    return args


def launcher(command: list[str], parallelism: ParallelismPlan) -> list[str]:
    """The container's command: the engine itself, or a shell that works out the first rank of this pod.

    The arguments stay a list: the shell passes them on as they are.
    """
    if parallelism.pods == 1 or parallelism.data_local == 1 or parallelism.balancing == Balancing.LEADER:
        return list(command)
    return _counting(command, parallelism)


def _counting(command: list[str], parallelism: ParallelismPlan) -> list[str]:
    start = f"$(({_WORKER_INDEX} * {parallelism.data_local}))"
    line = f'exec {shlex.join(command)} "$@" --data-parallel-start-rank={start}'
    return ["/bin/sh", "-c", line, command[0]]


def worker_launcher(command: list[str], parallelism: ParallelismPlan) -> list[str]:
    """The command of a headless worker."""
    return list(command) if parallelism.data_local == 1 else _counting(command, parallelism)


def worker_args(engine: Engine, args: list[str], parallelism: ParallelismPlan) -> list[str]:
    """Arguments of a headless worker: its leader's, but for the port that it does not serve."""
    kept = [arg for arg in args if arg.partition("=")[0] != f"--{engine.flags.port}"]
    start = [f"--data-parallel-start-rank=$({_WORKER_INDEX})"] if parallelism.data_local == 1 else []
    return [*kept, "--headless", *start]


def container_ports(name: str, base: int, parallelism: ParallelismPlan) -> list[dict[str, Any]]:
    """Declared ports of the engine's container. `name` is the port's name where there is only one."""
    ports = rank_ports(base, parallelism)
    supervisor = supervisor_port(base, parallelism)
    if supervisor is None:
        named = [(name, ports[0])]
    else:
        named = [(f"rank{index}", port) for index, port in enumerate(ports)] + [(SUPERVISOR_PORT_NAME, supervisor)]
    if parallelism.pods > 1:
        named.append(("dp-rpc", RPC_PORT))
    return [{"name": port_name, "containerPort": port, "protocol": "TCP"} for port_name, port in named]


def check_balancing(where: str, balancing: str, data: int, local: int, experts: int | None) -> None:
    """Raises UserError for data-parallel sizes that the engine or an InferencePool refuses."""
    if data == 1:
        return
    if balancing == Balancing.PER_RANK and local > MAX_TARGET_PORTS:
        raise UserError(
            f"{where}.dataLocal: {local} ranks in a pod have a port each",
            why=f"an InferencePool takes {MAX_TARGET_PORTS} target ports",
            fix=f"set loadBalancing: hybrid, or use at most {MAX_TARGET_PORTS} ranks a pod",
        )
    if experts == 0:
        raise UserError(
            f"{where}.data: the ranks of a model without experts have nothing to share",
            why="vLLM refuses to start (arg_utils.py: run independent instances instead)",
            fix="set replicas instead of data",
            about=[f"{where}.data", f"{where}.dataLocal", "spec.model.id"],
        )
