"""Ranks and accelerators of a role."""

from __future__ import annotations

from llmdctl.catalog.model import Accelerator, ModelEntry
from llmdctl.findings import Path, UserError, counted
from llmdctl.plan.model import Balancing, ParallelismPlan
from llmdctl.plan.origin import Ledger, formula
from llmdctl.plan.ranks import check_balancing
from llmdctl.spec.model import Role


def plan_parallelism(
    name: str, role: Role, accelerator: Accelerator, model: ModelEntry | None, ledger: Ledger, path: Path
) -> ParallelismPlan:
    """Sizes of one replica. Raises UserError when no node can run it, or the model refuses it."""
    wanted = role.parallelism
    tensor = (wanted and wanted.tensor) or 1
    pipeline = (wanted and wanted.pipeline) or 1
    local = (wanted and wanted.data_local) or 1
    data = (wanted and wanted.data) or local
    where = f"spec.roles.{name}.parallelism"
    if data % local:
        raise UserError(
            f"{where}: data {data} is not a multiple of dataLocal {local}",
            fix="make it one",
            about=[f"{where}.data", f"{where}.dataLocal"],
        )
    ranks = tensor * pipeline * local
    accelerators = -(-ranks // accelerator.ranks_per_accelerator) if accelerator.resource else 0
    if accelerators > accelerator.per_node:
        raise UserError(
            f"{where}: a pod of role {name} needs {counted(accelerators, 'accelerator')}",
            why=f"a node with {accelerator.name} has {accelerator.per_node}, and a pod cannot span nodes",
            fix="make tensor smaller, or use an accelerator with larger nodes",
            about=[f"{where}.tensor", f"{where}.pipeline", f"{where}.dataLocal", "spec.accelerator"],
        )
    heads = model.facts.attention_heads if model else None
    if heads and heads % tensor:
        raise UserError(
            f"{where}.tensor: {tensor} does not divide the {heads} attention heads of the model",
            why="every rank takes the same number of heads, so the engine refuses to start (vllm config/model.py)",
            fix="use a divisor, such as 1, 2, 4 or 8",
            about=[f"{where}.tensor", "spec.model.id"],
        )
    shares = tensor * pipeline * (data if wanted and wanted.expert else 1) / accelerator.ranks_per_accelerator
    _check_memory(where, model, accelerator, shares, role)
    balancing = _balancing(data, local, Balancing((wanted and wanted.load_balancing) or Balancing.PER_RANK))
    experts = model.facts.experts if model else None
    check_balancing(where, balancing, data, local, experts)
    expert = bool(wanted and wanted.expert)
    if expert and experts and experts % (tensor * data):
        raise UserError(
            f"{where}: {tensor * data} ranks do not divide the {experts} experts of the model",
            why="every rank takes the same number of experts",
            fix="change data or tensor",
            about=[f"{where}.data", f"{where}.tensor", "spec.model.id"],
        )
    ledger.note(
        path,
        formula("sizes of spec.roles, 1 where none is given; a pod has tensor x pipeline x dataLocal accelerators"),
    )
    return ParallelismPlan(
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        data_local=local,
        expert=expert,
        balancing=balancing,
        accelerators=accelerators,
        world_size=tensor * pipeline * data,
        pods=data // local,
    )


def _balancing(data: int, local: int, wanted: Balancing) -> Balancing:
    if data == 1:
        return Balancing.NONE
    if wanted == Balancing.LEADER:
        # A group of one pod has nobody to lead: as in the hybrid form, its one port stands for all ranks.
        return Balancing.LEADER if data > local else Balancing.HYBRID
    return Balancing.PER_POD if local == 1 else wanted


def _check_memory(where: str, model: ModelEntry | None, accelerator: Accelerator, shares: float, role: Role) -> None:
    """Raises UserError when the weights alone exceed the memory of the accelerators that share them."""
    weights = model.facts.weights_gib if model else None
    # Weights that are quantised while they are loaded take less than the published files.
    loads_smaller = any("quantization" in name or name == "load-format" for name in role.engine_args or {})
    if not weights or not accelerator.memory_gib or loads_smaller or weights <= accelerator.memory_gib * shares:
        return
    assert model is not None  # noqa: S101 - its weights are known
    raise UserError(
        f"{where}: the weights of {model.name} take {weights:g} GiB, {shares:g} x {accelerator.name} have "
        f"{accelerator.memory_gib * shares:g} GiB",
        why="no cache and no activations would fit beside them either",
        fix="raise tensor (or data, with expert parallelism), use larger accelerators, or a smaller model",
        about=[f"{where}.tensor", "spec.model.id", "spec.accelerator"],
    )
