"""`llmdctl explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from llmdctl.cli.output import Format, write_data, write_out


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("explain")(explain)


def explain(
    code: Annotated[str, typer.Argument(metavar="CODE", help="Code of a finding, for example PRT004.")],
    examples: Annotated[bool, typer.Option("--examples", help="Show the bad and the good example in full.")] = False,
    output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.TEXT,
) -> None:
    """Explain a finding: what it means, why it matters, how to fix it, with a bad and a good example.

    Example: llmdctl explain PRT004
    """
    from llmdctl.validate.pages import find_rule, page_data, page_text

    rule = find_rule(code)
    if output is Format.TEXT:
        write_out(page_text(rule, examples=examples))
    else:
        write_data(page_data(rule), output)
