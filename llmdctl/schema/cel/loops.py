"""Running `&&` and `||`, and the macros over lists and maps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from typing import Any

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.scope import Budget, Run, Scope
from llmdctl.schema.cel.syntax import Loop
from llmdctl.schema.cel.values import compare, has_key, tag_of


def logic(terms: list[Run], *, decides: bool) -> Run:
    """All terms in order; the value that decides wins over errors, wherever it stands."""

    def run(scope: Scope, budget: Budget) -> bool:
        failed: EvaluationError | None = None
        for term in terms:
            try:
                value = term(scope, budget)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is decides:
                return bool(value)
            if not isinstance(value, bool):
                failed = failed or EvaluationError("no such overload: a term that is no bool")
        if failed is not None:
            raise failed
        return not decides

    return run


def loop(node: Loop, over: Run, test: Run | None, body: Run) -> Run:
    """The function of a macro."""
    if node.operation in ("all", "exists"):
        return _quantifier(node, over, body, decides=node.operation == "exists")
    if node.operation == "exists_one":
        return _exactly_one(node, over, body)
    if node.operation in ("filter", "map", "transformList"):
        return _listing(node, over, body if node.operation == "filter" else test, body)
    if node.operation == "sortBy":
        return _sorted(node, over, body)
    return _mapping(node, over, test, body)


def _scopes(node: Loop, container: Any, scope: Scope, budget: Budget) -> Iterator[tuple[Scope, Any]]:
    """A scope for each item, with what a filter would keep of it. The scope is the same object each time."""
    tag = tag_of(container)
    if tag not in ("list", "map"):
        raise EvaluationError(f"no such overload: a macro over a value of type {tag}")
    inner = dict(scope)
    first, second = node.first, node.second
    if second:
        pairs = container.items() if tag == "map" else enumerate(container)
        for key, value in pairs:
            budget.spend(2)
            inner[first], inner[second] = key, value
            yield inner, key
        return
    for item in container:
        budget.spend(2)
        inner[first] = item
        yield inner, item


def _quantifier(node: Loop, over: Run, body: Run, *, decides: bool) -> Run:
    def run(scope: Scope, budget: Budget) -> bool:
        failed: EvaluationError | None = None
        for inner, _ in _scopes(node, over(scope, budget), scope, budget):
            try:
                value = body(inner, budget)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is decides:
                return bool(value)
            if not isinstance(value, bool):
                failed = failed or EvaluationError(f"no such overload: {node.operation} of a predicate that is no bool")
        if failed is not None:
            raise failed
        return not decides

    return run


def _exactly_one(node: Loop, over: Run, body: Run) -> Run:
    def run(scope: Scope, budget: Budget) -> bool:
        return sum(_holds(body, inner, budget) for inner, _ in _scopes(node, over(scope, budget), scope, budget)) == 1

    return run


def _holds(body: Run, scope: Scope, budget: Budget) -> bool:
    value = body(scope, budget)
    if isinstance(value, bool):
        return value
    raise EvaluationError("no such overload: a predicate that is no bool")


def _listing(node: Loop, over: Run, test: Run | None, body: Run) -> Run:
    keeps = node.operation == "filter"

    def run(scope: Scope, budget: Budget) -> list[Any]:
        found = []
        for inner, item in _scopes(node, over(scope, budget), scope, budget):
            if test is None or _holds(test, inner, budget):
                found.append(item if keeps else body(inner, budget))
        return found

    return run


def _by_key(left: tuple[Any, Any], right: tuple[Any, Any]) -> int:
    return compare(left[0], right[0])


def _sorted(node: Loop, over: Run, body: Run) -> Run:
    def run(scope: Scope, budget: Budget) -> list[Any]:
        found = [(body(inner, budget), item) for inner, item in _scopes(node, over(scope, budget), scope, budget)]
        budget.spend(len(found))
        # Equal keys keep their order, as in cel-go.
        return [item for _, item in sorted(found, key=cmp_to_key(_by_key))]

    return run


def _mapping(node: Loop, over: Run, test: Run | None, body: Run) -> Run:
    entries = node.operation == "transformMapEntry"

    def run(scope: Scope, budget: Budget) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for inner, key in _scopes(node, over(scope, budget), scope, budget):
            if test is not None and not _holds(test, inner, budget):
                continue
            value = body(inner, budget)
            for name, item in value.items() if entries else ((key, value),):
                if has_key(found, name):
                    raise EvaluationError(f"insert failed: key {name} already exists")
                found[name] = item
        return found

    return run
