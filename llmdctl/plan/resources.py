"""Container resources: contributions, a user's own, and the accelerators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmdctl.findings import Path, UserError
from llmdctl.plan.contributions import RoleAdds, scale
from llmdctl.plan.model import ParallelismPlan
from llmdctl.plan.origin import Ledger, Origin, formula
from llmdctl.spec.model import Resources


def plan_resources(
    adds: RoleAdds,
    wanted: Resources | None,
    accelerator: str | None,
    owned: str,
    others: Mapping[str, str],
    parallelism: ParallelismPlan,
    claims: list[dict[str, Any]],
    ledger: Ledger,
    path: Path,
) -> dict[str, Any]:
    """`requests`, `limits` and `claims` of the engine's container.

    `accelerator` is the extended resource to ask for, or None when a claim brings the device; `owned` is its
    name either way, and `others` are those of the catalog's other accelerators, with what has them. Raises
    UserError when the user's resources name one of them: what a pod gets follows from its ranks.
    """
    ledger.note(path, formula("contributions of the catalog, then spec.roles.*.resources, then the accelerators"))
    totals: dict[str, dict[str, Any]] = {"requests": {}, "limits": {}}
    for added, origin in adds.scaled:
        for side, values in (("requests", added.requests), ("limits", added.limits)):
            for name, quantity in (values or {}).items():
                amount = scale(quantity, accelerators=parallelism.accelerators, ranks=parallelism.data_local)
                _set(totals, side, name, amount, origin, ledger, path)
    if wanted is not None:
        _refuse_accelerators(wanted, owned, others, path)
        given: Path = ("spec", *path[:2], "resources")
        for side, own in (("requests", wanted.requests), ("limits", wanted.limits)):
            for name, quantity in (own or {}).items():
                _set(totals, side, name, quantity, ledger.of((*given, side, name)), ledger, path)
    if accelerator is not None:
        count = formula("tensor x pipeline x dataLocal ranks of one pod")
        _set(totals, "limits", accelerator, parallelism.accelerators, count, ledger, path)
    _complete_extended(totals, ledger, path)
    out = {side: values for side, values in totals.items() if values}
    return {**out, "claims": claims} if claims else out


def _refuse_accelerators(wanted: Resources, owned: str, others: Mapping[str, str], path: Path) -> None:
    for side, own in (("requests", wanted.requests), ("limits", wanted.limits)):
        where = f"spec.roles.{path[1]}.resources.{side}"
        for name in own or {}:
            about = [("spec", "roles", str(path[1]), "resources", side, name)]
            if name == owned:
                raise UserError(
                    f"{where}: {name} is counted by llmdctl",
                    why="a pod gets one accelerator a rank: tensor x pipeline x dataLocal",
                    fix=f"set spec.roles.{path[1]}.parallelism.tensor (or dataLocal) instead",
                    about=about,
                )
            if name in others:
                raise UserError(
                    f"{where}: {name} is a resource of {others[name]}",
                    why="a pod has accelerators of one kind, and their number follows from its ranks",
                    fix=f"leave it out, or set spec.accelerator to {others[name]}",
                    about=about,
                )


def _set(
    totals: dict[str, dict[str, Any]], side: str, name: str, amount: Any, origin: Origin, ledger: Ledger, path: Path
) -> None:
    if amount is None:
        totals[side].pop(name, None)
        return
    # Quantities are strings in the API; a number in YAML is only a convenience.
    totals[side][name] = str(amount)
    ledger.note((*path, side, name), origin)


def _complete_extended(totals: dict[str, dict[str, Any]], ledger: Ledger, path: Path) -> None:
    requests, limits = totals["requests"], totals["limits"]
    for name in sorted({name for name in (*requests, *limits) if "/" in name}):
        amount = limits.get(name, requests.get(name))
        requests[name] = limits[name] = amount
        ledger.note(
            (*path, "requests", name), formula("extended resources: request = limit, or the API server refuses")
        )
