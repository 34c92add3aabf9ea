"""The one type for everything that is wrong: validate, preflight and diagnose all produce it."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from llmdctl.findings.frozen import frozen

if TYPE_CHECKING:
    from llmdctl.findings.edit import Edit


class Severity(StrEnum):
    """How bad a finding is. `error`: the deployment is refused or broken; `warning`: degraded or fragile."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for error, 1 for warning, 2 for info: the order in which reports list findings."""
        return _RANK[self]

    def reaches(self, threshold: Severity) -> bool:
        """True when this severity is as bad as `threshold` or worse."""
        return self.rank <= threshold.rank


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@frozen(order=True)
class ObjectRef:
    """The identity of a Kubernetes object. `namespace` and `name` are empty when the object has none."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind or 'object'}/{self.name}" if self.name else self.kind or "object"

    def as_dict(self) -> dict[str, str]:
        """The JSON form, with Kubernetes' own field names."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
        }


@frozen(order=True)
class SourceRef:
    """A place in an input file. Lines and columns count from 1, documents from 0; 0 as a line means unknown.

    `template` is the file that the text was rendered from, where another program rendered it and tells.
    """

    file: str
    line: int = 0
    column: int = 0
    document: int = 0
    template: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        if self.line and self.column:
            place += f":{self.column}"
        return f"{place} from {self.template}" if self.template else place

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "document": self.document,
            "template": self.template,
        }


@frozen
class Evidence:
    """A fact that a finding rests on, quoted or restated, with the place that it was read from."""

    text: str
    source: SourceRef | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"text": self.text, "source": self.source.as_dict() if self.source else None}


@frozen
class Finding:
    """One fault, with where, why and fix.

    `title` is a sentence that stands alone; `pointer` is dotted, as the API server writes it; `explains` lists the
    fingerprints of findings that this one causes, and `root_cause` the fingerprint of the finding that causes it.
    `edits` mend it together.
    """

    code: str
    severity: Severity
    title: str
    object: ObjectRef | None = None
    pointer: str = ""
    source: SourceRef | None = None
    evidence: tuple[Evidence, ...] = ()
    why: str = ""
    fix: str = ""
    references: tuple[str, ...] = ()
    root_cause: str = ""
    explains: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that stay the same while the same fault stays at the same place of the same object."""
        # Few runs ask for it, and the import is a tenth of a small command's time.
        import hashlib

        ref = self.object or ObjectRef()
        parts = (self.code, ref.api_version, ref.kind, ref.namespace, ref.name, self.pointer)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Orders findings by severity, then by where they were found."""
        source = self.source or SourceRef("")
        return (self.severity.rank, source, self.object or ObjectRef(), self.pointer, self.code, self.title)

    def located(self, source: SourceRef) -> Finding:
        """The same finding at a more exact place."""
        return replace(self, source=source)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form of the report (report.llmdctl.io/v1)."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "title": self.title,
            "object": self.object.as_dict() if self.object else None,
            "pointer": self.pointer,
            "source": self.source.as_dict() if self.source else None,
            "evidence": [item.as_dict() for item in self.evidence],
            "why": self.why,
            "fix": self.fix,
            "docs": f"llmdctl explain {self.code}",
            "references": list(self.references),
            "rootCause": self.root_cause,
            "explains": list(self.explains),
            "edits": [edit.as_dict() for edit in self.edits],
            "fingerprint": self.fingerprint,
        }
