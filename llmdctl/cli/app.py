"""The command tree. Each module of `commands` registers its commands here and imports its work only when run."""

from __future__ import annotations

import typer

from llmdctl.cli.commands import catalog, explain, guide, init, plan, render, rules, schema, validate, version


def build_app() -> typer.Typer:
    """The Typer application, with plain help text: rich help costs more start-up time than the rest together."""
    app = typer.Typer(
        name="llmdctl",
        help="Render, validate, install and diagnose distributed LLM inference (llm-d) on Kubernetes.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for module in (guide, init, plan, render, validate, explain, rules, schema, catalog, version):
        module.register(app)
    app.callback()(_root)
    return app


def _root() -> None:
    """Render, validate, install and diagnose distributed LLM inference (llm-d) on Kubernetes.

    Example: llmdctl render pd-disaggregation --accelerator nvidia-h200 -o build/
    """
