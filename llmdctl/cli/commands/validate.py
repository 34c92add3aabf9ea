"""`llmdctl validate`."""

from __future__ import annotations

import gc
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llmdctl.cli.output import Colour, parse_outputs, write_report

if TYPE_CHECKING:
    from llmdctl.findings import Report, Severity
    from llmdctl.validate.pipeline import ValidateOptions

EXIT_FINDINGS = 1


class FailOn(StrEnum):
    """From which severity on the exit code is 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("validate")(validate)


def validate(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS", help="Files, directories, or - for stdin.")],
    kube_version: Annotated[
        str, typer.Option(metavar="MINOR", help="Kubernetes minor to check against: 1.33 to 1.37.")
    ] = "1.36",
    release: Annotated[str, typer.Option(metavar="RELEASE", help="llm-d release whose CRDs are used.")] = "1.0",
    crds: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="CRDs that win over the bundled ones; repeatable.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="The input is all there is: what it lacks does not exist.")
    ] = False,
    engine_version: Annotated[
        list[str] | None,
        typer.Option(metavar="[ROLE=]ENGINE@VERSION", help="Version that images don't tell; repeatable."),
    ] = None,
    ignore_file: Annotated[
        str, typer.Option(metavar="PATH", help="Findings to ignore; .llmdctl.yaml here when it exists.")
    ] = "",
    fail_on: Annotated[FailOn, typer.Option(help="From which severity on to exit with 1.")] = FailOn.ERROR,
    fail_on_skipped: Annotated[
        bool, typer.Option("--fail-on-skipped", help="Exit with 1 when anything was skipped.")
    ] = False,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT[=PATH]",
            help="text, json, yaml, junit, sarif, github or markdown; repeatable.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="One line a finding.")] = False,
    verbose: Annotated[
        int, typer.Option("-v", "--verbose", count=True, help="Also list what was skipped, ignored or unresolved.")
    ] = 0,
    color: Annotated[Colour, typer.Option(help="When to colour text.")] = Colour.AUTO,
) -> None:
    """Check manifests as the API server would, and across objects: labels, ports, KV transfer.

    Example: llmdctl validate build/demo --kube-version 1.36

    YML002 (the same object twice) looks at each path alone: overlays given as two paths may repeat an object, files
    below one directory may not. All other rules compare all paths, but for files that define the same object
    differently: such files are taken for alternatives.

    Exit codes: 0 nothing at or over --fail-on, 1 findings, 2 usage, input that can't be read, or
    nothing that could be validated.
    """
    from llmdctl.validate.registry import all_rules
    from llmdctl.validate.scope import require_coverage

    outputs = parse_outputs(output or [])
    options = _options(kube_version, release, crds or [], complete, engine_version or [], ignore_file)
    report = _run(paths, options)
    write_report(
        report,
        outputs,
        colour=color,
        verbose=verbose,
        quiet=quiet,
        threshold=_threshold(fail_on),
        rules=all_rules(),
    )
    require_coverage(report)
    if report.fails(_threshold(fail_on)) or (fail_on_skipped and report.skipped):
        raise typer.Exit(EXIT_FINDINGS)


def _options(
    kube_version: str, release: str, crds: list[str], complete: bool, engine_versions: list[str], ignore_file: str
) -> ValidateOptions:
    from llmdctl.manifest import read_paths
    from llmdctl.validate.pipeline import ValidateOptions
    from llmdctl.validate.suppress import FILE, load_ignores
    from llmdctl.validate.versions import check_minor, check_release
    from llmdctl.view import parse_version_options

    chosen = ignore_file or (FILE if Path(FILE).is_file() else "")
    return ValidateOptions(
        kube_version=check_minor(kube_version),
        release=check_release(release),
        complete=complete,
        crds=tuple(read_paths(crds).require()) if crds else (),
        versions=parse_version_options(engine_versions),
        ignores=load_ignores(chosen) if chosen else (),
    )


def _run(paths: list[str], options: ValidateOptions) -> Report:
    from llmdctl.manifest import read_paths
    from llmdctl.validate.pipeline import validate as run
    from llmdctl.validate.scope import require_objects, without_ignore_files

    # Objects and findings live until the end: collecting cycles among them only costs time.
    gc.disable()
    try:
        reading = read_paths(paths)
        documents = without_ignore_files(reading.require())
        if not reading.findings:
            require_objects(documents)
        return run(documents, options, findings=reading.findings, texts=reading.texts)
    finally:
        gc.enable()


def _threshold(fail_on: FailOn) -> Severity | None:
    from llmdctl.findings import Severity

    return None if fail_on is FailOn.NEVER else Severity(fail_on)
