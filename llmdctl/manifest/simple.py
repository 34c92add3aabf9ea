"""The plain block style that nearly all manifests are written in, read line by line; anything else is left to libyaml.

PyYAML makes an event object with two marks for each scalar, which is most of the time that reading takes. The subset
here needs none: block mappings and lists, one-line plain or quoted scalars without escapes, literal blocks, `[]`, `{}`
and comments. Whatever falls outside makes `read_simple` give up on the whole file, so that every error message,
anchor, flow collection and oddity has one reader only. Tests hold the two to the same result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from llmdctl.manifest.raw import RawDocument, Scalars
from llmdctl.manifest.scalars import ScalarError

_MAX_DEPTH = 100
"""Nesting levels read here; deeper input goes to the full reader, which knows what to say of it."""

_CACHED_LENGTH = 160
_CACHED_LINES = 50_000

# Possessive quantifiers, so that a line which does not fit is refused in one pass.
_PLAIN = r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-(?=[^\s]))(?:[^ \t:#]++| ++(?=[^ \t#])|:(?=[^ \t])|(?<=[^ ])#)*+"
_LINE = re.compile(
    r"(?!---)( *+)(- +)?(?:([A-Za-z0-9_./][A-Za-z0-9_./-]{0,250}+|\"[^\"\\]{1,250}+\"):(?= |\Z))?"
    r"(?: *+(?:(" + _PLAIN + r")|\"([^\"\\]*+)\"|'([^']*+)'|(\|-?)|(\[\]|\{\})))?"
    r"(?: +#.*+| *+)"
)
_NOTHING = re.compile(r" *+(?:#.*+)?")
_SEPARATOR = re.compile(r"--- *+")
_LITERAL_MARGIN = re.compile(r" +(?=[^ \t])")

_ASCII_TEXT = bytes([9, 10, *range(32, 127)])
_OUTSIDE = "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"

_VALUE, _WAITING, _EMPTY_LIST, _EMPTY_MAP, _LITERAL, _BLANK, _SEPARATES = range(7)


class _GiveUp(Exception):
    """The file leaves the subset."""


class _Line(NamedTuple):
    kind: int
    column: int = 0
    dash: int = 0
    key: str | None = None
    value: Any = None


class Lines(dict[str, _Line]):
    """What each line says by itself; manifests repeat most of theirs."""

    def __init__(self, scalars: Scalars) -> None:
        super().__init__()
        self._scalars = scalars

    def __missing__(self, text: str) -> _Line:
        line = self._parse(text)
        if len(text) <= _CACHED_LENGTH and len(self) < _CACHED_LINES:
            self[text] = line
        return line

    def _parse(self, text: str) -> _Line:
        if _NOTHING.fullmatch(text):
            return _Line(_BLANK)
        if _SEPARATOR.fullmatch(text):
            return _Line(_SEPARATES)
        match = _LINE.fullmatch(text)
        if match is None:
            raise _GiveUp
        spaces, dash, key, plain, double, single, literal, empty = match.groups()
        if key is None and dash is None:
            raise _GiveUp
        if key is not None:
            key = key[1:-1] if key[0] == '"' else self._plain(key)
            if key.__class__ is not str:
                raise _GiveUp
        kind, value = _VALUE, None
        if plain is not None:
            value = self._plain(plain)
        elif double is not None or single is not None:
            value = double if single is None else single
        elif literal is not None:
            kind, value = _LITERAL, literal
        elif empty is not None:
            kind = _EMPTY_LIST if empty == "[]" else _EMPTY_MAP
        elif key is not None:
            kind = _WAITING
        else:
            raise _GiveUp
        return _Line(kind, len(spaces), len(dash or ""), key, value)

    def _plain(self, text: str) -> Any:
        try:
            return self._scalars[text]
        except ScalarError as error:
            raise _GiveUp from error


def read_simple(data: bytes, lines: Lines) -> list[RawDocument] | None:
    """The documents of UTF-8 text, or None when any of it falls outside the subset. `lines` may serve many files."""
    text = data.decode()
    if data.translate(None, _ASCII_TEXT) if text.isascii() else re.search(_OUTSIDE, text):
        return None
    try:
        return _Reader(text.split("\n"), lines).documents()
    except _GiveUp:
        return None


@dataclass(slots=True)
class _Reader:
    text: list[str]
    lines: Lines
    number: int = 0

    def documents(self) -> list[RawDocument]:
        """All documents of the text."""
        documents: list[RawDocument] = []
        separated = False
        while self.number < len(self.text):
            kind = self.lines[self.text[self.number]].kind
            if kind == _BLANK:
                self.number += 1
            elif kind == _SEPARATES:
                # Two separators in a row make an empty document: rare, and counted by the full reader.
                if separated:
                    raise _GiveUp
                separated = True
                self.number += 1
            else:
                documents.append(self._document(len(documents)))
                separated = False
        if separated:
            raise _GiveUp
        return documents

    def _document(self, index: int) -> RawDocument:
        """One mapping, up to a separator or the end, in one loop without calls for the common line.

        `node` is the innermost open collection, `indent` its column, `waiting` its key that has no value yet.
        """
        text, lines, end, number = self.text, self.lines, len(self.text), self.number
        kind, first, dash, key, value = lines[text[number]]
        if dash:
            raise _GiveUp
        document = RawDocument({}, number + 1, first + 1, index)
        node: Any = document.value
        indent, is_map, repeats = first, True, False
        waiting: str | None = None
        stack: list[tuple[Any, int, bool]] = []
        while number < end:
            kind, column, dash, key, value = lines[text[number]]
            number += 1
            if column == indent and kind == _VALUE and waiting is None and is_map and not dash:
                # The common line: another key of the same mapping.
                if key in node:
                    repeats = True
                node[key] = value
                continue
            if kind >= _BLANK:
                if kind == _BLANK:
                    continue
                number -= 1
                break
            if waiting is not None and (column > indent or (dash and column == indent)):
                stack.append((node, indent, is_map))
                is_map = not dash
                child: Any = {} if is_map else []
                node[waiting] = child
                node, indent, waiting = child, column, None
            else:
                waiting = None
                # A list may stand at the column of the key that holds it, so the kind of the line counts too.
                while indent > column or (indent == column and is_map is (dash > 0)):
                    if not stack:
                        raise _GiveUp
                    node, indent, is_map = stack.pop()
                if indent != column:
                    raise _GiveUp
            if dash and key is not None:
                stack.append((node, indent, is_map))
                item: dict[str, Any] = {}
                node.append(item)
                node, indent, is_map = item, column + dash, True
            if kind > _WAITING:
                if kind == _LITERAL:
                    value, number = self._literal(number, value, indent)
                else:
                    value = [] if kind == _EMPTY_LIST else {}
            if key is None:
                node.append(value)
                continue
            if key in node:
                repeats = True
            node[key] = value
            if kind == _WAITING:
                waiting = key
                if len(stack) > _MAX_DEPTH:
                    raise _GiveUp
        self.number = number
        return RawDocument(document.value, document.line, document.column, index, repeats) if repeats else document

    def _literal(self, number: int, header: str, indent: int) -> tuple[str, int]:
        """A literal block from line `number` on, below a collection at `indent`: its text, and the line after it."""
        text, end = self.text, len(self.text)
        match = _LITERAL_MARGIN.match(text[number]) if number < end else None
        if match is None or match.end() <= indent:
            raise _GiveUp
        margin, width = match[0], match.end()
        start = number
        while number < end and (text[number].startswith(margin) or not text[number]):
            number += 1
        block = "\n".join([line[width:] for line in text[start:number]])
        body = block.rstrip("\n")
        ended = number < end or body != block
        return (body + "\n" if ended and header == "|" else body), number
