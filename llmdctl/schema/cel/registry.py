"""Functions with their overloads: one table for checking types and for running."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.types import Type, parse_type
from llmdctl.schema.cel.values import tag_of


class Overload(NamedTuple):
    """One way to call a function. A member function's first parameter is what stands before the dot.

    `since` is the number after "1." of the Kubernetes minor that has it. `work` tells whether the cost grows with the
    size of the arguments.
    """

    parameters: tuple[Type, ...]
    result: Type
    run: Callable[..., Any]
    member: bool
    since: int
    work: bool


class Functions:
    """All overloads by name. Names of namespaced functions hold the dot: `sets.contains`."""

    def __init__(self) -> None:
        self._overloads: dict[str, list[Overload]] = {}

    def add(
        self,
        name: str,
        signature: str,
        run: Callable[..., Any],
        *,
        member: bool = False,
        since: int = 0,
        work: bool = False,
    ) -> None:
        """Registers an overload; `signature` reads as `(string, list<A>) -> A`."""
        left, _, result = signature.partition("->")
        inside = left.strip()[1:-1].strip()
        parameters = tuple(parse_type(part) for part in _split(inside)) if inside else ()
        overload = Overload(parameters, parse_type(result.strip()), run, member, since, work)
        self._overloads.setdefault(name, []).append(overload)

    def method(self, name: str, signature: str, run: Callable[..., Any], *, since: int = 0, work: bool = False) -> None:
        """Registers a member function: the first parameter is what it is called on."""
        self.add(name, signature, run, member=True, since=since, work=work)

    def overloads(self, name: str, *, member: bool, minor: int) -> list[Overload]:
        """What a Kubernetes minor has under a name."""
        return [item for item in self._overloads.get(name, ()) if item.member == member and item.since <= minor]

    def names(self) -> list[str]:
        """All names, operators among them."""
        return list(self._overloads)

    def knows(self, name: str) -> bool:
        """True for a name of any kind in any minor."""
        return name in self._overloads


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def dispatcher(name: str, overloads: list[Overload]) -> Callable[[tuple[Any, ...]], Any]:
    """A function that runs the overload which fits the values. It raises EvaluationError when none does."""
    shapes = [(tuple(_shape(kind) for kind in item.parameters), item) for item in overloads]

    @cache
    def chosen(tags: tuple[str, ...]) -> Overload | None:
        for shape, item in shapes:
            if len(shape) == len(tags) and all(want in ("", tag) for want, tag in zip(shape, tags, strict=True)):
                return item
        return None

    def run(arguments: tuple[Any, ...]) -> Any:
        item = chosen(tuple(map(tag_of, arguments)))
        if item is None:
            raise EvaluationError(f"no such overload: {name}")
        return item.run(*arguments)

    return run


def _shape(kind: Type) -> str:
    """What a parameter asks of a value's tag; "" for anything."""
    if isinstance(kind, str):
        return "" if kind == "dyn" or len(kind) == 1 else kind
    return str(kind[0])
