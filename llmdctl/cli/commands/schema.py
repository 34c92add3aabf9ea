"""`llmdctl schema`: the published JSON Schemas."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from llmdctl.cli.output import Format, write_data


class Kind(StrEnum):
    """Formats that have a schema."""

    STACK = "stack"
    GUIDE = "guide"
    ENGINE = "engine"
    MODEL = "model"
    ACCELERATOR = "accelerator"
    PROVIDER = "provider"
    IMAGES = "images"
    REPORT = "report"


class SchemaFormat(StrEnum):
    """Forms of a schema."""

    JSON = "json"
    YAML = "yaml"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("schema")(schema)


def schema(
    kind: Annotated[Kind, typer.Argument(help="Format to describe.")] = Kind.STACK,
    output: Annotated[SchemaFormat, typer.Option("-o", "--output", help="Output format.")] = SchemaFormat.JSON,
) -> None:
    """Print the JSON Schema of a stack file, of a kind of catalog file, or of a report.

    Example: llmdctl schema stack > inferencestack.schema.json
    """
    from llmdctl.catalog.schema import catalog_schemas
    from llmdctl.findings.schema import report_schema
    from llmdctl.spec.schema import stack_schema

    if kind is Kind.STACK:
        found = stack_schema()
    elif kind is Kind.REPORT:
        found = report_schema()
    else:
        found = catalog_schemas()["ImageCatalog" if kind is Kind.IMAGES else kind.capitalize()]
    write_data(found, Format(output.value))
