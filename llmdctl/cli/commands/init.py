"""`llmdctl init`: a small stack file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llmdctl.cli import stack as options
from llmdctl.cli.output import write_out

STDOUT = "-"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("init")(init)


def init(
    guide: Annotated[str | None, typer.Argument(metavar="[GUIDE]", help="Guide to use.")] = None,
    accelerator: options.AcceleratorOption = None,
    engine: options.EngineOption = None,
    provider: options.ProviderOption = None,
    preset: options.PresetOption = None,
    namespace: options.NamespaceOption = None,
    name: options.NameOption = None,
    catalogs: options.CatalogOption = None,
    destination: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE|-", help="File to write, or - for standard output.")
    ] = "stack.yaml",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    migrate: Annotated[
        str | None, typer.Option("--migrate", metavar="FILE", help="Rewrite a stack file of an older version instead.")
    ] = None,
    quiet: options.QuietOption = False,
) -> None:
    """Write a small, commented stack file.

    Example: llmdctl init pd-disaggregation --accelerator nvidia-h200 --provider gke -o stack.yaml
    """
    from llmdctl.catalog.starter import Choices, starter_stack
    from llmdctl.findings import UserError

    if migrate is not None:
        _migrate(migrate)
        return
    catalog = options.open_catalog(catalogs or ())
    if guide is None:
        raise UserError("no guide is named", fix="one of: " + ", ".join(catalog.guides))
    choices = Choices(
        engine=engine, accelerator=accelerator, provider=provider, preset=preset, name=name, namespace=namespace
    )
    text = starter_stack(guide, choices, catalog)
    options.print_notices(catalog.notices, quiet=quiet)
    if destination == STDOUT:
        write_out(text)
    else:
        _write(Path(destination), text, force=force)
        if not quiet:
            typer.echo(f"wrote {destination}; next: llmdctl plan -f {destination}", err=True)


def _migrate(file: str) -> None:
    from llmdctl.spec.load import load_stack

    # v1alpha1 is the first version, so that a file that loads has nothing to migrate from.
    loaded = load_stack(file)
    typer.echo(f"{loaded.file} is already current ({loaded.stack.api_version})", err=True)


def _write(path: Path, text: str, *, force: bool) -> None:
    from llmdctl.findings import UserError

    try:
        with path.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise UserError(f"{path} exists", fix="name another file with -o, or overwrite it with --force") from error
    except OSError as error:
        raise UserError(f"can't write {path}", why=error.strerror or str(error)) from error
