"""`llmdctl schema`: the published JSON Schemas."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

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
    BASELINE = "baseline"
    IGNORE = "ignore"


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
    """Print the JSON Schema of a stack file, of a kind of catalog file, or of what `validate` reads and writes.

    Example: llmdctl schema stack > inferencestack.schema.json
    """
    write_data(_schema_of(kind), Format(output.value))


def _schema_of(kind: Kind) -> dict[str, Any]:
    match kind:
        case Kind.STACK:
            from llmdctl.spec.schema import stack_schema

            return stack_schema()
        case Kind.REPORT:
            from llmdctl.findings.schema import report_schema

            return report_schema()
        case Kind.BASELINE:
            from llmdctl.validate.baseline import baseline_schema

            return baseline_schema()
        case Kind.IGNORE:
            from llmdctl.validate.suppress import ignore_schema

            return ignore_schema()
        case _:
            from llmdctl.catalog.schema import catalog_schemas

            return catalog_schemas()["ImageCatalog" if kind is Kind.IMAGES else kind.capitalize()]
