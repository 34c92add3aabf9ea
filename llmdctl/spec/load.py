"""Strict loading of a stack file: every fault at once, each with the place where it stands."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from llmdctl.findings import Path, SourceRef, UserError, format_path
from llmdctl.manifest import Document, Reading, read_text
from llmdctl.manifest.files import STDIN, check_text, expand_path, read_bytes
from llmdctl.manifest.marks import MarkedNode, deepest_spot, read_marks
from llmdctl.manifest.typed import Problem, TypedError, load
from llmdctl.spec.model import API_VERSION, KIND, InferenceStack

STDIN_NAME = "stdin"


class LoadedStack:
    """A stack file: `stack` typed, `data` the plain data as written, `file` the name for messages.

    Containers of `data` that the file shares through anchors are shared here too: copy before changing them.
    """

    __slots__ = ("_marks", "_text", "data", "document", "file", "stack")

    def __init__(self, stack: InferenceStack, data: dict[str, Any], file: str, text: bytes, document: int) -> None:
        self.stack = stack
        self.data = data
        self.file = file
        self.document = document
        self._text = text
        self._marks: MarkedNode | None = None

    def source(self, path: Path) -> SourceRef:
        """The place of a path (from the root, as in `("spec", "guide")`), or of its deepest step that is written."""
        if self._marks is None:
            self._marks = _marks(self._text, self.document)
        return SourceRef(self.file, *deepest_spot(self._marks, path), self.document)


def load_stack(path: str, text: bytes | None = None) -> LoadedStack:
    """Loads the one InferenceStack in a file, or in stdin for `-`; `text` spares the reading and `path` then names it.

    Raises UserError for input that can't be read, that is no InferenceStack, or that does not fit its type: one error
    for all faults, the further ones as its `others`, each with line and column.
    """
    data = _read(path) if text is None else text
    file = STDIN_NAME if path == STDIN else path
    document = _only_document(read_text(data, file), file)
    text = check_text(data, file)
    stack_data = document.object
    index = document.source.document
    _check_identity(stack_data, file, text, index)
    try:
        stack = load(InferenceStack, stack_data)
    except TypedError as error:
        raise problems_error(error.problems, file, text, index) from error
    return LoadedStack(stack, stack_data, file, text, index)


def _read(path: str) -> bytes:
    if path == STDIN:
        return read_bytes(path)
    try:
        if FilePath(path).is_dir():
            raise UserError(f"{path} is a directory, not a stack file", fix="name the file")
        errors: list[UserError] = []
        files = list(expand_path(path, errors))
    except (OSError, ValueError) as error:
        raise UserError(f"can't read {path[:200]!r}", why=str(getattr(error, "strerror", "") or error)) from error
    if errors:
        raise errors[0]
    return read_bytes(files[0])


def _only_document(reading: Reading, file: str) -> Document:
    documents = reading.require()
    extra = documents[0] if documents and documents[0].item is not None else documents[1] if documents[1:] else None
    if extra is not None:
        raise UserError(
            "holds more than one document, or a list",
            source=extra.source,
            why="a stack file holds exactly one InferenceStack",
            fix="put each stack into a file of its own; rendered objects are checked with: llmdctl validate",
        )
    faults = [UserError(found.title, source=found.source, why=found.why, fix=found.fix) for found in reading.findings]
    if faults:
        first, *others = faults
        raise UserError(first.what, source=first.source, why=first.why, fix=first.fix, others=others)
    if not documents:
        raise UserError(
            "holds no InferenceStack: there is nothing in it",
            source=SourceRef(file),
            fix="write one with: llmdctl init",
        )
    return documents[0]


def _check_identity(data: dict[str, Any], file: str, text: bytes, document: int) -> None:
    kind, version = data.get("kind"), data.get("apiVersion")
    if kind == KIND and version == API_VERSION:
        return
    wrong = "kind" if kind != KIND else "apiVersion"
    spot = deepest_spot(_marks(text, document), (wrong,))
    source = SourceRef(file, *spot, document)
    if wrong == "kind":
        found = f"kind is {kind!r}" if kind is not None else "it has no kind"
        raise UserError(
            f"not an {KIND}: {found}",
            source=source,
            why=f"a stack file has apiVersion {API_VERSION} and kind {KIND}",
            fix="objects of a cluster are checked with: llmdctl validate",
        )
    found = f"apiVersion is {version!r}" if version is not None else "it has no apiVersion"
    raise UserError(
        f"not an {KIND} of this llmdctl: {found}",
        source=source,
        why=f"this llmdctl reads {API_VERSION}",
        fix=f"set apiVersion: {API_VERSION}",
    )


def _marks(text: bytes, document: int) -> MarkedNode:
    marked = read_marks(text)
    # A JSON text with a trailing fault is read by another parser than the one that marks it.
    return marked[document] if document < len(marked) else MarkedNode((1, 1))


def problems_error(problems: list[Problem], file: str, text: bytes, document: int) -> UserError:
    """One UserError for all faults of a file, in the order of their lines."""
    marks = _marks(text, document)

    def error_of(problem: Problem) -> UserError:
        where = format_path(problem.path)
        what = f"{where}: {problem.what}" if where else problem.what
        return UserError(what, source=SourceRef(file, *deepest_spot(marks, problem.path), document), fix=problem.fix)

    errors = sorted(map(error_of, problems), key=lambda error: (error.source or SourceRef(file), error.what))
    first, *others = errors
    return UserError(first.what, source=first.source, fix=first.fix, others=others)
