"""The engine's command line: derived flags, contributions, and a user's own, in a fixed order."""

from __future__ import annotations

from functools import cache
from typing import Any

from llmdctl.catalog.model import Engine
from llmdctl.engines import build
from llmdctl.engines.tables import FlagTable, load_table, spelt, table_for
from llmdctl.findings import Path, UserError
from llmdctl.findings.versions import Version
from llmdctl.plan.model import ImagePlan, ModelPlan, ParallelismPlan
from llmdctl.plan.origin import Ledger, formula
from llmdctl.plan.ranks import data_parallel_args
from llmdctl.plan.transfer import Transfer

OWNED = {
    "port": "it follows from the sidecar",
    "host": "it follows from the engine",
    "tensor-parallel-size": "set spec.roles.<role>.parallelism.tensor",
    "pipeline-parallel-size": "set spec.roles.<role>.parallelism.pipeline",
    "data-parallel-size": "set spec.roles.<role>.parallelism.data",
    "data-parallel-size-local": "set spec.roles.<role>.parallelism.dataLocal",
    "data-parallel-start-rank": "it follows from the pod's index in its group",
    "data-parallel-multi-port-external-lb": "set spec.roles.<role>.parallelism.loadBalancing",
    "data-parallel-hybrid-lb": "set spec.roles.<role>.parallelism.loadBalancing",
    "headless": "set spec.roles.<role>.parallelism.loadBalancing",
    "data-parallel-supervisor-port": "the probes have to agree with it",
    "enable-expert-parallel": "set spec.roles.<role>.parallelism.expert",
    "model": "set spec.model.id",
    "model-path": "set spec.model.id",
    "served-model-name": "set spec.model.servedName",
    "revision": "set spec.model.revision",
    "max-model-len": "set spec.model.maxLength",
    "context-length": "set spec.model.maxLength",
    "kv-transfer-config": "set spec.kvTransfer",
    "disaggregation-mode": "it follows from the role",
    "disaggregation-transfer-backend": "set spec.kvTransfer.connector",
    "disaggregation-bootstrap-port": "the sidecar has to know it too, so llmdctl owns it",
}
"""Flags that the plan derives, because something else in the stack must agree with them."""


def derived_args(
    engine: Engine, role: str, model: ModelPlan, parallelism: ParallelismPlan, port: int, transfer: Transfer | None
) -> dict[str, Any]:
    """Flags of a role that follow from the plan, in the order in which they are written.

    Raises UserError for parallelism that the engine has no flags for.
    """
    flags = engine.flags
    args: dict[str, Any] = {}
    if flags.model:
        args[flags.model] = model.argument
    if model.revision:
        args[flags.revision] = model.revision
    if model.served_name != model.argument:
        if not flags.served_name:
            raise UserError(
                f"spec.model: engine {engine.name} answers only to {model.argument}: it has no flag for another name",
                fix="leave spec.model.servedName out, and take the model from the hub or a path that clients may name",
                about=["spec.model.servedName", "spec.engine"],
            )
        args[flags.served_name] = model.served_name
    if model.max_length and flags.max_length:
        args[flags.max_length] = model.max_length
    if flags.host and engine.listen_host:
        args[flags.host] = engine.listen_host
    args[flags.port] = port
    if flags.tensor:
        args[flags.tensor] = parallelism.tensor
    if parallelism.pipeline > 1:
        args[flags.pipeline] = parallelism.pipeline
    if parallelism.expert:
        if not flags.expert:
            raise UserError(
                f"spec.roles.{role}.parallelism.expert: engine {engine.name} has no switch for expert parallelism",
                fix="leave parallelism.expert out and set the engine's own flags in engineArgs",
                about=[f"spec.roles.{role}.parallelism.expert", "spec.engine"],
            )
        args[flags.expert] = True
    if engine.config_file:
        args[engine.config_file.flag] = engine.config_file.path
    args.update(data_parallel_args(engine, role, parallelism, port))
    args.update(transfer.args if transfer else {})
    return args


def engine_args(
    engine: Engine,
    derived: dict[str, Any],
    contributed: dict[str, Any],
    wanted: dict[str, Any],
    model: ModelPlan,
    image: ImagePlan,
    role: str,
    ledger: Ledger,
    path: Path,
) -> list[str]:
    """The argument list. `wanted` is a user's engineArgs: null removes a contributed flag.

    Raises UserError when it sets a flag that the plan owns, or one that the engine version does not have.
    """
    table = table_for(engine.name, Version.parse(image.version))

    def canonical(name: str) -> str:
        return _canonical(engine.name, table, name)

    merged = dict(derived)
    for name in derived:
        ledger.note((*path, f"--{name}"), formula("derived from the plan"))
    settled = {canonical(name) for name in derived}
    owned = settled | _owned(engine.name, table.version if table else "")
    for name, value in {**contributed, **wanted}.items():
        plain = spelt(engine.name, name)
        if canonical(plain) in settled and name not in wanted:
            # The catalog's usual value gives way where this plan has to agree with something else.
            continue
        if canonical(plain) in owned:
            hint = next((hint for flag, hint in OWNED.items() if canonical(flag) == canonical(plain)), "")
            raise UserError(
                f"spec.roles.{role}.engineArgs.{name}: llmdctl sets this flag itself",
                why="another part of the stack has to agree with it",
                fix=f"leave it out: {hint}" if hint else "leave it out",
            )
        merged.pop(plain, None)
        if value is not None:
            merged[plain] = value
            given = ("spec", "roles", role) if name in wanted else ("roles", role)
            for written in (f"--{plain}", f"--no-{plain}"):
                ledger.note((*path, written), ledger.of((*given, "engineArgs", name)))
    positional = [] if engine.flags.model else [model.argument]
    args = positional + build(engine.name, merged, table)
    ledger.note(path, formula("flags derived from the plan, then the catalog's, then spec.roles.*.engineArgs"))
    return args


def _canonical(engine: str, table: FlagTable | None, name: str) -> str:
    return (table.canonical(name) if table else None) or spelt(engine, name)


@cache
def _owned(engine: str, version: str) -> frozenset[str]:
    """The flags of OWNED by the names that this engine version has for them."""
    table = load_table(engine, version) if version else None
    return frozenset(_canonical(engine, table, name) for name in OWNED)
