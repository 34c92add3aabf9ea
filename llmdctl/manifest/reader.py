"""Reading manifests: text, files, directories and stdin to documents, with what is wrong in them as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmdctl.findings import Finding, Hit, SourceRef, UserError
from llmdctl.manifest.document import Document
from llmdctl.manifest.duplicates import duplicate_objects, is_list_object, repeated_key_findings
from llmdctl.manifest.files import STDIN, check_text, expand_path, read_bytes
from llmdctl.manifest.jsontext import read_json
from llmdctl.manifest.parallel import map_chunks
from llmdctl.manifest.raw import RawDocument, Scalars
from llmdctl.manifest.rules import NOT_AN_OBJECT
from llmdctl.manifest.simple import Lines, read_simple


@dataclass(slots=True)
class Reading:
    """What was read: objects, faults in them (YML001..YML003), and inputs that could not be read at all.

    `texts` keeps what came from stdin, which can't be read again when a finding needs a position.
    """

    documents: list[Document] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    errors: list[UserError] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)

    def add(self, other: Reading) -> None:
        """Appends another reading to this one."""
        self.documents += other.documents
        self.findings += other.findings
        self.errors += other.errors
        self.texts |= other.texts

    def require(self) -> list[Document]:
        """The documents. Raises the first UserError, the rest as its `others`, when any input could not be read."""
        if self.errors:
            first, *others = self.errors
            raise UserError(first.what, source=first.source, why=first.why, fix=first.fix, others=others)
        return self.documents


def read_text(text: str | bytes, file: str, lines: Lines | None = None) -> Reading:
    """Reads YAML or JSON text; `file` names it in messages. Documents before a syntax error are kept.

    `lines` is for texts that have many lines in common.
    """
    reading = _read_one(text, file, Lines(Scalars()) if lines is None else lines)
    reading.findings += duplicate_objects(reading.documents)
    return reading


PARALLEL_FILES = 16
"""Fewer files than this are read in one process: starting others takes longer."""


def read_paths(paths: Sequence[str], replaced: Mapping[str, bytes] | None = None, *, jobs: int = 1) -> Reading:
    """Reads files, directories (`*.yaml`, `*.yml`, `*.json` below them, sorted) and `-` for stdin.

    Each path is one input of its own: an object that stands in it twice, also in two files of a directory, is YML002.
    The same object in two paths is not, since overlays of one stack may be checked together. `replaced` holds what is
    read in place of files. Many files are read by `jobs` processes.
    """
    inputs = []
    for path in paths:
        errors: list[UserError] = []
        inputs.append((list(expand_path(path, errors)), errors))
    given = replaced or {}
    files = [file for names, _ in inputs for file in names]

    def read_files(names: Sequence[str]) -> list[Reading]:
        lines = Lines(Scalars())
        return [_read_file(name, lines, given) for name in names]

    several = jobs if len(files) >= PARALLEL_FILES and STDIN not in files else 1
    readings = iter([reading for chunk in map_chunks(read_files, files, several) for reading in chunk])
    whole = Reading()
    for names, errors in inputs:
        one_input = Reading(errors=errors)
        for _ in names:
            one_input.add(next(readings))
        one_input.findings += duplicate_objects(one_input.documents)
        whole.add(one_input)
    return whole


def _read_file(file: str, lines: Lines, replaced: Mapping[str, bytes]) -> Reading:
    try:
        data = replaced[file] if file in replaced else read_bytes(file)
    except UserError as error:
        return Reading(errors=[error])
    reading = _read_one(data, file, lines)
    if file == STDIN or file in replaced:
        reading.texts[file] = data
    return reading


def _read_one(text: str | bytes, file: str, lines: Lines) -> Reading:
    reading = Reading()
    try:
        data = check_text(text, file)
    except UserError as error:
        reading.errors.append(error)
        return reading
    raw = _raw_documents(data, file, reading, lines)
    for document in raw:
        _add_document(document, file, reading)
    if any(document.repeats_keys for document in raw):
        reading.findings[:0] = _repeated_keys(data, file, raw)
    return reading


def _raw_documents(data: bytes, file: str, reading: Reading, lines: Lines) -> list[RawDocument]:
    from_json = read_json(data)
    if from_json is not None:
        return from_json
    simple = read_simple(data, lines)
    if simple is not None:
        return simple
    # Only here, since most files need neither and importing them takes longer than reading a stack.
    import yaml

    from llmdctl.manifest.construct import DocumentReader
    from llmdctl.manifest.faults import YamlFault, as_user_error

    documents: list[RawDocument] = []
    reader = DocumentReader(data)
    try:
        for document in reader:
            documents.append(document)
    except (yaml.YAMLError, YamlFault) as error:
        reading.errors.append(as_user_error(error, data, file, max(reader.index, 0)))
    return documents


def _repeated_keys(data: bytes, file: str, raw: Sequence[RawDocument]) -> list[Finding]:
    from llmdctl.manifest.marks import read_marks

    marked = read_marks(data)
    return [
        finding
        for document in raw
        if document.repeats_keys and document.index < len(marked)
        for finding in repeated_key_findings(marked[document.index], document.value, file, document.index)
    ]


def _add_document(raw: RawDocument, file: str, reading: Reading) -> None:
    if raw.value is None:
        return
    source = SourceRef(file, raw.line, raw.column, raw.index)
    for value, item in _objects(raw.value, None):
        document = Document(value, source, item)
        if isinstance(value, dict):
            reading.documents.append(document)
        else:
            what = "a list" if isinstance(value, list) else f"the value {str(value)[:60]!r}"
            where = "document" if item is None else f"items[{item}]"
            reading.findings.append(NOT_AN_OBJECT.finding(Hit(document.place(), f"{where} is {what}, not an object")))


def _objects(value: Any, item: int | None) -> Iterator[tuple[Any, int | None]]:
    """The objects of a document; an item that states no kind takes it from its list (PodList: Pod), as in Go."""
    if not is_list_object(value):
        yield value, item
        return
    kind = value["kind"].removesuffix("List")
    for index, entry in enumerate(value["items"]):
        if kind and isinstance(entry, dict) and "kind" not in entry:
            entry = {"apiVersion": value.get("apiVersion"), "kind": kind, **entry}
        yield from _objects(entry, index if item is None else item)
