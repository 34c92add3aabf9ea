"""`llmdctl guide`: what guides there are, and what one offers."""

from __future__ import annotations

from typing import Annotated

import typer

from llmdctl.cli import stack as options
from llmdctl.cli.output import Format, write_data, write_out

OutputOption = Annotated[Format, typer.Option("-o", "--output", help="Output format.")]


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(no_args_is_help=True)
    group.command("list")(list_guides)
    group.command("show")(show)
    group.callback()(_group)
    app.add_typer(group, name="guide")


def _group() -> None:
    """List guides, and show what one offers.

    Example: llmdctl guide show pd-disaggregation
    """


def list_guides(
    catalogs: options.CatalogOption = None,
    output: OutputOption = Format.TEXT,
    quiet: options.QuietOption = False,
) -> None:
    """List the guides of the catalog.

    Example: llmdctl guide list -o json
    """
    from llmdctl.cli.guide_data import guide_list
    from llmdctl.cli.guide_text import list_text

    catalog = options.open_catalog(catalogs or ())
    guides = guide_list(catalog)
    options.print_notices(catalog.notices, quiet=quiet)
    if output is Format.TEXT:
        write_out(list_text(guides))
    else:
        write_data(guides, output)


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Guide.")],
    catalogs: options.CatalogOption = None,
    output: OutputOption = Format.TEXT,
    quiet: options.QuietOption = False,
) -> None:
    """Show a guide: what it needs, its presets, listed combinations, images, and parameters with their defaults.

    Example: llmdctl guide show pd-disaggregation
    """
    from llmdctl.cli.guide_data import guide_data
    from llmdctl.cli.guide_text import show_text

    catalog = options.open_catalog(catalogs or ())
    data = guide_data(name, catalog)
    options.print_notices(catalog.notices, quiet=quiet)
    if output is Format.TEXT:
        write_out(show_text(data))
    else:
        write_data(data, output)
