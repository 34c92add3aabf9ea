"""What `llmdctl validate` does with its options: read, check, mend, print, and the exit code."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from llmdctl.cli.output import Colour, Output, ReportFormat, parse_outputs, write_report
from llmdctl.cli.validate_baseline import Known
from llmdctl.cli.validate_input import Inputs
from llmdctl.cli.validate_options import FailOn, MinSeverity
from llmdctl.findings import Report, Severity
from llmdctl.findings.frozen import frozen

if TYPE_CHECKING:
    from llmdctl.validate.pipeline import ValidateOptions

EXIT_FINDINGS = 1


@frozen
class Against:
    """What the input is checked against, as given."""

    kube_version: str = ""
    release: str = ""
    crds: Sequence[str] = ()
    complete: bool = False
    engine_versions: Sequence[str] = ()
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    ignore_file: str = ""
    jobs: int = 1

    def options(self) -> ValidateOptions:
        """The options of the pipeline. Raises UserError for what is unknown or can't be read."""
        from llmdctl.manifest import read_paths
        from llmdctl.manifest.parallel import processes
        from llmdctl.validate.pipeline import ValidateOptions
        from llmdctl.validate.select import parse_selection
        from llmdctl.validate.suppress import FILE, load_ignores
        from llmdctl.validate.versions import DEFAULT_MINOR, check_minor, check_release
        from llmdctl.view import parse_version_options

        chosen = self.ignore_file or (FILE if Path(FILE).is_file() else "")
        return ValidateOptions(
            kube_version=check_minor(self.kube_version or DEFAULT_MINOR),
            release=check_release(self.release),
            complete=self.complete,
            crds=tuple(read_paths(self.crds).require()) if self.crds else (),
            versions=parse_version_options(list(self.engine_versions)),
            ignores=load_ignores(chosen) if chosen else (),
            selection=parse_selection(self.only, self.skip),
            jobs=processes(self.jobs),
        )


@frozen
class Telling:
    """How the result is told, and what makes the exit code 1."""

    outputs: Sequence[str] = ()
    min_severity: MinSeverity = MinSeverity.INFO
    fail_on: FailOn = FailOn.ERROR
    fail_on_skipped: bool = False
    quiet: bool = False
    verbose: int = 0
    colour: Colour = Colour.AUTO

    def lists_unresolved(self, outputs: Sequence[Output]) -> bool:
        """False when no output shows more of unresolved references than their number."""
        return self.verbose > 0 or any(output.format is not ReportFormat.TEXT for output in outputs)

    @property
    def threshold(self) -> Severity | None:
        """From which severity on a finding fails the run; None for never."""
        return None if self.fail_on is FailOn.NEVER else Severity(self.fail_on)


def run_validate(inputs: Inputs, against: Against, known: Known, telling: Telling, *, fix: bool, write: bool) -> None:
    """The whole command. Raises typer.Exit for findings, UserError for everything that can't be checked."""
    from llmdctl.validate.registry import all_rules
    from llmdctl.validate.scope import require_coverage

    outputs = parse_outputs(telling.outputs)
    inputs.check()
    options = replace(against.options(), place_unresolved=telling.lists_unresolved(outputs))

    def check(replaced: Mapping[str, bytes]) -> Report:
        return known.apply(_checked(inputs, options, bool(against.kube_version), replaced), options.selection)

    if fix or write:
        from llmdctl.cli.validate_fix import check_fix_options, run_fix

        outputs = check_fix_options(fix, write, known.target, telling.outputs, outputs)
        report = run_fix(check, write)
    else:
        report = check({})
    write_report(
        report.listing(Severity(telling.min_severity)),
        outputs,
        colour=telling.colour,
        verbose=telling.verbose,
        quiet=telling.quiet,
        threshold=telling.threshold,
        rules=all_rules(),
    )
    require_coverage(report)
    if report.fails(telling.threshold) or (telling.fail_on_skipped and report.skipped):
        raise typer.Exit(EXIT_FINDINGS)


def _checked(
    inputs: Inputs, options: ValidateOptions, kube_version_given: bool, replaced: Mapping[str, bytes]
) -> Report:
    # Objects and findings live until the end: collecting cycles among them only costs time.
    gc.disable()
    try:
        return inputs.validate(options, kube_version_given=kube_version_given, replaced=replaced)
    finally:
        gc.enable()
