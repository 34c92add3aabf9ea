"""Patterns of CRDs are RE2; Python's `re` reads them after a small translation."""

from __future__ import annotations

import re
from functools import lru_cache

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


@lru_cache(maxsize=2048)
def compile_re2(pattern: str) -> re.Pattern[str] | None:
    """The pattern for an unanchored search, or None when `re` cannot express it (then nothing can be said)."""
    try:
        return re.compile(translate(pattern), re.ASCII)
    except re.error:
        return None


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
