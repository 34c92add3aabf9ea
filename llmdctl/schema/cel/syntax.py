"""The tree of an expression. Macros stay as they are written; `position` counts characters from 0."""

from __future__ import annotations

from typing import Any, NamedTuple


class Literal(NamedTuple):
    """A constant; uint is told from int by `kind`."""

    kind: str
    value: Any
    position: int


class Name(NamedTuple):
    """A variable."""

    name: str
    position: int


class Select(NamedTuple):
    """`operand.field`, or `operand.?field`."""

    operand: Node
    field: str
    optional: bool
    position: int


class Index(NamedTuple):
    """`operand[key]`, or `operand[?key]`."""

    operand: Node
    key: Node
    optional: bool
    position: int


class Call(NamedTuple):
    """A function or operator; `target` is what stands before the dot of a member call."""

    name: str
    target: Node | None
    arguments: tuple[Node, ...]
    position: int


class All(NamedTuple):
    """`a && b && ...` or `a || b || ...`."""

    operator: str
    terms: tuple[Node, ...]
    position: int


class Condition(NamedTuple):
    """`test ? left : right`."""

    test: Node
    left: Node
    right: Node
    position: int


class ListOf(NamedTuple):
    """`[a, ?b]`; `optional` has the indices of the items with a question mark."""

    items: tuple[Node, ...]
    optional: frozenset[int]
    position: int


class MapOf(NamedTuple):
    """`{k: v, ?k: v}`."""

    entries: tuple[tuple[Node, Node, bool], ...]
    position: int


class Has(NamedTuple):
    """`has(operand.field)`."""

    operand: Node
    field: str
    position: int


class Loop(NamedTuple):
    """A macro over a list or map: `operation` is all, exists, exists_one, map, filter, transformList, transformMap or
    transformMapEntry; `second` is "" with one variable.
    """

    operation: str
    over: Node
    first: str
    second: str
    test: Node | None
    result: Node | None
    position: int


class Bind(NamedTuple):
    """`cel.bind(name, value, body)`."""

    name: str
    value: Node
    body: Node
    position: int


class OptionalMap(NamedTuple):
    """`optional.optMap(name, body)`; with `flat` the body is optional itself."""

    operand: Node
    name: str
    body: Node
    flat: bool
    position: int


Node = Literal | Name | Select | Index | Call | All | Condition | ListOf | MapOf | Has | Loop | Bind | OptionalMap
