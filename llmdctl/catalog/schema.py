"""The published JSON Schemas of catalog files."""

from __future__ import annotations

from typing import Any

from llmdctl.catalog.load import TYPES
from llmdctl.catalog.model import ImageCatalog
from llmdctl.catalog.roots import IMAGE_KIND
from llmdctl.manifest.typed import json_schema

SCHEMA_ID = "https://llmdctl.io/schemas/catalog-{kind}-v1alpha1.json"


def catalog_schemas() -> dict[str, dict[str, Any]]:
    """Kind -> JSON Schema (2020-12) of every kind of catalog file."""
    classes: dict[str, type] = {**TYPES, IMAGE_KIND: ImageCatalog}
    return {
        kind: json_schema(
            cls, identifier=SCHEMA_ID.format(kind=kind.lower()), title=f"{kind} (catalog.llmdctl.io/v1alpha1)"
        )
        for kind, cls in classes.items()
    }
