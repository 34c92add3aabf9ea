"""A second, slower reading that keeps where everything stands: only for files that a finding points into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from llmdctl.findings import Path
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.events import GetEvent, open_events
from llmdctl.manifest.raw import MAX_DEPTH
from llmdctl.manifest.scalars import ScalarError, key_text, resolve

Spot = tuple[int, int]
"""Line and column, both from 1."""


@dataclass(slots=True)
class MarkedNode:
    """Where a node begins, where each of its keys or items begins, and which keys it names more than once.

    `block` is the value of a literal block scalar (`|`): its lines stand in the file as they are.
    """

    spot: Spot
    is_map: bool = False
    keys: dict[str, Spot] = field(default_factory=dict)
    children: dict[str | int, MarkedNode] = field(default_factory=dict)
    repeats: dict[str, list[Spot]] = field(default_factory=dict)
    merged: list[MarkedNode] = field(default_factory=list)
    block: str = ""

    def child(self, step: str | int) -> tuple[Spot, MarkedNode] | None:
        """The place of a key or item and its value; a key that only a merge brought in is found where it is written."""
        if step in self.children:
            node = self.children[step]
            return (self.keys[str(step)] if self.is_map else node.spot), node
        for source in self.merged:
            found = source.child(step)
            if found:
                return found
        return None


def read_marks(data: bytes) -> list[MarkedNode]:
    """The marked tree of every document. At a syntax error it ends with the document before."""
    get_event = open_events(data)
    documents: list[MarkedNode] = []
    try:
        while (event := get_event()) is not None:
            if event.__class__ is DocumentStartEvent:
                documents.append(_Builder(get_event, {}).node(get_event(), 0))
    except (yaml.YAMLError, _TooDeepError):
        return documents
    return documents


class _TooDeepError(Exception):
    pass


@frozen
class _Builder:
    get_event: GetEvent
    anchors: dict[str, MarkedNode]

    def node(self, event: Any, depth: int) -> MarkedNode:
        if depth > MAX_DEPTH:
            raise _TooDeepError
        spot = _spot(event)
        if event.__class__ is AliasEvent:
            return self.anchors.get(str(event.anchor), MarkedNode(spot))
        node = MarkedNode(spot)
        if event.__class__ is MappingStartEvent:
            node.is_map = True
            self._fill_map(node, depth)
        elif event.__class__ is SequenceStartEvent:
            for index, item in enumerate(self._until_end()):
                node.children[index] = self.node(item, depth + 1)
        elif event.style == "|":
            node.block = str(event.value)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _fill_map(self, node: MarkedNode, depth: int) -> None:
        for event in self._until_end():
            self.node(event, depth + 1)  # a key may carry an anchor
            key, spot = _key_of(event), _spot(event)
            value = self.node(self.get_event(), depth + 1)
            if key is None:
                node.merged.extend([value] if value.is_map else value.children.values())
                continue
            if key in node.keys:
                node.repeats.setdefault(key, [node.keys[key]]).append(spot)
            node.keys[key] = spot
            node.children[key] = value

    def _until_end(self) -> Iterator[Any]:
        while (event := self.get_event()).__class__ not in (MappingEndEvent, SequenceEndEvent):
            yield event


def _key_of(event: Any) -> str | None:
    """The key's text as Go makes it; None for a merge key."""
    if event.__class__ is not ScalarEvent:
        return ""
    if not event.implicit[0]:
        return None if event.tag == "tag:yaml.org,2002:merge" else str(event.value)
    if event.value == "<<":
        return None
    try:
        return key_text(resolve(event.value))
    except ScalarError:
        return str(event.value)


def _spot(event: Any) -> Spot:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def repeated_keys(root: MarkedNode) -> Iterator[tuple[Path, list[Spot]]]:
    """Every key that its mapping names more than once: its path, and where it stands each time."""
    seen: set[int] = set()
    todo: list[tuple[Path, MarkedNode]] = [((), root)]
    while todo:
        path, node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for key, spots in node.repeats.items():
            yield (*path, key), spots
        todo.extend(((*path, step), child) for step, child in reversed(node.children.items()))


def deepest_spot(root: MarkedNode, path: Path) -> Spot:
    """Where the deepest step of `path` that exists stands: the key for a field, the item for a list."""
    return deepest(root, path)[0]


def deepest(root: MarkedNode, path: Path) -> tuple[Spot, MarkedNode, Path]:
    """The same with the node that stands there, and the steps of `path` that it lacks."""
    spot, node = root.spot, root
    for index, step in enumerate(path):
        found = node.child(int(step) if isinstance(step, int) else str(step))
        if found is None:
            return spot, node, path[index:]
        spot, node = found
    return spot, node, ()
