"""What is wrong with an endpoint picker's config."""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.findings.frozen import frozen

REFUSED = frozenset(
    {
        "RTR001", "RTR002", "RTR003", "RTR004", "RTR005", "RTR006", "RTR007", "RTR008", "RTR009", "RTR011", "RTR012",
        "RTR017", "RTR031", "RTR034",
    }
)  # fmt: skip
"""Codes of what keeps the endpoint picker from starting. RTR029 is among its faults, yet also tells tiny values."""


@frozen
class Fault:
    """One fault: its code (RTR...), where it stands in the config, what it is, and what to do."""

    code: str
    path: Path
    title: str
    fix: str = ""


@frozen
class Unclear:
    """A check that could not be made, with the reason."""

    code: str
    path: Path
    reason: str
