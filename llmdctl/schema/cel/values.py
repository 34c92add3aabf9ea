"""Values while an expression runs. Plain data stands for itself; the rest has a class here.

int is a 64-bit int, `Uint` an unsigned one; bool, float, str, bytes, None, list and dict are Python's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.lexer import INT_MAX, INT_MIN, UINT_MAX

SECOND = 10**9


class Uint(int):
    """An unsigned 64-bit integer."""


class Timestamp(NamedTuple):
    """A point in time, in nanoseconds since 1970 (UTC)."""

    nanoseconds: int


class Duration(NamedTuple):
    """A span of time in nanoseconds."""

    nanoseconds: int


class TypeValue(NamedTuple):
    """What `type(x)` gives."""

    name: str


class Optional(NamedTuple):
    """A value that may be absent."""

    present: bool
    value: Any = None


NONE = Optional(False)

_TAGS: dict[type, str] = {
    type(None): "null", bool: "bool", int: "int", Uint: "uint", float: "double", str: "string", bytes: "bytes",
    list: "list", tuple: "list", dict: "map", Timestamp: "timestamp", Duration: "duration", TypeValue: "type",
    Optional: "optional",
}  # fmt: skip


def register_type(cls: type, tag: str) -> None:
    """Makes a library's class known under a name."""
    _TAGS[cls] = tag


def tag_of(value: Any) -> str:
    """The name of a value's type, without what it contains."""
    tag = _TAGS.get(type(value))
    if tag is not None:
        return tag
    if isinstance(value, Mapping):
        return "map"
    raise EvaluationError(f"no such overload: a value of type {type(value).__name__}")


def checked_int(value: int) -> int:
    """The value, if it fits into 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def checked_uint(value: int) -> Uint:
    """The value, if it fits into 64 unsigned bits."""
    if 0 <= value <= UINT_MAX:
        return Uint(value)
    raise EvaluationError("unsigned integer overflow")


def equal(left: Any, right: Any) -> bool:
    """CEL's equality: numbers by value whatever their type, everything else only with its own type."""
    left_type, right_type = type(left), type(right)
    if left_type is right_type and left_type in _ATOMS:
        return bool(left == right)
    if left_type in _NUMBERS and right_type in _NUMBERS:
        return bool(left == right)
    left_tag, right_tag = tag_of(left), tag_of(right)
    if left_tag != right_tag:
        return False
    if left_tag == "list":
        return len(left) == len(right) and all(map(equal, left, right))
    if left_tag == "map":
        if len(left) != len(right):
            return False
        return all(has_key(right, key) and equal(value, right[key]) for key, value in left.items())
    if left_tag == "optional":
        return left.present == right.present and (not left.present or equal(left.value, right.value))
    return bool(left == right)


_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})
_NUMBERS = frozenset({int, Uint, float})


ORDERED = ("int", "uint", "double", "string", "bytes", "bool", "timestamp", "duration")
"""The types whose values have an order."""


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 as the order of two values is. Raises EvaluationError when they have none."""
    left_tag, right_tag = tag_of(left), tag_of(right)
    numbers = ("int", "uint", "double")
    if left_tag not in ORDERED or (left_tag != right_tag and not (left_tag in numbers and right_tag in numbers)):
        raise EvaluationError("no such overload: the items of the list have no order")
    return int(left > right) - int(left < right)


def has_key(mapping: Mapping[Any, Any], key: Any) -> bool:
    """True when a map has the key; true and 1 are different keys, 1 and 1.0 the same."""
    tag = tag_of(key)
    if tag in ("list", "map", "optional"):
        raise EvaluationError("unsupported key type")
    if tag == "double" and not (math.isfinite(key) and key == int(key)):
        return False
    if key not in mapping:
        return False
    if tag in ("bool", "int", "uint", "double"):
        return any(equal(key, other) for other in mapping if other == key)
    return True


def contains(container: Any, item: Any) -> bool:
    """`item in container`."""
    tag = tag_of(container)
    if tag == "map":
        return tag_of(item) not in ("list", "map", "optional") and has_key(container, item)
    if tag == "list":
        return any(equal(item, other) for other in container)
    raise EvaluationError("no such overload: in")


def index(container: Any, key: Any) -> Any:
    """`container[key]`."""
    tag = tag_of(container)
    if tag == "map":
        if has_key(container, key):
            return container[key]
        raise EvaluationError(f"no such key: {key}")
    if tag == "list":
        number = tag_of(key)
        if number == "double" and math.isfinite(key) and key == int(key):
            key, number = int(key), "int"
        if number not in ("int", "uint"):
            raise EvaluationError("unsupported index type in list")
        if 0 <= key < len(container):
            return container[key]
        raise EvaluationError(f"index out of bounds: {key}")
    raise EvaluationError("no such overload: index")


def size_of(value: Any) -> int:
    """How much work it is to walk through a value: the API server's measure of cost."""
    return len(value) if isinstance(value, (str, bytes, list, tuple, Mapping)) else 1
