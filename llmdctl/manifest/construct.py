"""Plain data from parser events, by Go's rules: one flat loop, so that neither depth nor aliases can exhaust us."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from llmdctl.manifest.events import GetEvent, open_events
from llmdctl.manifest.faults import WHY_DEPTH, YamlFault
from llmdctl.manifest.raw import MAX_DEPTH, RawDocument, Scalars
from llmdctl.manifest.scalars import Scalar, ScalarError, key_text, resolve_tagged

MAX_ALIAS_NODES = 400_000
"""Nodes that aliases may add to a file of any size (go-yaml's bound for small input); large files may add more."""


class _Sentinel:
    __slots__ = ()


_NO_KEY = _Sentinel()
_MERGE = _Sentinel()


class DocumentReader:
    """Reads the documents of one file. Raises yaml.YAMLError or YamlFault; `index` then names the document."""

    def __init__(self, data: bytes) -> None:
        self._get_event: GetEvent = open_events(data)
        self._scalars = Scalars()
        self._anchors: dict[str, Any] = {}
        self._sizes: dict[int, int] = {}
        self._sized: list[Any] = []  # keeps what _sizes knows by id alive, so that no id is used twice
        self._aliased = 0
        self._size = len(data)
        self.index = -1

    def __iter__(self) -> Iterator[RawDocument]:
        while True:
            event = self._get_event()
            if event is None or event.__class__ is StreamEndEvent:
                return
            if event.__class__ is DocumentStartEvent:
                self.index += 1
                if event.version not in (None, (1, 1)):
                    raise YamlFault("found incompatible YAML document", mark=event.start_mark, why=_VERSION)
                self._anchors = {}
                self._sizes, self._sized = {}, []
                yield self._document()

    def _document(self) -> RawDocument:
        event = self._get_event()
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        root: list[Any] = []
        repeats = self._fill(event, root)
        return RawDocument(root[0], line, column, self.index, repeats)

    def _fill(self, event: Any, root: list[Any]) -> bool:
        """Builds the document into `root`. One loop without calls per node: this is where reading spends its time."""
        get_event, scalars, anchors = self._get_event, self._scalars, self._anchors
        stack: list[tuple[Any, Any, bool, str | None]] = []
        current: Any = root
        is_map = repeats = False
        key: Any = _NO_KEY
        while True:
            kind = event.__class__
            if kind is ScalarEvent:
                if event.implicit[0] and event.tag is None:
                    try:
                        value: Any = scalars[event.value]
                    except ScalarError as error:
                        if not is_map or key is not _NO_KEY:
                            raise YamlFault(str(error), mark=event.start_mark, fix="put it in quotes") from error
                        value = event.value
                else:
                    value = event.value if event.tag is None else _tagged(event)
                if event.anchor is not None:
                    anchors[event.anchor] = value
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if is_map and key is _NO_KEY:
                    raise YamlFault(_COMPLEX_KEY, mark=event.start_mark, why=_WHY_TEXT_KEYS)
                stack.append((current, key, is_map, event.anchor))
                if len(stack) > MAX_DEPTH:
                    raise YamlFault(f"nested deeper than {MAX_DEPTH} levels", mark=event.start_mark, why=WHY_DEPTH)
                is_map = kind is MappingStartEvent
                current, key = {} if is_map else [], _NO_KEY
                event = get_event()
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = current
                current, key, is_map, anchor = stack.pop()
                if anchor is not None:
                    anchors[anchor] = value
            elif kind is AliasEvent:
                value = self._alias(event)
            elif kind is DocumentEndEvent:
                return repeats
            if not is_map:
                current.append(value)
            elif key is _NO_KEY:
                key = value if value.__class__ is str else _key(value, event)
                if key == "<<" and _is_merge(event):
                    key = _MERGE
            else:
                if key is _MERGE:
                    self._merge(current, value, event)
                else:
                    repeats = repeats or key in current
                    current[key] = value
                key = _NO_KEY
            event = get_event()

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise YamlFault(
                f"alias *{event.anchor} names an anchor that is not defined before it",
                mark=event.start_mark,
                why="an alias refers to an anchor further up in the same document, and never to one that contains it",
                fix="define the anchor first, or put the value in quotes if it is text",
            )
        value = self._anchors[event.anchor]
        if value.__class__ is dict or value.__class__ is list:
            self._charge(self._node_count(value), event)
        return value

    def _charge(self, nodes: int, event: Any) -> None:
        self._aliased += nodes
        # A node takes two bytes at least, so the file's size bounds what it holds itself.
        if self._aliased > max(MAX_ALIAS_NODES, 5 * self._size):
            raise YamlFault(
                f"aliases expand the document to more than {max(MAX_ALIAS_NODES, 5 * self._size)} nodes",
                mark=event.start_mark,
                why="anchors that contain aliases multiply; Kubernetes' tools refuse such input too",
                fix="write the values out",
            )

    def _node_count(self, value: Any) -> int:
        """How many nodes a container stands for when its aliases are written out; each container is visited once."""
        sizes, todo = self._sizes, [value]
        while todo:
            node = todo[-1]
            children = node.values() if node.__class__ is dict else node
            inner = [child for child in children if child.__class__ is dict or child.__class__ is list]
            missing = [child for child in inner if id(child) not in sizes]
            if missing:
                todo.extend(missing)
                continue
            self._sized.append(node)
            sizes[id(node)] = 1 + len(node) + sum(sizes[id(child)] for child in inner)
            todo.pop()
        return sizes[id(value)]

    def _merge(self, target: dict[str, Any], value: Any, event: Any) -> None:
        """Go's order: a merge overwrites keys above it and yields to keys below; in a list the first mapping wins."""
        sources = value if isinstance(value, list) else [value]
        for source in reversed(sources):
            if not isinstance(source, dict):
                raise YamlFault("<<: takes a mapping, or a list of mappings, to merge", mark=event.start_mark)
            self._charge(len(source), event)
            target.update(source)


_VERSION = "Kubernetes' tools read YAML 1.1 only"
_COMPLEX_KEY = "a mapping key is itself a mapping or a list"
_WHY_TEXT_KEYS = "keys of Kubernetes objects are text"


def _tagged(event: Any) -> Scalar:
    try:
        return resolve_tagged(event.tag, event.value)
    except ScalarError as error:
        raise YamlFault(str(error), mark=event.start_mark) from error


def _key(value: Any, event: Any) -> str:
    if isinstance(value, dict | list):
        raise YamlFault(_COMPLEX_KEY, mark=event.start_mark, why=_WHY_TEXT_KEYS)
    try:
        return key_text(value)
    except ScalarError as error:
        raise YamlFault(str(error), mark=event.start_mark, why=_WHY_TEXT_KEYS) from error


def _is_merge(event: Any) -> bool:
    return event.__class__ is ScalarEvent and bool(event.implicit[0] or event.tag == "tag:yaml.org,2002:merge")
