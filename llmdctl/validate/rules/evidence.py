"""Evidence that knows its place, so that its line can be looked up when the report is made."""

from __future__ import annotations

from llmdctl.findings import Evidence, Place
from llmdctl.findings.frozen import frozen


@frozen
class PlacedEvidence(Evidence):
    """A fact with the place that it was read from."""

    at: Place | None = None


def seen(text: str, place: Place) -> Evidence:
    """A fact with its place."""
    return PlacedEvidence(text, place.source, place)
