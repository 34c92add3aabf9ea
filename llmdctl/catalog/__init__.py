"""The catalog: guides, engines, models, accelerators, providers, images and shared templates, typed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmdctl.catalog.load import Catalog
    from llmdctl.catalog.model import ModelFacts

__all__ = ["model_facts"]


def model_facts(model_id: str) -> ModelFacts | None:
    """Facts of a model of the built-in catalog by hub id (letter case does not count), or None when it is not there."""
    entry = _builtin().find_model(model_id)
    return entry.facts if entry else None


@cache
def _builtin() -> Catalog:
    # Imported here: reading YAML is not needed to know that this function exists.
    from llmdctl.catalog.load import Catalog
    from llmdctl.catalog.roots import BuiltinRoot, builtin_directory

    return Catalog([BuiltinRoot(builtin_directory())])
