"""Checks that look at a value of any type: enumerations, combinations of schemas, duplicates in lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llmdctl.schema.fault import Fault, duplicate, junctor, show, unsupported
from llmdctl.schema.node import Check, Faults, Node

_MISSING = "\0missing"


def identity(value: Any) -> Any:
    """A key that is equal for values that are equal as JSON (True is not 1, 1 is 1.0)."""
    kind = type(value)
    if kind is str or kind is int:
        return value
    if kind is float and value.is_integer():
        return int(value)
    return (kind, value if kind is bool else json.dumps(value, sort_keys=True))


def enum_check(allowed: Sequence[Any]) -> Check:
    """Membership in an enumeration. Null is never a member: the server passes over it there."""
    keys = {identity(item) for item in allowed if item is not None}

    def check(value: Any) -> Faults:
        return None if identity(value) in keys else [unsupported(value, allowed)]

    return check


def junctor_checks(schema: Mapping[str, Any], compile_node: Callable[[Any], Node]) -> list[Check]:
    """allOf, anyOf, oneOf and not. An anyOf beside x-kubernetes-int-or-string only documents."""
    checks: list[Check] = []
    for part in schema.get("allOf", ()):
        checks.append(compile_node(part).check)
    if schema.get("anyOf") and not schema.get("x-kubernetes-int-or-string"):
        checks.append(_any_check([compile_node(part) for part in schema["anyOf"]]))
    if schema.get("oneOf"):
        checks.append(_one_check([compile_node(part) for part in schema["oneOf"]]))
    if "not" in schema:
        checks.append(_not_check(compile_node(schema["not"])))
    return checks


def _any_check(parts: Sequence[Node]) -> Check:
    def check(value: Any) -> Faults:
        attempts: list[list[Fault]] = []
        for part in parts:
            faults = part.check(value)
            if not faults:
                return None
            attempts.append(faults)
        return _best(attempts, "must validate at least one schema (anyOf)")

    return check


def _one_check(parts: Sequence[Node]) -> Check:
    def check(value: Any) -> Faults:
        attempts = [part.check(value) or [] for part in parts]
        valid = sum(1 for faults in attempts if not faults)
        if valid == 1:
            return None
        if valid:
            return [junctor(f"must validate one and only one schema (oneOf). Found {valid} valid alternatives")]
        return _best(attempts, "must validate one and only one schema (oneOf). Found none valid")

    return check


def _best(attempts: Sequence[list[Fault]], what: str) -> list[Fault]:
    """The faults of the alternative that comes closest: the server reports them too."""
    if all(fault.kind == "required" for faults in attempts for fault in faults):
        names = ["+".join(str(fault.steps[0]) for fault in faults) for faults in attempts]
        first = attempts[0]
        for fault in first:
            fault.summary = "one of these fields is required: " + ", ".join(dict.fromkeys(names))
        return first
    closest = min(attempts, key=lambda faults: (len(faults), -max(len(fault.steps) for fault in faults)))
    return [*closest, junctor(what)] if any(fault.kind == "type" for fault in closest) else closest


def _not_check(part: Node) -> Check:
    def check(value: Any) -> Faults:
        return None if part.check(value) else [junctor("must not validate the schema (not)")]

    return check


def unique_check(value: list[Any]) -> Faults:
    """Items of a set: no two equal ones. As the server does, a value is reported once however often it is there."""
    seen: dict[Any, int] = {}
    faults = []
    for index, item in enumerate(value):
        key = identity(item)
        count = seen[key] = seen.get(key, 0) + 1
        if count == 2:
            faults.append(duplicate(index, show(item)))
    return faults or None


def keyed_check(keys: Sequence[str]) -> Check:
    """Items of a map list: no two with the same key fields. A missing key counts as a value of its own."""

    def check(value: list[Any]) -> Faults:
        seen: dict[Any, int] = {}
        faults = []
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                continue
            key = tuple(identity(item[name]) if name in item else _MISSING for name in keys)
            count = seen[key] = seen.get(key, 0) + 1
            if count == 2:
                faults.append(duplicate(index, show({name: item[name] for name in sorted(keys) if name in item})))
        return faults or None

    return check
