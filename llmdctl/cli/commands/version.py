"""`llmdctl version`."""

from __future__ import annotations

from typing import Annotated

import typer

from llmdctl._version import __version__
from llmdctl.cli.output import Format, write_data


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("version")(version)


def version(output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.TEXT) -> None:
    """Print the version.

    Example: llmdctl version -o json
    """
    if output is Format.TEXT:
        typer.echo(f"llmdctl {__version__}")
    else:
        write_data({"version": __version__}, output)
