"""A fault of a catalog, and the collector that gives faults their lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from llmdctl.catalog.roots import EntryFile
from llmdctl.findings import Path, SourceRef, UserError, format_path
from llmdctl.findings.frozen import frozen
from llmdctl.manifest import locate


@frozen(order=True)
class CatalogProblem:
    """What is wrong in a catalog file, where, and what to do."""

    source: SourceRef
    what: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.what}" + (f" ({self.fix})" if self.fix else "")

    def as_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {"source": self.source.as_dict(), "what": self.what, "fix": self.fix}


@dataclass(slots=True)
class Problems:
    """Faults found so far."""

    found: list[CatalogProblem] = field(default_factory=list)

    def add(self, source: SourceRef, what: str, fix: str = "") -> None:
        """A fault at a known place."""
        self.found.append(CatalogProblem(source, what, fix))

    def at(self, file: EntryFile, path: Path, what: str, fix: str = "") -> None:
        """A fault at a path inside an entry."""
        target = (file.source.document, None, path)
        source = locate(file.path.read_bytes(), file.source.file, [target])[target]
        where = format_path(path)
        self.add(source, f"{where}: {what}" if where else what, fix)

    def error(self, error: UserError, file: str) -> None:
        """A file that could not be loaded."""
        for one in (error, *error.others):
            self.add(one.source or SourceRef(file), one.what, one.fix or one.why)
