"""`llmdctl plan`: every resolved value with where it comes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from llmdctl.cli import stack as options
from llmdctl.cli.output import Format, write_data


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("plan")(plan)


def plan(
    guide: options.GuideArgument = None,
    path: Annotated[str | None, typer.Argument(metavar="[PATH]", help="Only values at or below this path.")] = None,
    file: options.FileOption = None,
    accelerator: options.AcceleratorOption = None,
    engine: options.EngineOption = None,
    provider: options.ProviderOption = None,
    preset: options.PresetOption = None,
    model: options.ModelOption = None,
    release: options.ReleaseOption = None,
    namespace: options.NamespaceOption = None,
    name: options.NameOption = None,
    kube_version: options.KubeVersionOption = None,
    settings: options.SetOption = None,
    strings: options.SetStringOption = None,
    allow_unsupported: options.AllowOption = False,
    catalogs: options.CatalogOption = None,
    output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.TEXT,
    quiet: options.QuietOption = False,
) -> None:
    """Print every resolved value of a stack with where it comes from.

    Example: llmdctl plan pd-disaggregation roles.decode --accelerator nvidia-h200
    """
    from llmdctl.findings import UserError, format_path

    if file is not None and guide is not None and not path:
        # With -f the one argument is the path.
        guide, path = None, guide
    flags = options.stack_flags(
        accelerator=accelerator, engine=engine, provider=provider, preset=preset, model=model, release=release,
        namespace=namespace, name=name, kube_version=kube_version,
    )  # fmt: skip
    made, _ = options.make_plan(
        options.StackOptions(guide, file, flags, settings or (), strings or (), allow_unsupported, catalogs or ()),
        quiet=quiet,
    )
    rows = [
        (format_path(where), value, origin)
        for where, value, origin in made.values()
        if not path or format_path(where) == path or format_path(where).startswith((f"{path}.", f"{path}["))
    ]
    if not rows:
        raise UserError(f"the plan has no value at {path!r}", fix="run llmdctl plan without a path to see all")
    if output is Format.TEXT:
        width = min(max(len(row[0]) for row in rows), 60)
        for where, value, origin in rows:
            typer.echo(f"{where:<{width}} = {json.dumps(value, ensure_ascii=False)}   # {origin}")
    else:
        write_data(
            [{"path": w, "value": v, "origin": {"kind": str(o.kind), "text": o.text}} for w, v, o in rows], output
        )
