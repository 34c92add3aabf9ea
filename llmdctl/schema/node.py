"""Compiled schema nodes: what a value must be, dispatched on its Python type, children compiled on first visit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmdctl.findings import MapKey
from llmdctl.schema.fault import Fault, required, should, too_long, too_many, unknown, wrong_type

Faults = list[Fault] | None
Check = Callable[[Any], Faults]
NONE = type(None)


def fine(_: Any) -> Faults:
    """The check of a type without further rules."""
    return None


class Node:
    """One place of a schema.

    `by_type` maps the Python types that are allowed here to what else holds for them, `expected` is the server's name
    for that set, `extras` are checks that look at a value of any allowed type (combinations of schemas, and before them
    an enumeration when `enumerated`). `fast` is a type whose values need no call at all. `form` is the object or list
    part of the node, for defaulting. `named` is the schema's format where the server names that instead of the type.
    """

    __slots__ = ("by_type", "enumerated", "expected", "extras", "fast", "form", "named", "nullable")

    def __init__(
        self,
        by_type: Mapping[type, Check],
        expected: str,
        *,
        extras: tuple[Check, ...] = (),
        form: ObjectForm | MapForm | ListForm | None = None,
        nullable: bool = False,
        named: str = "",
        enumerated: bool = False,
    ) -> None:
        self.by_type = by_type
        self.expected = expected
        self.extras = extras
        self.form = form
        self.nullable = nullable
        self.named = named
        self.enumerated = enumerated
        free = [kind for kind, check in by_type.items() if check is fine and kind is not NONE]
        self.fast = free[0] if len(free) == 1 and not extras else None

    def check(self, value: Any) -> Faults:
        """The faults of a value, or None. Their paths start at the value."""
        rule = self.by_type.get(type(value))
        if rule is None:
            faults = [wrong_type(value, self.expected, self.named)]
        elif not self.extras:
            return rule(value)
        else:
            faults = rule(value) or []
        # Combinations of schemas don't look at null; enumerations do, and never hold it.
        for extra in self.extras if value is not None else self.extras[: self.enumerated]:
            faults.extend(extra(value) or ())
        return faults


class ObjectForm:
    """An object with declared fields. `compile_node` turns a raw schema into a Node when a field is first seen."""

    __slots__ = ("children", "compile_node", "defaults", "lenient", "open", "required", "schemas")

    def __init__(
        self,
        schemas: Mapping[str, Any],
        compile_node: Callable[[Any], Node],
        *,
        required: tuple[str, ...] = (),
        lenient: bool = False,
        is_open: bool = False,
        defaults: Mapping[str, Any] | None = None,
        children: Mapping[str, Node] | None = None,
    ) -> None:
        self.schemas = schemas
        self.compile_node = compile_node
        self.required = required
        self.lenient = lenient
        self.open = is_open
        self.defaults = defaults or {}
        self.children: dict[str, Node] = dict(children or {})

    def child(self, key: str) -> Node | None:
        """The node of a field, compiled on first use; None for a field that is not declared."""
        node = self.children.get(key)
        if node is None and key in self.schemas:
            node = self.children[key] = self.compile_node(self.schemas[key])
        return node

    def check(self, value: dict[str, Any]) -> Faults:
        """Unknown and missing fields, and the faults of the fields."""
        faults: Faults = None
        children = self.children
        for key, item in value.items():
            node = children.get(key) or self.child(key)
            if node is None:
                if not self.open:
                    faults = faults or []
                    faults.append(unknown(key, [*self.schemas, *children]))
                continue
            if type(item) is node.fast:
                continue
            found = node.check(item)
            if found:
                faults = _lift(faults, found, key)
        for key in self.required:
            if key not in value or (self.lenient and value[key] is None):
                faults = faults or []
                faults.append(required(key))
        return faults


class MapForm:
    """An object whose keys are free; `key_type` is how such a key is written in a path."""

    __slots__ = ("key_type", "values")

    def __init__(self, values: Node, key_type: type[str] = MapKey) -> None:
        self.values = values
        self.key_type = key_type

    def check(self, value: dict[str, Any]) -> Faults:
        """The faults of the values."""
        faults: Faults = None
        node = self.values
        fast = node.fast
        for key, item in value.items():
            if type(item) is fast:
                continue
            found = node.check(item)
            if found:
                faults = _lift(faults, found, self.key_type(key))
        return faults


class ListForm:
    """A list; `whole` looks at the list itself (bounds, duplicates)."""

    __slots__ = ("items", "whole")

    def __init__(self, items: Node | None, whole: tuple[Check, ...] = ()) -> None:
        self.items = items
        self.whole = whole

    def check(self, value: list[Any]) -> Faults:
        """The faults of the items and of the list."""
        faults: Faults = None
        node = self.items
        if node is not None:
            fast = node.fast
            for index, item in enumerate(value):
                if type(item) is fast:
                    continue
                found = node.check(item)
                if found:
                    faults = _lift(faults, found, index)
        for whole in self.whole:
            found = whole(value)
            if found:
                faults = [*(faults or ()), *found]
        return faults


def _lift(faults: Faults, found: list[Fault], step: str | int) -> list[Fault]:
    for fault in found:
        fault.steps.append(step)
    return found if faults is None else faults + found


def chain(checks: list[Check]) -> Check:
    """One check out of several for the same type."""
    if not checks:
        return fine
    if len(checks) == 1:
        return checks[0]

    def run(value: Any) -> Faults:
        faults = [fault for check in checks for fault in check(value) or ()]
        return faults or None

    return run


def least_check(limit: int, what: str) -> Check:
    """A lower bound on the number of items, fields or characters (code points, as the server counts)."""
    text = f"{'be' if what == 'chars long' else 'have'} at least {limit} {what}"

    def check(value: Any) -> Faults:
        size = len(value)
        return [should("length", value if isinstance(value, str) else size, text)] if size < limit else None

    return check


def most_check(limit: int, what: str) -> Check:
    """An upper bound on the number of items, fields or characters (code points, as the server counts)."""

    def check(value: Any) -> Faults:
        size = len(value)
        if size <= limit:
            return None
        return [too_long(size, limit) if isinstance(value, str) else too_many(size, limit, what)]

    return check
