"""`llmdctl images list`."""

from __future__ import annotations

from typing import Annotated

import typer

from llmdctl.cli import stack as options
from llmdctl.cli.output import Format, write_data, write_out


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Container images of the release sets.")
    group.command("list")(list_images)
    group.callback()(_group)
    app.add_typer(group, name="images")


def _group() -> None:
    """Container images of the release sets.

    Example: llmdctl images list --guide pd-disaggregation
    """


def list_images(
    guide: Annotated[str | None, typer.Option("--guide", help="Only the images that this guide can use.")] = None,
    release: Annotated[str | None, typer.Option("--release", help="Release set; all when absent.")] = None,
    files: Annotated[bool, typer.Option("--files", help="Tell the catalog file of each image, in text too.")] = False,
    catalogs: options.CatalogOption = None,
    output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.TEXT,
    quiet: options.QuietOption = False,
) -> None:
    """List images by release, with the version inside and how sure the tag is.

    Example: llmdctl images list --guide pd-disaggregation --release 1.0
    """
    from llmdctl.cli.image_data import image_list, image_text

    catalog = options.open_catalog(catalogs or ())
    rows = image_list(catalog, guide=guide, release=release)
    options.print_notices(catalog.notices, quiet=quiet)
    if output is Format.TEXT:
        write_out(image_text(rows, files=files))
    else:
        write_data(rows, output)
