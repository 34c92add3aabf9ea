"""`llmdctl router lint|effective|convert`: endpoint picker configs, wherever they are."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from llmdctl.cli import validate_options as opt
from llmdctl.cli.output import Colour, Format


class Target(StrEnum):
    """apiVersions that `convert` writes."""

    V1 = "v1"
    V1ALPHA1 = "v1alpha1"


RouterVersion = Annotated[
    str,
    typer.Option(
        "--router-version", metavar="VERSION", help="Version of the router, as 0.10.0; the image's where it is known."
    ),
]
OneFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A file or directory that holds a config, or - for stdin.")
]
ConfigName = Annotated[
    str, typer.Option("--config", metavar="NAME", help="Which config, where there are several: its key or its object.")
]


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Configs of the router's endpoint picker.")
    group.command("lint")(lint)
    group.command("effective")(effective)
    group.command("convert")(convert)
    group.callback()(_group)
    app.add_typer(group, name="router")


def _group() -> None:
    """Configs of the router's endpoint picker: alone in a file, in ConfigMaps, in flags, in Helm values.

    Example: llmdctl router lint epp-config.yaml --router-version 0.10.0
    """


def lint(
    paths: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files, directories, or - for stdin.")],
    router_version: RouterVersion = "",
    only: opt.Only = None,
    skip: opt.SkipRule = None,
    ignore_file: opt.IgnoreFile = "",
    fail_on: opt.FailOnOption = opt.FailOn.ERROR,
    fail_on_skipped: opt.FailOnSkipped = False,
    min_severity: opt.MinSeverityOption = opt.MinSeverity.INFO,
    output: opt.Outputs = None,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = 0,
    color: Annotated[Colour, typer.Option(help="When to colour text.")] = Colour.AUTO,
) -> None:
    """Check configs as the router's loader does, and for what it takes in silence.

    Example: llmdctl router lint values.yaml --router-version 0.10.0

    Without a version, what differs between versions is skipped, and told as skipped.

    Exit codes: 0 nothing at or over --fail-on, 1 findings, 2 usage, or input without a config.
    """
    from llmdctl.cli.router_run import run_lint
    from llmdctl.cli.validate_run import Telling

    telling = Telling(output or (), min_severity, fail_on, fail_on_skipped, quiet, verbose, color)
    run_lint(paths, router_version, only or (), skip or (), ignore_file, telling)


def effective(
    file: OneFile,
    router_version: RouterVersion = "",
    config: ConfigName = "",
    output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.TEXT,
) -> None:
    """Print the config that runs: with the plugins, profiles, sources and parsers that the loader adds.

    Example: llmdctl router effective epp-config.yaml --router-version 0.10.0

    Text is the config itself, with comments on what was added and why; json and yaml hold the same as data.

    Exit codes: 0 it starts, 1 the router refuses it, 2 usage, or a config that can't be decoded.
    """
    from llmdctl.cli.router_run import run_effective

    run_effective(file, router_version, config, output)


def convert(
    file: OneFile,
    to: Annotated[Target | None, typer.Option("--to", help="apiVersion to write; v1 when absent.")] = None,
    router_version: RouterVersion = "",
    config: ConfigName = "",
    output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.YAML,
) -> None:
    """Rewrite a config for another router version: apiVersion, moved fields, renamed plugins and parameters.

    Example: llmdctl router convert epp-config.yaml --to v1

    The config goes to stdout, what was changed to stderr. Comments are not kept.

    Exit codes: 0 the router of that version reads it, 1 something remains to be done by hand, 2 usage, or a
    config that can't be decoded.
    """
    from llmdctl.cli.router_run import run_convert

    run_convert(file, to or "", router_version, config, output)
