"""The baseline that a run reads, and the one that it writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from llmdctl.cli.output import write_file
from llmdctl.findings import Report
from llmdctl.findings.frozen import frozen

if TYPE_CHECKING:
    from llmdctl.validate.select import Selection


@frozen
class Known:
    """`--baseline` (`file`) and `--write-baseline` (`target`), "" when absent."""

    file: str
    target: str

    def apply(self, report: Report, selection: Selection) -> Report:
        """The report without what is known; a baseline that is written knows everything that was found."""
        if not self.file and not self.target:
            return report
        from llmdctl.validate.baseline import baseline_of, baseline_text, load_baseline, with_baseline

        found = report.findings
        if self.file:
            report = with_baseline(report, load_baseline(self.file), self.file, selection)
        if self.target:
            made = baseline_of(found)
            write_file(Path(self.target), baseline_text(made))
            report = with_baseline(report, made, self.target, selection)
        return report
