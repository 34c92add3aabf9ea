"""Ranges of TCP ports, and who listens on them."""

from __future__ import annotations

from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen

MAX_PORT = 65535


@frozen(order=True)
class PortRange:
    """`count` consecutive ports from `first` on."""

    first: int
    count: int = 1

    @property
    def last(self) -> int:
        """The highest port of the range."""
        return self.first + self.count - 1

    def __contains__(self, port: object) -> bool:
        return isinstance(port, int) and self.first <= port <= self.last

    def overlaps(self, other: PortRange) -> bool:
        """True when both hold a common port."""
        return self.first <= other.last and other.first <= self.last

    def __str__(self) -> str:
        return str(self.first) if self.count == 1 else f"{self.first}-{self.last}"


@frozen
class Listener:
    """Something in a pod that binds ports: what it is, which ones, and where that is said."""

    what: str
    ports: PortRange
    at: Place
    http: bool = False
