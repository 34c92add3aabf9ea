"""Collecting what catalog entries contribute to a role, in merge order, with the origin of each piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from llmdctl.catalog.model import Add, AddedNetworks, AddedResources, Claim, Contribution, Scaled, When
from llmdctl.findings import Path
from llmdctl.manifest.typed import dump
from llmdctl.plan.merge import merge
from llmdctl.plan.origin import Ledger, Origin

Context = Mapping[str, frozenset[str]]
"""Field of `When` -> the values that it may equal (a provider equals itself and what it extends)."""


def matches(when: When, context: Context) -> bool:
    """True when every field of the condition holds."""
    for condition in fields(when):
        wanted = getattr(when, condition.name)
        if wanted is None:
            continue
        choices = {wanted} if isinstance(wanted, str) else set(wanted)
        if not choices & context.get(condition.name, frozenset()):
            return False
    return True


@dataclass(slots=True)
class RoleAdds:
    """The sum of all contributions to a role: `data` plain, merged; claims and reasons typed."""

    data: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    capabilities: dict[str, str] = field(default_factory=dict)
    scaled: list[tuple[AddedResources, Origin]] = field(default_factory=list)
    networks: AddedNetworks | None = None


def collect(entries: list[tuple[Origin, list[Contribution]]], context: Context, ledger: Ledger, path: Path) -> RoleAdds:
    """Merges the contributions of all entries that hold in `context`. Origins are noted below `path`."""
    adds = RoleAdds()
    for origin, contributions in entries:
        for contribution in contributions:
            if matches(contribution.when, context):
                _apply(adds, contribution.add, origin, ledger, path)
    return adds


def _apply(adds: RoleAdds, add: Add, origin: Origin, ledger: Ledger, path: Path) -> None:
    plain = dump(add)
    plain.pop("resources", None)
    for claim in add.claims or []:
        adds.claims[claim.name] = claim
        ledger.note((*path, "claims", claim.name), origin)
    plain.pop("claims", None)
    if add.networks is not None:
        adds.networks = add.networks
        ledger.note((*path, "networks"), origin)
    plain.pop("networks", None)
    security = plain.get("securityContext", {})
    for capability in security.pop("capabilities", []):
        adds.capabilities[capability["name"]] = capability["why"]
        ledger.note((*path, "capabilities", capability["name"]), origin)
    if add.resources is not None:
        adds.scaled.append((add.resources, origin))
    merge(adds.data, plain, lambda _: origin, ledger, path)


def scale(value: str | int | float | Scaled | None, *, accelerators: int, ranks: int) -> str | int | float | None:
    """A quantity for one pod: `perAccelerator` and `perRank` multiply, `perRole` counts once."""
    if not isinstance(value, Scaled):
        return value
    return (value.per_accelerator or 0) * accelerators + (value.per_rank or 0) * ranks + (value.per_role or 0)
