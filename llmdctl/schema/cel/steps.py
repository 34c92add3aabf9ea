"""The functions that a compiled expression consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.registry import Overload, dispatcher
from llmdctl.schema.cel.scope import Budget, Run, Scope
from llmdctl.schema.cel.values import NONE, Optional, equal, size_of


def alternative(left: Run, right: Run, *, whole: bool) -> Run:
    """`or` and `orValue`: the second is only computed when the first is absent."""

    def run(scope: Scope, budget: Budget) -> Any:
        budget.spend(1)
        value = left(scope, budget)
        if type(value) is not Optional:
            raise EvaluationError("no such overload: orValue")
        if value.present:
            return value if whole else value.value
        return right(scope, budget)

    return run


def constant(value: Any) -> Run:
    def run(_scope: Scope, _budget: Budget) -> Any:
        return value

    return run


def variable(name: str) -> Run:
    def run(scope: Scope, _budget: Budget) -> Any:
        return scope[name]

    return run


def caller(name: str, overloads: list[Overload], arguments: list[Run]) -> Run:
    choose = dispatcher(name, overloads)
    work = any(item.work for item in overloads)
    if name in ("_==_", "_!=_") and len(arguments) == 2:
        return _equality(*arguments, wanted=name == "_==_")
    if len(arguments) == 2 and not work:
        left, right = arguments

        def run_two(scope: Scope, budget: Budget) -> Any:
            budget.spend(1)
            return choose((left(scope, budget), right(scope, budget)))

        return run_two

    def run(scope: Scope, budget: Budget) -> Any:
        values = tuple(argument(scope, budget) for argument in arguments)
        budget.spend(1 + (sum(map(size_of, values)) // 10 if work else 0))
        return choose(values)

    return run


def _equality(left: Run, right: Run, *, wanted: bool) -> Run:
    def run(scope: Scope, budget: Budget) -> bool:
        first, second = left(scope, budget), right(scope, budget)
        budget.spend(1 + min(size_of(first), size_of(second)) // 10)
        return equal(first, second) is wanted

    return run


def optional_access(operand: Run, read: Callable[[Any], Any]) -> Run:
    def run(scope: Scope, budget: Budget) -> Optional:
        budget.spend(1)
        value = operand(scope, budget)
        return through(value if type(value) is Optional else Optional(True, value), read)

    return run


def through(value: Optional, read: Callable[[Any], Any]) -> Optional:
    """Reads from inside an optional: nothing stays nothing, and what is missing is nothing."""
    if not value.present or not isinstance(value.value, (list, Mapping)):
        return NONE
    try:
        return Optional(True, read(value.value))
    except EvaluationError as error:
        if str(error).startswith(("no such key", "index out of bounds")):
            return NONE
        raise
