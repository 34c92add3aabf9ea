"""What a YAML parser complains about, in plain words and with the place, as a UserError."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.reader import Reader, ReaderError

from llmdctl.findings import SourceRef, UserError

WHY_DEPTH = "no Kubernetes object is nested like that; the input is damaged or hostile"

_PLACEHOLDER = re.compile(r"\{\{-?\s*[^{}\s]|^\s*\{\{")

# libyaml's phrases (and those of PyYAML's own scanner), each with what usually causes it and what to do.
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        "found a tab character",
        "a tab character is used for indentation; YAML allows only spaces there",
        "replace the tab with spaces",
    ),
    (
        "could not find expected ':'",
        "this line is neither `key: value` nor a list item",
        "write a colon and a space after the key, or indent the line if it continues the text above",
    ),
    (
        "mapping values are not allowed",
        "there is a second `: ` in the line, or the line is indented deeper than the key it belongs beside",
        'put the value in quotes ("..."), or align the line with its neighbours',
    ),
    (
        "did not find expected key",
        "the indentation does not match the lines above, or a quote or bracket above is not closed",
        "align the line with the keys of its mapping",
    ),
    (
        "did not find expected '-'",
        "the line stands among the items of a list but does not start with `- `",
        "start it with `- `, or align it with the key that it belongs to",
    ),
    (
        "block sequence entries are not allowed",
        "a list item stands where a value is expected on the same line",
        "begin the list on a line of its own",
    ),
    ("unexpected end of stream", "a quoted text that begins here is never closed", "close the quote"),
    ("unexpected document", "a quoted text that begins here is never closed", "close the quote"),
    ("did not find expected ',' or", "a [ or { is not closed, or a comma is missing", "close the bracket"),
    ("unknown escape", "a backslash in double quotes starts an escape", "double the backslash, or use single quotes"),
    (
        "did not find expected alphabetic",
        "a value that begins with * or & is a YAML alias or anchor",
        "put the value in quotes if it is text",
    ),
    ("incompatible YAML document", "Kubernetes' tools read YAML 1.1 only", "remove the %YAML line"),
)

# For these the fault lies where the text began, not where the parser gave up.
_AT_THE_BEGINNING = frozenset(
    (
        "could not find expected ':'",
        "unexpected end of stream",
        "unexpected document",
        "did not find expected ',' or",
    )
)


class YamlFault(Exception):
    """Input that can't be read; `mark` is the parser's mark (counted from 0), None when the place is unknown."""

    def __init__(self, what: str, *, mark: Any = None, why: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.mark = mark
        self.why = why
        self.fix = fix


def as_user_error(error: YamlFault | yaml.YAMLError, data: bytes, file: str, document: int) -> UserError:
    """The UserError for a failed read of `data`; says so when the text looks like a template nobody rendered."""
    if isinstance(error, ReaderError):
        return _unreadable_character(data, file, document)
    fault = error if isinstance(error, YamlFault) else _explain(error, data)
    lines = _lines_near(error, data)
    mark = fault.mark
    source = SourceRef(file, mark.line + 1, mark.column + 1, document) if mark is not None else SourceRef(file)
    if any(_PLACEHOLDER.search(line) for line in lines):
        return UserError(
            "looks like a template that was not rendered: it holds {{ }} placeholders",
            source=source,
            why=f"the placeholder makes it invalid YAML ({fault.what})",
            fix="render it first, for example with `helm template`, and pass the result",
        )
    return UserError(fault.what, source=source, why=fault.why, fix=fault.fix)


def _explain(error: yaml.YAMLError, data: bytes) -> YamlFault:
    problem = str(getattr(error, "problem", None) or error)
    mark = getattr(error, "problem_mark", None)
    what = "not valid YAML"
    if "maximum nesting depth" in problem:  # libyaml's own limit, 1,000, which its look-ahead reaches before ours
        return YamlFault("nested deeper than 1000 levels", mark=mark, why=WHY_DEPTH)
    if "cannot start any token" in problem:
        return _bad_start(problem, data, mark)
    for phrase, why, fix in _CAUSES:
        if phrase in problem:
            begun = getattr(error, "context_mark", None) if phrase in _AT_THE_BEGINNING else None
            return YamlFault(what, mark=begun or mark, why=why, fix=fix)
    context = getattr(error, "context", None)
    return YamlFault(what, mark=mark, why=f"{context}: {problem}" if context else problem)


def _bad_start(problem: str, data: bytes, mark: Any) -> YamlFault:
    what = "not valid YAML"
    character = _text_at(data, mark)[:1]
    if character == "\t" or "\\t" in problem:
        why = "a tab character is used for indentation; YAML allows only spaces there"
        return YamlFault(what, mark=mark, why=why, fix="replace the tab with spaces")
    why = f"a value can't begin with {character!r}" if character else problem
    return YamlFault(what, mark=mark, why=why, fix="put the value in quotes")


def _unreadable_character(data: bytes, file: str, document: int) -> UserError:
    text = data.decode("utf-8", "replace")
    found = Reader.NON_PRINTABLE.search(text)
    if found is None:
        return UserError("holds a character that YAML does not allow", source=SourceRef(file))
    index = found.start()
    line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
    code = ord(text[index])
    return UserError(
        f"holds the character U+{code:04X}, which YAML does not allow",
        source=SourceRef(file, line, column, document),
        why="control characters may stand in YAML only as escapes in double quotes",
        fix=f'remove it, or write "\\u{code:04x}" in double quotes',
    )


def _text_at(data: bytes, mark: Any) -> str:
    if mark is None:
        return ""
    lines = data.split(b"\n", mark.line + 1)
    line = lines[mark.line] if mark.line < len(lines) else b""
    return line.decode("utf-8", "replace")[mark.column :]


def _lines_near(error: Exception, data: bytes) -> list[str]:
    marks = [getattr(error, name, None) for name in ("mark", "problem_mark", "context_mark")]
    numbers = {mark.line for mark in marks if mark is not None}
    numbers |= {number - 1 for number in numbers if number}
    lines = data.split(b"\n", max(numbers, default=0) + 1)
    return [lines[number].decode("utf-8", "replace") for number in sorted(numbers) if number < len(lines)]
