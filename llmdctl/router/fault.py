"""What is wrong with an endpoint picker's config."""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.findings.frozen import frozen


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
