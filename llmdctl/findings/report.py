"""The report of a run (report.llmdctl.io/v1): findings, what was covered, what was skipped and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from llmdctl._version import __version__
from llmdctl.findings.frozen import frozen
from llmdctl.findings.model import Finding, ObjectRef, Severity, SourceRef


@frozen
class Target:
    """What the input was checked against: Kubernetes minor, llm-d release, and whether the input is all there is."""

    kube_version: str = ""
    release: str = ""
    complete: bool = False


@frozen
class SkippedCheck:
    """A check that did not run: on one object, or (object None) at all. `source` is where the object stands."""

    code: str
    reason: str
    object: ObjectRef | None = None
    source: SourceRef | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "code": self.code,
            "object": self.object.as_dict() if self.object else None,
            "source": self.source.as_dict() if self.source else None,
            "reason": self.reason,
        }


class SuppressedBy(StrEnum):
    """Who decided that a finding does not count."""

    ANNOTATION = "annotation"
    FILE = "file"
    BASELINE = "baseline"
    CLUSTER = "cluster"


@frozen
class Suppressed:
    """A finding that does not count, who decided so, and why."""

    finding: Finding
    by: SuppressedBy
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON form: the finding, and `suppression`."""
        return {**self.finding.as_dict(), "suppression": {"by": str(self.by), "reason": self.reason}}


@frozen
class Stale:
    """An entry of an ignore file or a baseline that fits nothing any more and can go. No effect on the exit code."""

    by: SuppressedBy
    code: str
    object: str
    about: str

    def as_dict(self) -> dict[str, str]:
        """The JSON form."""
        return {"by": str(self.by), "code": self.code, "object": self.object, "about": self.about}


@frozen
class Coverage:
    """How much was looked at. `objects_skipped` have no schema; rules that could not run count as skipped.

    `rules_deselected` were left out on request.
    """

    objects_total: int = 0
    objects_validated: int = 0
    objects_skipped: int = 0
    rules_run: int = 0
    rules_skipped: int = 0
    rules_deselected: int = 0


@frozen
class Report:
    """Everything one run says. `findings` come sorted by severity and place.

    `hidden` counts findings that a display threshold left out of `findings`.
    """

    target: Target = Target()
    coverage: Coverage = Coverage()
    findings: tuple[Finding, ...] = ()
    skipped: tuple[SkippedCheck, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    unresolved: tuple[Finding, ...] = ()
    stale: tuple[Stale, ...] = ()
    hidden: int = 0

    @classmethod
    def of(cls, findings: Sequence[Finding], **rest: Any) -> Report:
        """A report with its findings in order."""
        return cls(findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)), **rest)

    def count(self, severity: Severity) -> int:
        """How many findings have exactly this severity."""
        return sum(1 for finding in self.findings if finding.severity is severity)

    def fails(self, threshold: Severity | None) -> bool:
        """True when a finding is at or over `threshold`; None means never."""
        return threshold is not None and any(finding.severity.reaches(threshold) for finding in self.findings)

    def listing(self, threshold: Severity) -> Report:
        """The same report without the findings below `threshold`; they are counted as hidden."""
        shown = tuple(finding for finding in self.findings if finding.severity.reaches(threshold))
        hidden = self.hidden + len(self.findings) - len(shown)
        return replace(self, findings=shown, hidden=hidden)

    def summary(self) -> dict[str, int]:
        """How many of each there are."""
        return {
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
            "infos": self.count(Severity.INFO),
            "skipped": len(self.skipped),
            "suppressed": len(self.suppressed),
            "unresolved": len(self.unresolved),
            "stale": len(self.stale),
            "hidden": self.hidden,
        }

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, complete; `llmdctl.findings.schema` describes it."""
        return {
            "apiVersion": "report.llmdctl.io/v1",
            "kind": "Report",
            "tool": {"name": "llmdctl", "version": __version__},
            "target": {
                "kubeVersion": self.target.kube_version,
                "release": self.target.release,
                "complete": self.target.complete,
            },
            "summary": self.summary(),
            "coverage": {
                "objects": {
                    "total": self.coverage.objects_total,
                    "validated": self.coverage.objects_validated,
                    "skipped": self.coverage.objects_skipped,
                },
                "rules": {
                    "run": self.coverage.rules_run,
                    "skipped": self.coverage.rules_skipped,
                    "deselected": self.coverage.rules_deselected,
                },
            },
            "skipped": [item.as_dict() for item in self.skipped],
            "suppressed": [item.as_dict() for item in self.suppressed],
            "unresolved": [finding.as_dict() for finding in self.unresolved],
            "stale": [item.as_dict() for item in self.stale],
            "findings": [finding.as_dict() for finding in self.findings],
        }
