"""`llmdctl validate --fix`: what it prints and what it writes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from llmdctl.cli.output import Output, write_out
from llmdctl.findings import Finding, Report, UserError, counted
from llmdctl.findings.text import escape

if TYPE_CHECKING:
    from llmdctl.operate.fix import Fixed


def check_fix_options(
    fix: bool, write: bool, write_baseline: str, given: Sequence[str], outputs: list[Output]
) -> list[Output]:
    """The outputs of a run with --fix. Raises UserError for options that contradict each other."""
    if not fix:
        raise UserError("--write writes what --fix mends", fix="give both")
    if write_baseline:
        raise UserError("--fix mends and --write-baseline accepts", fix="mend first, then write the baseline")
    if write:
        return outputs
    if given and any(output.path is None for output in outputs):
        raise UserError("the diff of --fix goes to stdout", fix="give the report a file, as in -o json=report.json")
    return outputs if given else []


def run_fix(check: Callable[[Mapping[str, bytes]], Report], write: bool) -> Report:
    """Mends and tells on stderr what was mended and what was not. With `write` the report is of the mended files.

    Without it the diff goes to stdout, and the report is of the files as they are.
    """
    from llmdctl.operate.fix import diff, fix, write_changes

    done = fix(check)
    if write:
        write_changes(done.changes)
    else:
        write_out("".join(f"{_shown(line)}\n" for line in diff(done.changes)))
    _tell(done, write)
    return done.after if write else done.before


def _tell(done: Fixed, write: bool) -> None:
    word = "fixed" if write else "would fix"
    lines = [f"{word} {_about(finding)}" for finding in done.fixed]
    lines += [f"not fixed {_about(finding)}: {escape(reason)}" for finding, reason in done.refused]
    remain = len(done.after.findings)
    what = f"{counted(len(done.fixed), 'finding')} in {counted(len(done.changes), 'file')}"
    tail = "" if write or not done.changes else "; --write writes them"
    lines.append(f"{word} {what}, {counted(remain, 'finding')} {'remains' if remain == 1 else 'remain'}{tail}")
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _about(finding: Finding) -> str:
    where = f"{finding.source}: " if finding.source else ""
    return escape(f"{where}{finding.code} {finding.object or ''} {finding.title}")


def _shown(line: str) -> str:
    """A line of a diff as it is, unless it could disturb a terminal."""
    visible = line.replace("\t", "").removesuffix("\r")
    return line if escape(visible) == visible else escape(line)
