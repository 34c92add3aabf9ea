"""Which combinations a guide lists, and which of them lie near one that it does not."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from llmdctl.catalog.model import Accelerator, Cell, Engine, Guide

Combination = tuple[str, str, str]
"""Engine, accelerator, provider."""

NEAREST = 5


ROUTER_TEMPLATES = "router/"


def has_router(guide: Guide) -> bool:
    """True for a guide that renders a router; one that only tries hardware has none."""
    return any(made.template.startswith(ROUTER_TEMPLATES) for made in guide.objects)


def image_names(guide: Guide, engine: Engine, family: str) -> list[str]:
    """Image names that a stack of the guide uses: the engine's for a family, router, sidecar, tokeniser."""
    names = [f"{engine.name}-{family}"]
    if has_router(guide):
        names += ["endpoint-picker", "envoy"]
    if guide.kv_events and not (engine.kv_events and engine.kv_events.tokenises):
        names.append("vllm-render")
    return [*names, "routing-sidecar"] if "prefill" in guide.roles else names


def guide_images(guide: Guide, engines: Mapping[str, Engine], accelerators: Mapping[str, Accelerator]) -> set[str]:
    """Images that the guide's listed combinations need; those of entries that are not there are left out."""
    return {
        name
        for (engine, accelerator, _), _ in combinations(guide)
        if engine in engines and accelerator in accelerators
        for name in image_names(guide, engines[engine], accelerators[accelerator].family)
    }


def find_cell(guide: Guide, engine: str, accelerator: str, provider: str) -> Cell | None:
    """The first cell of the guide's matrix that lists exactly this combination, or None."""
    for cell in guide.matrix:
        if engine in cell.engines and accelerator in cell.accelerators and provider in cell.providers:
            return cell
    return None


def nearest_cell(guide: Guide, engine: str, accelerator: str, provider: str) -> tuple[Combination, Cell] | None:
    """The nearest listed combination, and its cell; one with the same engine if there is any.

    Sizes of roles depend on the engine most, but those of another engine are nearer than one accelerator a role.
    """
    listed = dict(combinations(guide))
    ranked = sorted(listed, key=lambda found: _distance(found, (engine, accelerator, provider)))
    chosen = next((found for found in ranked if found[0] == engine), ranked[0] if ranked else None)
    return (chosen, listed[chosen]) if chosen else None


def combinations(guide: Guide) -> list[tuple[Combination, Cell]]:
    """Every listed combination with its cell, in the order of the matrix; a repeated one counts where it is first."""
    found: dict[Combination, Cell] = {}
    for cell in guide.matrix:
        for combination in product(cell.engines, cell.accelerators, cell.providers):
            found.setdefault(combination, cell)
    return list(found.items())


def nearest_cells(guide: Guide, engine: str, accelerator: str, provider: str) -> list[Combination]:
    """At most five listed combinations that differ least from this one, in fewest coordinates first.

    Of two that differ in as many, the one that keeps the accelerator comes first, then the one that keeps the
    provider: hardware and cluster are what a user can change least.
    """
    wanted = (engine, accelerator, provider)
    listed = [combination for combination, _ in combinations(guide)]
    return sorted(listed, key=lambda found: _distance(found, wanted))[:NEAREST]


def _distance(combination: Combination, wanted: Combination) -> tuple[int, bool, bool]:
    differs = [have != want for have, want in zip(combination, wanted, strict=True)]
    return sum(differs), differs[1], differs[2]
