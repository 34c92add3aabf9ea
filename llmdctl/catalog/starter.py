"""The small, commented stack file that `llmdctl init` writes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from llmdctl.catalog.load import Catalog
from llmdctl.catalog.model import Cell, Guide
from llmdctl.catalog.select import combinations, find_cell, nearest_cells
from llmdctl.findings import UserError
from llmdctl.manifest.emit import emit_yaml
from llmdctl.manifest.typed import dump, faults, nearest
from llmdctl.spec.model import API_VERSION, KIND, NAME_MAX, Metadata, SpecFields

WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the user chose; None leaves it to the guide."""

    engine: str | None = None
    accelerator: str | None = None
    provider: str | None = None
    preset: str | None = None
    name: str | None = None
    namespace: str | None = None


def starter_stack(guide_name: str, choices: Choices, catalog: Catalog) -> str:
    """The text of a stack file: the choices, and as comments what else is worth changing.

    Raises UserError for unknown names, a combination that the guide does not list, and a malformed name.
    """
    guide = catalog.guide(guide_name)
    _check_preset(guide, choices.preset)
    engine = catalog.engine(_choose("engine", choices, guide)).name
    accelerator = catalog.accelerator(_choose("accelerator", choices, guide)).name
    provider = catalog.provider(_choose("provider", choices, guide)).name
    cell = find_cell(guide, engine, accelerator, provider)
    if cell is None:
        near = "; ".join(" ".join(found) for found in nearest_cells(guide, engine, accelerator, provider))
        raise UserError(
            f"guide {guide.name} does not list {engine} on {accelerator} with {provider}", fix=f"nearest: {near}"
        )
    metadata = {"name": choices.name or guide.name[:NAME_MAX].rstrip("-"), "namespace": choices.namespace or "llm-d"}
    wrong = faults(Metadata, metadata)
    if wrong:
        raise UserError(f"metadata.{wrong[0]}", fix="names are lower-case letters, digits and dashes")
    lines = [
        *_comment(f"{guide.title or guide.name}. {guide.summary}"),
        *_comment(
            "Every field but `guide` has a default. `llmdctl plan -f FILE` prints each value with where it comes "
            f"from, `llmdctl guide show {guide.name}` all fields, `llmdctl render -f FILE` the objects."
        ),
        *_yaml({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata}),
        "spec:",
        *_indented(_yaml({"guide": guide.name})),
        *_presets(guide, choices.preset),
    ]
    for field, value, position in (("accelerator", accelerator, 1), ("engine", engine, 0), ("provider", provider, 2)):
        others = sorted({found[position] for found, _ in combinations(guide)} - {value})
        lines += _indented(_comment(f"listed too: {', '.join(others)}") if others else [])
        lines += _indented(_yaml({field: value}))
    lines += _indented(["# Defaults, to change by removing the `#`:"])
    lines += [f"  # {line}" for line in _yaml(_defaults(guide, cell, choices.preset, accelerator))]
    return "\n".join(lines) + "\n"


def _choose(field: str, choices: Choices, guide: Guide) -> str:
    preset = guide.presets[choices.preset].defaults if choices.preset else SpecFields()
    value = getattr(choices, field) or getattr(preset, field) or getattr(guide.defaults, field)
    if not value:
        raise UserError(f"guide {guide.name} has no default {field}", fix=f"give --{field}")
    return str(value)


def _check_preset(guide: Guide, preset: str | None) -> None:
    if preset is not None and preset not in guide.presets:
        close = nearest(preset, guide.presets)
        known = ", ".join(guide.presets) or "none"
        fix = f"did you mean {close!r}?" if close else f"presets of this guide: {known}"
        raise UserError(f"guide {guide.name} has no preset {preset!r}", fix=fix)


def _presets(guide: Guide, chosen: str | None) -> list[str]:
    lines: list[str] = []
    for name, preset in guide.presets.items():
        mark = "" if name == chosen else "# "
        lines += _indented(_comment(preset.title))
        lines += _indented(f"{mark}{line}" for line in _yaml({"preset": name}))
    return lines


def _defaults(guide: Guide, cell: Cell, preset: str | None, accelerator: str) -> dict[str, Any]:
    """Model and role sizes as they are without this file's saying so; nothing that the guide refuses."""
    merged: dict[str, Any] = {}
    shown = [key for key in ("model", "roles") if key not in guide.unsupported]
    for layer in (guide.defaults, cell.defaults, *(guide.presets[preset].layers(accelerator) if preset else ())):
        plain = dump(layer)
        _merge(merged, {key: plain[key] for key in shown if key in plain})
    return merged


def _merge(base: dict[str, Any], layer: dict[str, Any]) -> None:
    for key, value in layer.items():
        if isinstance(value, dict):
            _merge(base.setdefault(key, {}), value)
        else:
            base[key] = value


def _yaml(data: dict[str, Any]) -> list[str]:
    return emit_yaml(data).splitlines()


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _comment(text: str) -> list[str]:
    printable = "".join(char if char.isprintable() else " " for char in text)
    return [f"# {line}" for line in textwrap.wrap(printable, WIDTH)]
