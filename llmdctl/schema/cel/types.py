"""Static types: a name, or a tuple of a name with its parts (list, map, optional, object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Type = str | tuple[Any, ...]
"""`int`, `dyn`, ("list", T), ("map", K, V), ("optional", T), ("object", ObjectType), or a variable of one letter."""


class _Free(str):
    """What nothing is known of yet, as of what an empty list holds: dyn, but no reason to refuse anything."""

    __slots__ = ()


FREE = _Free("dyn")


class ObjectType:
    """An object with known fields: the name that an expression uses -> the key in the data, and the type."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: Mapping[str, tuple[str, Type]]) -> None:
        self.name = name
        self.fields = fields


def parse_type(text: str) -> Type:
    """The type that a signature writes as `list<A>`."""
    name, bracket, rest = text.partition("<")
    if not bracket:
        return text
    inside = rest[:-1]
    if name == "map":
        key, _, value = inside.partition(",")
        return ("map", parse_type(key.strip()), parse_type(value.strip()))
    return (name, parse_type(inside.strip()))


def show_type(kind: Type) -> str:
    """A type as error messages write it."""
    if isinstance(kind, str):
        return kind
    if kind[0] == "object":
        return str(kind[1].name)
    return f"{kind[0]}({', '.join(show_type(part) for part in kind[1:])})"


def fits(wanted: Type, given: Type, bound: dict[str, Type]) -> bool:
    """True when a value of the given type may stand where the wanted one is asked for; binds type variables."""
    if given == "dyn" or wanted == "dyn":
        return True
    if isinstance(wanted, str):
        if len(wanted) == 1:
            if wanted not in bound or bound[wanted] == "dyn":
                bound[wanted] = given
                return True
            return fits(bound[wanted], given, bound) or fits(given, bound[wanted], bound)
        return bool(wanted == given) or (given == "null" and wanted in _NULLABLE)
    if isinstance(given, str):
        return given == "null" and wanted[0] in ("optional", "object")
    if wanted[0] == "object" or given[0] == "object":
        # Objects of the same shape may come from two places of one schema.
        return bool(wanted[0] == given[0])
    return bool(wanted[0] == given[0]) and all(
        fits(left, right, bound) for left, right in zip(wanted[1:], given[1:], strict=True)
    )


_NULLABLE = frozenset({"timestamp", "duration", "quantity", "ip", "cidr", "url", "semver", "format"})


def is_free(kind: Type) -> bool:
    """True when a part of the type isn't known yet."""
    return isinstance(kind, _Free) or (
        not isinstance(kind, str) and kind[0] != "object" and any(map(is_free, kind[1:]))
    )


def filled(kind: Type, bound: Mapping[str, Type]) -> Type:
    """The type with its variables replaced."""
    if isinstance(kind, str):
        return bound.get(kind, FREE) if len(kind) == 1 else kind
    if kind[0] == "object":
        return kind
    return (kind[0], *(filled(part, bound) for part in kind[1:]))


def joined(left: Type, right: Type) -> Type:
    """The type of a value that is one or the other."""
    if isinstance(left, _Free) or isinstance(right, _Free):
        return right if isinstance(left, _Free) else left
    if left == right or isinstance(left, str) or isinstance(right, str) or left[0] != right[0] or left[0] == "object":
        return left if left == right or right == "null" else right if left == "null" else "dyn"
    return (left[0], *(joined(one, other) for one, other in zip(left[1:], right[1:], strict=True)))


def alike(left: Type, right: Type) -> bool:
    """True when two values may stand in one list literal. What an empty list holds may be anything."""
    if isinstance(left, _Free) or isinstance(right, _Free):
        return True
    if isinstance(left, str) or isinstance(right, str) or left[0] != right[0]:
        return bool(left == right)
    if left[0] == "object":
        return True
    return all(alike(one, other) for one, other in zip(left[1:], right[1:], strict=True))
