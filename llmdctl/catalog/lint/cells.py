"""Cells: combinations that a guide lists in its matrix, and those that a vendor's entry adds to a guide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from llmdctl.catalog.lint.flags import lint_default_flags
from llmdctl.catalog.lint.names import Names
from llmdctl.catalog.lint.problem import Problems
from llmdctl.catalog.load import Catalog
from llmdctl.catalog.model import Accelerator, Cell, Guide, Provider
from llmdctl.catalog.roots import EntryFile
from llmdctl.catalog.select import Combination, image_names
from llmdctl.findings import Path
from llmdctl.manifest.typed import fields_of
from llmdctl.spec.model import Roles, SpecFields


def lint_cells(
    cells: Sequence[Cell], guides: Sequence[Guide | None], at: str, file: EntryFile, names: Names, problems: Problems
) -> None:
    """Checks cells below the field `at`; `guides` are theirs, one a cell, None where there is no such guide."""
    first: dict[tuple[str, Combination], str] = {}
    for guide in guides:
        # What the guide itself lists stands before what others add to it.
        if at != "matrix" and guide is not None:
            first.update(((guide.name, found), "the guide") for cell in guide.matrix for found in _combinations(cell))
    for index, (cell, guide) in enumerate(zip(cells, guides, strict=True)):
        path: Path = (at, index)
        _lint_names(cell, file, path, names, problems)
        if guide is None:
            continue
        lint_roles(cell.defaults, guide, file, (*path, "defaults"), problems)
        for combination in _combinations(cell):
            where = first.setdefault((guide.name, combination), f"{at}[{index}]")
            if where != f"{at}[{index}]":
                what = f"{' '.join(combination)} is listed in {where} already"
                problems.at(file, path, what, "only the first would count: remove one")


def lint_support(
    entry: Accelerator | Provider,
    file: EntryFile,
    find_guide: Callable[[str], Guide | None],
    names: Names,
    problems: Problems,
) -> None:
    """Checks the combinations that an entry adds to guides."""
    guides: list[Guide | None] = []
    field = "accelerators" if isinstance(entry, Accelerator) else "providers"
    for index, cell in enumerate(entry.support):
        names.check("guide", cell.guide, file, ("support", index, "guide"), problems)
        guides.append(find_guide(cell.guide))
        if entry.name not in getattr(cell, field):
            what = f"{entry.name} is not among them"
            problems.at(
                file, ("support", index, field), what, f"an entry adds combinations with itself: name {entry.name}"
            )
    lint_cells(entry.support, guides, "support", file, names, problems)


def lint_support_images(entry: Accelerator | Provider, file: EntryFile, catalog: Catalog, problems: Problems) -> None:
    """Checks that some release set of the whole catalog has every image that the added combinations need."""
    releases = catalog.images.releases.values()
    for index, cell in enumerate(entry.support):
        guide = catalog.guide(cell.guide)
        needed = {
            name
            for engine, accelerator, _ in _combinations(cell)
            for name in image_names(guide, catalog.engine(engine), catalog.accelerator(accelerator).family)
        }
        for missing in sorted(name for name in needed if not any(name in release.images for release in releases)):
            what = f"no release set has an image {missing!r}, which these combinations need"
            problems.at(file, ("support", index), what, "add an ImageCatalog with it beside this file")


def lint_roles(defaults: SpecFields, guide: Guide, file: EntryFile, path: Path, problems: Problems) -> None:
    """Reports settings of roles that the guide does not have."""
    for key, (field, _) in fields_of(Roles).items():
        if defaults.roles and getattr(defaults.roles, field.name) is not None and key not in guide.roles:
            problems.at(file, (*path, "roles", key), f"the guide has no role {key!r}")


def _lint_names(cell: Cell, file: EntryFile, path: Path, names: Names, problems: Problems) -> None:
    for field in ("engines", "accelerators", "providers"):
        listed = getattr(cell, field)
        if not listed:
            problems.at(file, (*path, field), "must not be empty")
        for position, name in enumerate(listed):
            names.check(field[:-1], name, file, (*path, field, position), problems)
    if not cell.status.source.strip():
        problems.at(file, (*path, "status", "source"), "must say where upstream says so")
    names.check_defaults(cell.defaults, file, (*path, "defaults"), problems)
    lint_default_flags(cell.engines, cell.defaults, file, (*path, "defaults"), problems)


def _combinations(cell: Cell) -> list[Combination]:
    """Those of one cell, each once."""
    return list(dict.fromkeys(product(cell.engines, cell.accelerators, cell.providers)))
