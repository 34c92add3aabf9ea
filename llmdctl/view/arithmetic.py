"""Whole-number arithmetic of shell words, `$((LWS_GROUP_SIZE * 8))`, with the variables that are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_TOKEN = re.compile(r"\s*(?:(\d{1,9})|\$?\{?([A-Za-z_][A-Za-z0-9_]*)(?::-\d{1,9})?\}?|([-+*/%()]))")
_DEEPEST = 20


def evaluate(text: str, values: Mapping[str, int]) -> int | None:
    """The number that a word stands for: digits, a variable, or `$(( ))`. None for anything else."""
    text = text.strip()
    if text.startswith("$((") and text.endswith("))"):
        text = text[3:-2]
    elif len(text) > 64 or not re.fullmatch(r"\d{1,9}|\$\{?[A-Za-z_][A-Za-z0-9_]*\}?", text):
        return None
    tokens = _tokens(text, values)
    if tokens is None:
        return None
    result, rest = _sum(tokens, 0, 0)
    return result if rest == len(tokens) else None


def _tokens(text: str, values: Mapping[str, int]) -> list[int | str] | None:
    out: list[int | str] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or len(out) > 64:
            return None
        if match[1]:
            out.append(int(match[1]))
        elif match[2]:
            if match[2] not in values:
                return None
            out.append(values[match[2]])
        else:
            out.append(match[3])
        position = match.end()
    return out


def _sum(tokens: list[int | str], at: int, depth: int) -> tuple[int | None, int]:
    return _chain(tokens, at, depth, ("+", "-"), _product)


def _product(tokens: list[int | str], at: int, depth: int) -> tuple[int | None, int]:
    return _chain(tokens, at, depth, ("*", "/", "%"), _atom)


_Reader = Callable[[list["int | str"], int, int], "tuple[int | None, int]"]


def _chain(
    tokens: list[int | str], at: int, depth: int, signs: tuple[str, ...], inner: _Reader
) -> tuple[int | None, int]:
    left, at = inner(tokens, at, depth)
    while left is not None and at < len(tokens) and tokens[at] in signs:
        sign = tokens[at]
        right, at = inner(tokens, at + 1, depth)
        if right is None or (sign in ("/", "%") and right <= 0):
            return None, at
        left = (
            {"+": left + right, "-": left - right, "*": left * right}.get(str(sign))
            if sign in ("+", "-", "*")
            else (left // right if sign == "/" else left % right)
        )
    return left, at


def _atom(tokens: list[int | str], at: int, depth: int) -> tuple[int | None, int]:
    if at >= len(tokens) or depth > _DEEPEST:
        return None, at
    item = tokens[at]
    if isinstance(item, int):
        return item, at + 1
    if item != "(":
        return None, at
    value, at = _sum(tokens, at + 1, depth + 1)
    return (value, at + 1) if at < len(tokens) and tokens[at] == ")" else (None, at)
