"""Functions of lists and sets, and optionals.

Sources: k8s.io/apiserver pkg/cel/library/lists.go, github.com/google/cel-go ext/{lists,sets}.go and cel/library.go.
"""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.registry import Functions
from llmdctl.schema.cel.values import NONE, ORDERED, Duration, Optional, Uint, checked_int, compare, equal, tag_of

_MAX_RANGE = 1_000_000


def register(functions: Functions) -> None:
    """Adds them all."""
    method = functions.method
    for kind in ORDERED:
        method("isSorted", f"(list<{kind}>) -> bool", _is_sorted, work=True)
        method("min", f"(list<{kind}>) -> {kind}", lambda items: _extreme(items, -1), work=True)
        method("max", f"(list<{kind}>) -> {kind}", lambda items: _extreme(items, 1), work=True)
    for kind in ("int", "uint", "double", "duration"):
        method("sum", f"(list<{kind}>) -> {kind}", _sum, work=True)
    method("indexOf", "(list<A>, A) -> int", lambda items, item: _position(items, item, last=False), work=True)
    method("lastIndexOf", "(list<A>, A) -> int", lambda items, item: _position(items, item, last=True), work=True)
    functions.add("sets.contains", "(list<A>, list<A>) -> bool", _holds, since=29, work=True)
    functions.add("sets.intersects", "(list<A>, list<A>) -> bool", _meets, since=29, work=True)
    functions.add("sets.equivalent", "(list<A>, list<A>) -> bool", _same, since=29, work=True)
    _newer_lists(functions)
    _optionals(functions)


def _newer_lists(functions: Functions) -> None:
    method = functions.method
    method("slice", "(list<A>, int, int) -> list<A>", _slice, since=34, work=True)
    method("flatten", "(list<list<A>>) -> list<A>", lambda items: _flat(items, 1), since=34, work=True)
    method("flatten", "(list<A>, int) -> list<dyn>", _flat, since=34, work=True)
    method("distinct", "(list<A>) -> list<A>", _distinct, since=34, work=True)
    method("reverse", "(list<A>) -> list<A>", lambda items: list(reversed(items)), since=34, work=True)
    method("sort", "(list<A>) -> list<A>", lambda items: sorted(items, key=cmp_to_key(compare)), since=34, work=True)
    method("first", "(list<A>) -> optional<A>", lambda items: _some(items, 0), since=34)
    method("last", "(list<A>) -> optional<A>", lambda items: _some(items, -1), since=34)
    functions.add("lists.range", "(int) -> list<int>", _range, since=34, work=True)


def _optionals(functions: Functions) -> None:
    add, method = functions.add, functions.method
    add("optional.of", "(A) -> optional<A>", lambda value: Optional(True, value))
    add(
        "optional.ofNonZeroValue", "(A) -> optional<A>", lambda value: NONE if is_zero(value) else Optional(True, value)
    )
    add("optional.none", "() -> optional<A>", lambda: NONE)
    method("hasValue", "(optional<A>) -> bool", lambda value: value.present)
    method("value", "(optional<A>) -> A", _value)
    method("or", "(optional<A>, optional<A>) -> optional<A>", lambda left, right: left if left.present else right)
    method("orValue", "(optional<A>, A) -> A", lambda left, right: left.value if left.present else right)


def is_zero(value: Any) -> bool:
    """True for what a type starts with: 0, "", false, empty collections, null."""
    tag = tag_of(value)
    if tag in ("timestamp", "duration"):
        return bool(value.nanoseconds == 0)
    return not value if tag in ("null", "bool", "int", "uint", "double", "string", "bytes", "list", "map") else False


def _value(value: Optional) -> Any:
    if not value.present:
        raise EvaluationError("optional.none() dereference")
    return value.value


def _some(items: list[Any], position: int) -> Optional:
    return Optional(True, items[position]) if items else NONE


def _is_sorted(items: list[Any]) -> bool:
    return all(compare(left, right) <= 0 for left, right in pairwise(items))


def _extreme(items: list[Any], sign: int) -> Any:
    if not items:
        raise EvaluationError(f"{'max' if sign > 0 else 'min'} called on empty list")
    best = items[0]
    for item in items[1:]:
        if compare(item, best) * sign > 0:
            best = item
    return best


def _sum(items: list[Any]) -> Any:
    if not items:
        return 0
    tags = {tag_of(item) for item in items}
    if len(tags) > 1:
        raise EvaluationError("no such overload: sum of a mixed list")
    (tag,) = tags
    if tag == "int":
        return checked_int(sum(items))
    if tag == "uint":
        return Uint(sum(items))
    if tag == "double":
        return float(sum(items))
    if tag == "duration":
        return Duration(checked_int(sum(item.nanoseconds for item in items)))
    raise EvaluationError("no such overload: sum")


def _position(items: list[Any], wanted: Any, *, last: bool) -> int:
    order = range(len(items) - 1, -1, -1) if last else range(len(items))
    return next((index for index in order if equal(items[index], wanted)), -1)


def _in(items: list[Any], wanted: Any) -> bool:
    return any(equal(item, wanted) for item in items)


def _holds(items: list[Any], wanted: list[Any]) -> bool:
    return all(_in(items, item) for item in wanted)


def _meets(left: list[Any], right: list[Any]) -> bool:
    return any(_in(right, item) for item in left)


def _same(left: list[Any], right: list[Any]) -> bool:
    return _holds(left, right) and _holds(right, left)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if not 0 <= start <= end <= len(items):
        raise EvaluationError(f"cannot slice({start}, {end}), the list has {len(items)} items")
    return items[start:end]


def _flat(items: list[Any], depth: int) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    found = list(items)
    while depth > 0 and any(tag_of(item) == "list" for item in found):
        found = [inner for item in found for inner in (item if tag_of(item) == "list" else (item,))]
        depth -= 1
    return found


def _distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not _in(found, item):
            found.append(item)
    return found


def _range(count: int) -> list[int]:
    if count > _MAX_RANGE:
        raise EvaluationError("lists.range is too long")
    return list(range(count))
