"""Patterns of CRDs and of CEL are RE2, which takes time in proportion to the text.

Python's `re` is faster on a short text, after a small translation, but can take for ever: it gets only those patterns
that can't make it. The rest is RE2's own.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Python's parse of a pattern tells whether it may take for ever. `sre_parse` is deprecated and no other module has it.
from re import _constants  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

_FLAGS = re.compile(r"\(\?([imsU]+)\)")
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
    "space": r"\t\n\v\f\r ",
    "punct": r"!-/:-@\[-`{-~",
}
_POSIX_CLASS = re.compile(r"\[:(\w+):\]")


MAXREPEAT = int(_constants.MAXREPEAT)
SHORT = 512
"""Up to so many characters `re` may take a text that harmless patterns walk through more than once."""
_MANY = 8
"""Repetitions up to this count as bounded."""
_MOST = 1000
"""RE2 refuses to repeat more often, unless without end."""


class Pattern:
    """A compiled pattern, for an unanchored search."""

    __slots__ = ("_compiled", "_python", "_text")

    def __init__(self, text: str, python: re.Pattern[str] | None, compiled: Any) -> None:
        self._text = text
        self._python = python
        self._compiled = compiled

    def _for(self, text: str) -> Any:
        if self._python is not None and len(text) <= SHORT:
            return self._python
        if self._compiled is None:
            self._compiled = _re2(self._text)
        return self._compiled

    def matches(self, text: str) -> bool:
        """True when the pattern is found anywhere."""
        return self._for(text).search(text) is not None

    def search(self, text: str) -> str | None:
        """The first match, None when there is none."""
        found = self._for(text).search(text)
        return None if found is None else str(found.group(0))

    def findall(self, text: str) -> list[str]:
        """All matches, from left to right, that don't overlap; as in Go no empty one that touches the one before."""
        found, end = [], -1
        for match in self._for(text).finditer(text):
            if match.end() > match.start() or match.start() != end:
                found.append(str(match.group(0)))
            end = match.end()
        return found


@lru_cache(maxsize=2048)
def compile_re2(pattern: str) -> Pattern | None:
    """The pattern, or None when RE2 refuses it."""
    harmless = _python(pattern)
    if harmless is not None:
        return Pattern(pattern, harmless, None)
    compiled = _re2(pattern)
    return None if compiled is None else Pattern(pattern, None, compiled)


def _re2(pattern: str) -> Any:
    # Imported here: most runs meet only patterns that `re` may take.
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def _python(pattern: str) -> re.Pattern[str] | None:
    """The pattern for `re`, or None where that might run for long, or doesn't read it as RE2 does."""
    if _ONLY_PYTHON.search(pattern):
        return None
    try:
        compiled = re.compile(translate(pattern), re.ASCII)
        tree = sre_parse.parse(translate(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None
    return compiled if _is_harmless(tree) else None


_ONLY_PYTHON = re.compile(r"\\(?:[1-9AGKNZpPQECXk]|x\{)|\(\?(?:[=!(>#P]|<[=!])|[*+?}]\+|\[\[:\^|\(\?[imsU]*-")
"""What only one of the two has, or reads otherwise: look-around, back-references, possessive repetition, classes."""


def _is_harmless(tree: Any) -> bool:
    """True when `re` needs about the square of the text's length at most.

    Nothing that repeats may hold a choice or another repetition, and at most two parts may repeat many times; a search
    that may start anywhere counts as one.
    """
    starts = next(iter(tree), None)
    many = 0 if starts is not None and str(starts[1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING") else 1

    def walk(part: Any, *, repeated: bool) -> bool:
        nonlocal many
        for operation, argument in part:
            name = str(operation)
            if name in ("MAX_REPEAT", "MIN_REPEAT"):
                most = argument[1]
                many += most > _MANY
                if repeated or many > 2 or _MOST < most < MAXREPEAT:
                    return False
                if not walk(argument[2], repeated=most > 1):
                    return False
            elif name == "BRANCH":
                if repeated or not all(walk(branch, repeated=repeated) for branch in argument[1]):
                    return False
            elif name == "SUBPATTERN" and not walk(argument[3], repeated=repeated):
                return False
        return True

    return walk(tree, repeated=False)


def translate(pattern: str) -> str:
    """Rewrites RE2's syntax: `$` and `\\z` are the end of the text, `(?i)` holds to the end of its group."""
    out: list[str] = []
    opened: list[list[str]] = [[]]  # For each open group, the flags that hold in it from here on.
    index = 0
    while index < len(pattern):
        char = pattern[index]
        flags = _FLAGS.match(pattern, index)
        if char == "\\":
            pair = pattern[index : index + 2]
            out.append(r"\Z" if pair == r"\z" else pair)
            index += 2
            continue
        if char == "[":
            end = _class_end(pattern, index)
            out.append(_class(pattern[index:end]))
            index = end
            continue
        if flags:
            wanted = flags[1].replace("U", "")
            opened[-1].append(wanted)
            out.append(f"(?{wanted}:" if wanted else "(?:")
            index = flags.end()
            continue
        if char == "(":
            opened.append([])
            named = pattern.startswith("(?P<", index)
            out.append("(?P<" if named else "(")
            index += 4 if named else 1
            continue
        out.append(_step(char, opened))
        index += 1
    out.append(")" * len(opened[0]))
    return "".join(out)


def _step(char: str, opened: list[list[str]]) -> str:
    if char == ")":
        closing = opened.pop() if len(opened) > 1 else []
        return ")" * (len(closing) + 1)
    if char == "|":
        # An alternative ends the flagged part, and the flags hold in the next alternative too.
        flags = opened[-1]
        return ")" * len(flags) + "|" + "".join(f"(?{flag}:" if flag else "(?:" for flag in flags)
    return r"\Z" if char == "$" and not any("m" in flag for group in opened for flag in group) else char


_CLASS_PARTS = re.compile(r"\\.|\[:(\w+):\]|[\[&|~]", re.DOTALL)


def _class(text: str) -> str:
    """A bracket expression; what Python reserves for set operations is escaped."""

    def rewrite(found: re.Match[str]) -> str:
        if found[1]:
            return _POSIX.get(found[1], "")
        return found[0] if found[0].startswith("\\") else "\\" + found[0]

    return "[" + _CLASS_PARTS.sub(rewrite, text[1:])


def _class_end(pattern: str, start: int) -> int:
    index = start + 1
    if pattern.startswith("^", index):
        index += 1
    if pattern.startswith("]", index):
        index += 1
    while index < len(pattern):
        if pattern[index] == "\\":
            index += 2
            continue
        posix = _POSIX_CLASS.match(pattern, index)
        if posix:
            index = posix.end()
            continue
        if pattern[index] == "]":
            return index + 1
        index += 1
    return len(pattern)
