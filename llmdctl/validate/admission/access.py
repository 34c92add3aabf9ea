"""Tolerant reading of plain data.

Absent and null are alike, as in a Go struct; a value of the wrong type counts as "not to be looked at", because the
structure layer reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]

EMPTY: Object = {}


def text(obj: Object, key: str) -> str | None:
    """The string at `key`, "" when absent, None when it is no string."""
    value = obj.get(key)
    if value is None:
        return ""
    return value if isinstance(value, str) else None


def number(obj: Object, key: str) -> int | None:
    """The integer at `key`; None when it is absent or no integer."""
    value = obj.get(key)
    return value if type(value) is int else None


def flag(obj: Object, key: str) -> bool:
    """True when `key` holds true."""
    return obj.get(key) is True


def child(obj: Object, key: str) -> Object | None:
    """The object at `key`, None when it is absent, null or of another type: for fields that are pointers in Go."""
    value = obj.get(key)
    return value if isinstance(value, dict) else None


def struct(obj: Object, key: str) -> Object | None:
    """The object at `key`, empty when absent, None when of another type: for fields that are structs in Go."""
    value = obj.get(key)
    if value is None:
        return EMPTY
    return value if isinstance(value, dict) else None


def values(obj: Object, key: str) -> list[Any]:
    """The list at `key`; empty when absent or of another type."""
    value = obj.get(key)
    return value if isinstance(value, list) else []


def objects(obj: Object, key: str) -> Iterator[tuple[int, Object]]:
    """The objects of the list at `key` with their index. A null item is an empty struct, as in Go."""
    value = obj.get(key)
    if not isinstance(value, list):
        return
    for index, item in enumerate(value):
        if isinstance(item, dict):
            yield index, item
        elif item is None:
            yield index, EMPTY


def strings(obj: Object, key: str) -> Iterator[tuple[int, str]]:
    """The strings of the list at `key` with their index. A null item is an empty string, as in Go."""
    value = obj.get(key)
    if not isinstance(value, list):
        return
    for index, item in enumerate(value):
        if isinstance(item, str):
            yield index, item
        elif item is None:
            yield index, ""


def is_missing(obj: Object, key: str) -> bool:
    """True when a list or map is absent or empty; a value of another type is not missing."""
    value = obj.get(key)
    return value is None or value == [] or value == {}


def pairs(obj: Object, key: str) -> Iterator[tuple[str, str]]:
    """The entries of the string map at `key` whose values are strings (null is "")."""
    value = obj.get(key)
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        if isinstance(name, str):
            if isinstance(item, str):
                yield name, item
            elif item is None:
                yield name, ""
