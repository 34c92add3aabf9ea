"""`llmdctl rules list`."""

from __future__ import annotations

from typing import Annotated

import typer

from llmdctl.cli.output import Format, write_data, write_out


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The rules that `validate` knows.")
    group.command("list")(list_rules)
    group.callback()(_group)
    app.add_typer(group, name="rules")


def _group() -> None:
    """The rules that `validate` knows.

    Example: llmdctl rules list
    """


def list_rules(output: Annotated[Format, typer.Option("-o", "--output", help="Output format.")] = Format.TEXT) -> None:
    """List every code with its severity and title.

    Example: llmdctl rules list -o json
    """
    from llmdctl.validate.pages import rule_data
    from llmdctl.validate.registry import all_rules

    if output is Format.TEXT:
        write_out("".join(f"{rule.code}  {rule.severity:<7}  {rule.title}\n" for rule in all_rules()))
    else:
        write_data([rule_data(rule) for rule in all_rules()], output)
