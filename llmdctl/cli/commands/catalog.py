"""`llmdctl catalog`: for those who add entries."""

from __future__ import annotations

from typing import Annotated

import typer

from llmdctl.cli.output import Format, write_data, write_out


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="Check catalog directories.", no_args_is_help=True)
    group.command("lint")(lint)
    group.callback()(_group)
    app.add_typer(group, name="catalog")


def _group() -> None:
    """Check catalog directories.

    Example: llmdctl catalog lint ./my-catalog
    """


def lint(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Directory with catalog files.")],
    output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.TEXT,
) -> None:
    """Check a catalog directory: files, names, contributions, matrices, templates, images.

    Example: llmdctl catalog lint ./my-catalog
    """
    from llmdctl.catalog.lint import lint_catalog
    from llmdctl.findings import counted
    from llmdctl.findings.text import escape

    problems = lint_catalog(directory)
    if output is Format.TEXT:
        lines = [escape(str(problem)) for problem in problems]
        write_out("\n".join([*lines, f"{directory}: {counted(len(problems), 'problem')}"]) + "\n")
    else:
        write_data({"directory": directory, "problems": [problem.as_dict() for problem in problems]}, output)
    if problems:
        raise typer.Exit(1)
