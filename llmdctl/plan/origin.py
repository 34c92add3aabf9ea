"""Where a value comes from, and the ledger that remembers it for every value of a plan."""

from __future__ import annotations

from enum import StrEnum

from llmdctl.findings import Path, format_path
from llmdctl.findings.frozen import frozen


class OriginKind(StrEnum):
    """What settled a value."""

    DEFAULT = "default"
    CATALOG = "catalog"
    FILE = "file"
    FLAG = "flag"
    FORMULA = "formula"


@frozen
class Origin:
    """What settled a value, and where: a catalog file, `file:line`, a flag, or the formula in words."""

    kind: OriginKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def formula(text: str) -> Origin:
    """A value that was computed; `text` says how."""
    return Origin(OriginKind.FORMULA, text)


class Ledger:
    """Origins by path. A value without an entry of its own has the origin of the nearest part that holds it."""

    def __init__(self) -> None:
        self._origins: dict[Path, Origin] = {}

    def note(self, path: Path, origin: Origin) -> None:
        """Records the origin of the value at `path`; the last word wins."""
        self._origins[path] = origin

    def forget(self, path: Path) -> None:
        """Drops what is known of `path` and of everything below it."""
        for known in [known for known in self._origins if known[: len(path)] == path]:
            del self._origins[known]

    def of(self, path: Path) -> Origin:
        """The origin of the value at `path`. Raises LookupError when nothing on the way has one: a bug of ours."""
        for length in range(len(path), 0, -1):
            origin = self._origins.get(path[:length])
            if origin is not None:
                return origin
        raise LookupError(f"no origin is known for {format_path(path)}")
