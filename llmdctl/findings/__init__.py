"""Findings: what is wrong, where, why and what to do. The lowest package: it imports nothing of ours."""

from llmdctl.findings.edit import Edit, Op
from llmdctl.findings.errors import ClusterError, UserError
from llmdctl.findings.model import Evidence, Finding, ObjectRef, Severity, SourceRef
from llmdctl.findings.place import MapKey, Path, Place, format_path
from llmdctl.findings.registry import Check, Hit, Outcome, Rule, RuleRegistry, Skip, Unresolved
from llmdctl.findings.report import Coverage, Report, SkippedCheck, Stale, Suppressed, SuppressedBy, Target
from llmdctl.findings.words import counted

__all__ = [
    "Check",
    "ClusterError",
    "Coverage",
    "Edit",
    "Evidence",
    "Finding",
    "Hit",
    "MapKey",
    "ObjectRef",
    "Op",
    "Outcome",
    "Path",
    "Place",
    "Report",
    "Rule",
    "RuleRegistry",
    "Severity",
    "Skip",
    "SkippedCheck",
    "SourceRef",
    "Stale",
    "Suppressed",
    "SuppressedBy",
    "Target",
    "Unresolved",
    "UserError",
    "counted",
    "format_path",
]
