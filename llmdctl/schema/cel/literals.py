"""What the API server finds out about constants while it compiles: conversions, patterns, templates of `format`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmdctl.schema.cel.environment import functions
from llmdctl.schema.cel.errors import CompileError, EvaluationError
from llmdctl.schema.cel.registry import Overload, dispatcher
from llmdctl.schema.cel.syntax import Call, ListOf, Literal, MapOf, Node
from llmdctl.schema.cel.text import TAKES, clauses
from llmdctl.schema.cel.types import Type
from llmdctl.schema.cel.values import Uint
from llmdctl.schema.patterns import compile_re2

_CONVERSIONS = frozenset({"int", "uint", "double", "bool", "bytes", "string", "timestamp", "duration", "dyn"})
_WITH_PATTERN = frozenset({"matches", "find", "findAll"})


def check_constants(name: str, arguments: tuple[Node, ...], overloads: list[Overload], minor: int) -> None:
    """Raises CompileError for a conversion of a constant that fails, and for a constant that is no pattern."""
    if name in _CONVERSIONS and len(arguments) == 1:
        try:
            known, value = _known(arguments[0], minor)
            if known:
                dispatcher(name, overloads)((value,))
        except EvaluationError as error:
            raise CompileError(f"invalid {name} argument: {error}", getattr(arguments[0], "position", -1)) from None
    if name in _WITH_PATTERN:
        # `matches` may also be called with the text as its first argument.
        pattern = arguments[1 if name == "matches" and len(arguments) > 1 else 0]
        if isinstance(pattern, Literal) and pattern.kind == "string" and compile_re2(pattern.value) is None:
            raise CompileError(f"invalid {name} argument: error parsing regexp", pattern.position)


def _known(node: Node, minor: int) -> tuple[bool, Any]:
    """Whether a tree is a constant, or conversions and collections of some, and its value."""
    match node:
        case Literal():
            return True, Uint(node.value) if node.kind == "uint" else node.value
        case ListOf() if not node.optional:
            items = [_known(item, minor) for item in node.items]
            return all(known for known, _ in items), [value for _, value in items]
        case MapOf() if not any(optional for _, _, optional in node.entries):
            pairs = [(_known(key, minor), _known(value, minor)) for key, value, _ in node.entries]
            if all(key[0] and value[0] and isinstance(key[1], (str, int)) for key, value in pairs):
                return True, {key: value for (_, key), (_, value) in pairs}
        case Call(name=name, target=None, arguments=(only,)) if name in _CONVERSIONS:
            known, value = _known(only, minor)
            if known:
                return True, dispatcher(name, functions().overloads(name, member=False, minor=minor))((value,))
    return False, None


def check_template(template: Literal, values: Node, kinds: Mapping[int, list[Type]]) -> None:
    """Raises CompileError when a template of `format` doesn't fit the list of values written beside it.

    `kinds` has the types of what each list literal holds, by the literal's id.
    """
    if template.kind != "string" or not isinstance(values, ListOf):
        return
    given, used = kinds[id(values)], 0
    try:
        for _, verb, _ in clauses(template.value):
            if not verb:
                continue
            if used >= len(given):
                raise CompileError(f"index {used} out of range", values.position)
            if not _takes(verb, values.items[used], given[used], kinds):
                raise CompileError(f"error during formatting: %{verb} of another type", values.position)
            used += 1
    except EvaluationError as error:
        raise CompileError(str(error), template.position) from None
    if used < len(given):
        raise CompileError(
            f"too many arguments supplied to string.format (expected {used}, got {len(given)})", values.position
        )


def _takes(verb: str, node: Node, kind: Type, kinds: Mapping[int, list[Type]]) -> bool:
    name = kind if isinstance(kind, str) else str(kind[0])
    if name != "dyn" and name not in TAKES[verb]:
        return False
    if verb != "s" or not isinstance(node, ListOf):
        return True
    return all(_takes(verb, item, inner, kinds) for item, inner in zip(node.items, kinds[id(node)], strict=True))
