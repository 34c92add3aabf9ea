"""Suppression: findings that someone decided to live with, each with a reason."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmdctl.findings import (
    Finding,
    Hit,
    ObjectRef,
    Place,
    Rule,
    Severity,
    SourceRef,
    Stale,
    Suppressed,
    SuppressedBy,
    UserError,
)
from llmdctl.findings.registry import CODE
from llmdctl.manifest import read_text
from llmdctl.manifest.document import Document
from llmdctl.manifest.files import read_bytes
from llmdctl.manifest.record import record
from llmdctl.manifest.typed import TypedError, doc, json_schema, load

ANNOTATION = "llmdctl.io/ignore"
FILE = ".llmdctl.yaml"
IGNORE_SCHEMA_ID = "https://llmdctl.io/schemas/ignore-v1.json"

SERVER_FAMILIES = ("YML", "SCH", "CEL", "ADM")
"""What the API server refuses stays refused, whatever an annotation says."""

_ENTRY = re.compile(r"\s*(?P<code>[^:;]*?)\s*(?::\s*(?P<reason>[^;]*?)\s*)?")

IGN001 = Rule(
    code="IGN001",
    severity=Severity.WARNING,
    title="an ignore annotation can't be read or gives no reason",
    why="an entry without a reason, with an unknown code or with one that can't be ignored has no effect",
    fix=f"write {ANNOTATION}: 'PRT004: the reason; KVT002: the reason'",
    references=("llmdctl docs/rules/README.md",),
)


@record
class Ignore:
    """One entry of `.llmdctl.yaml`."""

    code: str = field(metadata=doc("Code of the finding to ignore.", pattern="[A-Z]{3}[0-9]{3}"))
    object: str = field(default="*", metadata=doc("Kind/name of the objects, with * and ?; all when absent."))
    namespace: str = field(
        default="*", metadata=doc("Namespace that the objects state, with * and ?; any when absent.")
    )
    file: str = field(default="*", metadata=doc("Path of the file as reports write it, with * and ?; any when absent."))
    reason: str = field(metadata=doc("Why."))

    def fits(self, finding: Finding) -> bool:
        """True when this entry means the finding."""
        ref = finding.object or ObjectRef()
        source = finding.source or SourceRef("")
        return self.code == finding.code and all(
            fnmatch.fnmatchcase(text, pattern)
            for text, pattern in (
                (f"{ref.kind}/{ref.name}", _glob(self.object)),
                (ref.namespace, self.namespace),
                (source.file, self.file),
            )
        )


def _glob(text: str) -> str:
    return text if "/" in text or text == "*" else f"{text}/*"


@record
class IgnoreFile:
    """The content of `.llmdctl.yaml`."""

    ignore: list[Ignore] = field(default_factory=list, metadata=doc("Findings to ignore."))


def ignore_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of `.llmdctl.yaml`."""
    return json_schema(IgnoreFile, identifier=IGNORE_SCHEMA_ID, title="Ignore file (.llmdctl.yaml)")


def load_ignores(path: str) -> tuple[Ignore, ...]:
    """The entries of an ignore file. Raises UserError for a file that can't be read or has another shape."""
    reading = read_text(read_bytes(path), path)
    documents = reading.require()
    try:
        entries = [entry for document in documents for entry in load(IgnoreFile, document.object).ignore]
    except TypedError as error:
        errors = [UserError(str(problem), source=SourceRef(path), fix=problem.fix) for problem in error.problems]
        raise UserError(errors[0].what, source=SourceRef(path), fix=errors[0].fix, others=errors[1:]) from error
    blank = next((entry for entry in entries if not entry.reason.strip()), None)
    if blank is not None:
        raise UserError(f"ignoring {blank.code} needs a reason", source=SourceRef(path), fix="say why in `reason`")
    return tuple(entries)


def ignored(
    findings: Sequence[Finding], ignores: Sequence[Ignore]
) -> tuple[list[Finding], list[Suppressed], list[Stale]]:
    """The findings that no entry fits, those that one does, with its reason, and the entries that fit nothing."""
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    by_code: dict[str, list[Ignore]] = {}
    for entry in ignores:
        by_code.setdefault(entry.code, []).append(entry)
    used: set[int] = set()
    for finding in findings:
        fitting = [entry for entry in by_code.get(finding.code, ()) if entry.fits(finding)]
        used.update(map(id, fitting))
        if fitting:
            suppressed.append(Suppressed(finding, SuppressedBy.FILE, fitting[0].reason))
        else:
            kept.append(finding)
    unused = (entry for entry in ignores if id(entry) not in used)
    return kept, suppressed, [Stale(SuppressedBy.FILE, item.code, item.object, item.reason) for item in unused]


@dataclass(slots=True)
class Annotated:
    """What one object's annotation ignores, and what is wrong with it."""

    reasons: dict[str, str] = field(default_factory=dict)
    faults: list[tuple[Finding, Place]] = field(default_factory=list)


def read_annotation(document: Document, known: frozenset[str]) -> Annotated | None:
    """The ignore annotation of an object, or None."""
    metadata = document.object.get("metadata") if isinstance(document.object, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
    if not isinstance(text, str):
        return None
    out = Annotated()
    for code, reason in _entries(text):
        fault = _fault(code, reason, known)
        if fault:
            place = document.place("metadata", "annotations", ANNOTATION)
            out.faults.append((IGN001.finding(Hit(place, f"the ignore annotation {fault}")), place))
        else:
            out.reasons[code] = reason
    return out


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(";"):
        match = _ENTRY.fullmatch(part)
        if part.strip():
            yield (match["code"], match["reason"] or "") if match else (part.strip(), "")


def _fault(code: str, reason: str, known: frozenset[str]) -> str:
    if not CODE.fullmatch(code):
        return f"holds {code[:40]!r}, which is no code"
    if code[:3] in SERVER_FAMILIES:
        return f"names {code}: what the API server refuses can't be ignored"
    if code not in known:
        return f"names the unknown code {code}"
    return "" if reason else f"gives no reason for {code}"
