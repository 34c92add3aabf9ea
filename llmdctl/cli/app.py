"""The command tree. Each module of `commands` registers its commands here and imports its work only when run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module

import typer

COMMANDS = (
    "guide", "init", "plan", "render", "validate", "explain", "rules", "router", "schema", "catalog", "images",
    "version",
)  # fmt: skip
"""Modules of `llmdctl.cli.commands`, named after the command (or group) that each registers, in the help's order."""

COMPLETION_VARIABLE = "_LLMDCTL_COMPLETE"


def build_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """The Typer application, with plain help text: rich help costs more start-up time than the rest together.

    When `arguments` start with a command, only that command is put together: the others would take longer to set up
    than most commands to run.
    """
    app = typer.Typer(
        name="llmdctl",
        help="Render and validate distributed LLM inference (llm-d) for Kubernetes.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in _wanted(arguments):
        import_module(f"llmdctl.cli.commands.{name}").register(app)
    return app


def _wanted(arguments: Sequence[str]) -> Sequence[str]:
    if arguments and arguments[0] in COMMANDS and COMPLETION_VARIABLE not in os.environ:
        return (arguments[0],)
    return COMMANDS


def _root() -> None:
    """Render and validate distributed LLM inference (llm-d) for Kubernetes.

    Example: llmdctl render pd-disaggregation --accelerator nvidia-h200 -o build/
    """
