"""The report of a run (report.llmdctl.io/v1): findings, what was covered, what was skipped and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
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


@frozen
class Coverage:
    """How much was looked at. `objects_skipped` have no schema; rules that could not run count as skipped."""

    objects_total: int = 0
    objects_validated: int = 0
    objects_skipped: int = 0
    rules_run: int = 0
    rules_skipped: int = 0


@frozen
class Report:
    """Everything one run says. `findings` come sorted by severity and place."""

    target: Target = Target()
    coverage: Coverage = Coverage()
    findings: tuple[Finding, ...] = ()
    skipped: tuple[SkippedCheck, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    unresolved: tuple[Finding, ...] = field(default=())

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

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, complete: `summary`, `coverage`, `skipped`, `suppressed`, `findings`."""
        return {
            "apiVersion": "report.llmdctl.io/v1",
            "kind": "Report",
            "tool": {"name": "llmdctl", "version": __version__},
            "target": {
                "kubeVersion": self.target.kube_version,
                "release": self.target.release,
                "complete": self.target.complete,
            },
            "summary": {
                "errors": self.count(Severity.ERROR),
                "warnings": self.count(Severity.WARNING),
                "infos": self.count(Severity.INFO),
                "skipped": len(self.skipped),
                "suppressed": len(self.suppressed),
                "unresolved": len(self.unresolved),
            },
            "coverage": {
                "objects": {
                    "total": self.coverage.objects_total,
                    "validated": self.coverage.objects_validated,
                    "skipped": self.coverage.objects_skipped,
                },
                "rules": {"run": self.coverage.rules_run, "skipped": self.coverage.rules_skipped},
            },
            "skipped": [item.as_dict() for item in self.skipped],
            "suppressed": [finding.as_dict() for finding in self.suppressed],
            "unresolved": [finding.as_dict() for finding in self.unresolved],
            "findings": [finding.as_dict() for finding in self.findings],
        }
