"""Lines and columns for findings. Objects carry none: a file is read again only when a finding points into it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from llmdctl.findings import Finding, Path, Place, SourceRef, UserError
from llmdctl.manifest.files import STDIN, check_text, read_bytes

if TYPE_CHECKING:
    from llmdctl.manifest.marks import MarkedNode, Spot

Target = tuple[int, int | None, Path]
"""Index of the document in its file, index inside a `kind: List` (or None), path inside the object."""


def locate(text: bytes, file: str, targets: Iterable[Target]) -> dict[Target, SourceRef]:
    """Where each target stands: at the key of a field, at the item of a list, at the deepest step that exists.

    Steps past a literal block scalar are looked up in the YAML that it holds.

    A target in a document that can't be read has line 0.
    """
    from llmdctl.manifest.marks import read_marks

    data = check_text(text, file)
    return dict(_Positions(data, file, read_marks(data)).all(targets))


class _Positions:
    """Looks targets up in one file; a text that is embedded as a block is read once."""

    def __init__(self, data: bytes, file: str, marked: Sequence[MarkedNode]) -> None:
        self._data = data
        self._file = file
        self._marked = marked
        self._lines: list[bytes] = []
        self._embedded: dict[int, tuple[list[str], Sequence[MarkedNode]]] = {}

    def all(self, targets: Iterable[Target]) -> Iterator[tuple[Target, SourceRef]]:
        for target in targets:
            yield target, self._source(target)

    def _source(self, target: Target) -> SourceRef:
        from llmdctl.manifest.marks import deepest

        document, item, path = target
        if not 0 <= document < len(self._marked):
            return SourceRef(self._file, document=document)
        steps = path if item is None else ("items", item, *path)
        spot, node, rest = deepest(self._marked[document], steps)
        if rest and node.block:
            spot = self._inside(node, rest) or spot
        return SourceRef(self._file, *spot, document)

    def _inside(self, node: MarkedNode, path: Path) -> Spot | None:
        """The place of a path in YAML that stands in a block; None where its lines are not found in the file."""
        from llmdctl.manifest.marks import deepest_spot, read_marks

        if id(node) not in self._embedded:
            self._embedded[id(node)] = (node.block.splitlines(), read_marks(node.block.encode()))
        if not self._lines:
            self._lines = self._data.splitlines()
        lines, marked = self._embedded[id(node)]
        if not marked:
            return None
        line, column = deepest_spot(marked[0], path)
        place = node.spot[0] + line
        if not (0 < line <= len(lines) and place <= len(self._lines)):
            return None
        inner, outer = lines[line - 1], self._lines[place - 1].decode("utf-8", "replace")
        if not inner or not outer.endswith(inner):
            return None
        return place, column + len(outer) - len(inner)


def with_positions(hits: Sequence[tuple[Finding, Place]], texts: Mapping[str, bytes] | None = None) -> list[Finding]:
    """The findings, in order, with line and column of their places; each file is read once.

    `texts` is `Reading.texts`: what came from stdin. Findings in files that can't be read any more keep the source
    they have, and findings without a place are returned as they are.
    """
    wanted: dict[str, set[Target]] = defaultdict(set)
    for _, place in hits:
        if place.source is not None:
            wanted[place.source.file].add(_target(place))
    found = {file: _locate_in(file, targets, texts or {}) for file, targets in wanted.items()}
    return [_located(finding, place, found) for finding, place in hits]


def _target(place: Place) -> Target:
    # MapKey equals its text, so that both spellings of a path are one target.
    return (place.source.document if place.source else 0, place.item, place.path)


def _locate_in(file: str, targets: Iterable[Target], texts: Mapping[str, bytes]) -> dict[Target, SourceRef]:
    if file not in texts and file == STDIN:
        return {}
    try:
        data = texts[file] if file in texts else read_bytes(file)
        return locate(data, file, targets)
    except UserError:
        return {}


def _located(finding: Finding, place: Place, found: Mapping[str, Mapping[Target, SourceRef]]) -> Finding:
    if place.source is None:
        return finding
    source = found[place.source.file].get(_target(place))
    if source is None or not source.line:
        return finding if finding.source is not None else replace(finding, source=place.source)
    return replace(finding, source=replace(source, template=place.source.template))
