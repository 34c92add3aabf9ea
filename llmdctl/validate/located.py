"""Lines and columns for findings and for the evidence that they rest on, in one reading of each file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from llmdctl.findings import Evidence, Finding, Place, Severity, SourceRef
from llmdctl.manifest import with_positions
from llmdctl.validate.rules.evidence import PlacedEvidence

_PROBE = Finding("XXX000", Severity.INFO, "")


def locate(hits: Sequence[tuple[Finding, Place]], texts: Mapping[str, bytes]) -> list[Finding]:
    """The findings, in order, with the positions of their places and of their evidence."""
    placed = [item for finding, _ in hits for item in finding.evidence if isinstance(item, PlacedEvidence) and item.at]
    found = with_positions([*hits, *((_PROBE, item.at) for item in placed if item.at)], texts)
    sources = {id(item): probe.source for item, probe in zip(placed, found[len(hits) :], strict=True)}
    return [_with_evidence(finding, sources) for finding in found[: len(hits)]]


def _with_evidence(finding: Finding, sources: Mapping[int, SourceRef | None]) -> Finding:
    if not finding.evidence:
        return finding
    return replace(finding, evidence=tuple(_plain(item, sources) for item in finding.evidence))


def _plain(item: Evidence, sources: Mapping[int, SourceRef | None]) -> Evidence:
    return Evidence(item.text, sources.get(id(item)) or item.source)
