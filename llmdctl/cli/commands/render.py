"""`llmdctl render`: a stack as Kubernetes objects, checked before anybody applies them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from llmdctl.cli import stack as options
from llmdctl.cli.output import write_manifests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from llmdctl.findings import Report
    from llmdctl.manifest import Document
    from llmdctl.render.objects import Rendered


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("render")(render)


def render(
    guide: options.GuideArgument = None,
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
    destination: Annotated[
        str, typer.Option("-o", "--output", metavar="-|DIR", help="Standard output, or a directory.")
    ] = "-",
    check: Annotated[bool, typer.Option("--validate/--no-validate", help="Check the objects too.")] = True,
    everything: Annotated[
        bool, typer.Option("--all", help="Render everything that the catalog declares into -o DIR, and print coverage.")
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print no summary and no notices.")] = False,
) -> None:
    """Render a stack as Kubernetes objects, and check them.

    Example: llmdctl render pd-disaggregation --accelerator nvidia-h200 --provider gke -o build/
    """
    if everything:
        _render_all(guide, file, release, catalogs or (), destination, check=check, quiet=quiet)
        return
    from llmdctl.render.objects import render as render_plan

    flags = options.stack_flags(
        accelerator=accelerator, engine=engine, provider=provider, preset=preset, model=model, release=release,
        namespace=namespace, name=name, kube_version=kube_version,
    )  # fmt: skip
    plan, catalog = options.make_plan(
        options.StackOptions(guide, file, flags, settings or (), strings or (), allow_unsupported, catalogs or ()),
        quiet=quiet,
    )
    rendered = render_plan(plan, catalog.template_dirs(plan.stack.guide), _template_cache())
    documents, texts = _write(rendered, destination)
    report = _check(rendered, documents, texts) if check else None
    if not quiet:
        from llmdctl.cli.summary import render_summary

        # With files as the result, the summary may have stdout; else it is talk.
        typer.echo(render_summary(rendered, report, destination), err=destination == "-", nl=False)
    if report is not None and report.findings:
        from llmdctl.findings.text import render_text

        sys.stderr.write(render_text(report, colour=False, verbose=0, quiet=False))
    from llmdctl.findings import Severity

    if report is not None and report.fails(Severity.ERROR):
        raise typer.Exit(1)


def _render_all(
    guide: str | None, file: str | None, release: str | None, catalogs: Sequence[str], destination: str, *,
    check: bool, quiet: bool,
) -> None:  # fmt: skip
    from pathlib import Path

    from llmdctl.cli.summary import coverage_text
    from llmdctl.findings import Severity, UserError
    from llmdctl.operate.matrix import render_matrix

    if destination == "-":
        raise UserError("--all writes many stacks", fix="name a directory: render --all -o DIR")
    if file is not None:
        raise UserError("--all renders what the catalog declares, not a stack file", fix="leave -f out")
    catalog = options.open_catalog(catalogs)
    coverage = render_matrix(
        catalog, Path(destination), guides=[guide] if guide else None, release=release, check=check,
        cache=_template_cache(),
    )  # fmt: skip
    options.print_notices(catalog.notices, quiet=quiet)
    if not quiet:
        typer.echo(coverage_text(coverage, destination), nl=False)
    reports = [outcome.report for outcome in coverage.outcomes if outcome.report is not None]
    if any(report.fails(Severity.ERROR) for report in reports):
        raise typer.Exit(1)


def _template_cache() -> Path | None:
    """The user's cache directory for compiled templates, or None where it can't be made."""
    import os
    from pathlib import Path

    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - keeps `~` when there is no home
    directory = Path(home) / "llmdctl" / "templates"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    # Compiled templates are code: a directory that others may write to is not ours to trust.
    found = directory.stat()
    return directory if found.st_uid == os.getuid() and not found.st_mode & 0o022 else None


STDOUT = "stdout"
"""What findings name as the file when the objects went to standard output; lines are those of that stream."""


def _write(rendered: Rendered, destination: str) -> tuple[list[Document], dict[str, bytes]]:
    """The objects as documents with their places, and the text of what is in no file."""
    from pathlib import Path

    from llmdctl.findings import SourceRef
    from llmdctl.manifest import Document

    if destination != "-":
        from llmdctl.render.files import write_directory

        return write_directory(rendered, Path(destination)), {}
    from llmdctl.render.objects import as_text

    data = write_manifests(as_text(rendered))
    documents = [Document(obj, SourceRef(STDOUT, document=index)) for index, obj in enumerate(rendered.objects)]
    return documents, {STDOUT: data}


def _check(rendered: Rendered, documents: list[Document], texts: Mapping[str, bytes]) -> Report:
    from llmdctl.validate.pipeline import ValidateOptions, validate

    stack = rendered.plan.stack
    options = ValidateOptions(kube_version=stack.kube_version, release=stack.release, complete=True)
    return validate(documents, options, texts=texts)
