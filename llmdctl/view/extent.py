"""How much of a cluster an input shows."""

from __future__ import annotations

from llmdctl.findings.frozen import frozen


@frozen
class Extent:
    """Where a complete input is complete: these namespaces (None: all), and objects outside namespaces or not."""

    namespaces: frozenset[str] | None = None
    cluster_scoped: bool = True


EVERYTHING = Extent()
