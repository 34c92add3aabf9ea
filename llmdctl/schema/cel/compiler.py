"""From a tree to a function: types are checked on the way, as far as they are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from llmdctl.schema.cel import loops
from llmdctl.schema.cel.environment import functions
from llmdctl.schema.cel.errors import CompileError, EvaluationError, UnsupportedError
from llmdctl.schema.cel.registry import Overload, dispatcher
from llmdctl.schema.cel.scope import Budget, Run, Scope
from llmdctl.schema.cel.syntax import (
    All,
    Bind,
    Call,
    Condition,
    Has,
    Index,
    ListOf,
    Literal,
    Loop,
    MapOf,
    Name,
    Node,
    OptionalMap,
    Select,
)
from llmdctl.schema.cel.types import Type, filled, fits, joined, show_type
from llmdctl.schema.cel.values import (
    NONE,
    Optional,
    TypeValue,
    Uint,
    equal,
    has_key,
    index,
    size_of,
    tag_of,
)
from llmdctl.schema.patterns import compile_re2

_TYPE_NAMES = {
    "int": "int", "uint": "uint", "double": "double", "bool": "bool", "string": "string", "bytes": "bytes",
    "list": "list", "map": "map", "null_type": "null_type", "type": "type",
}  # fmt: skip
_NOT_HERE = frozenset({"authorizer", "jsonpatch"})
Compiled = tuple[Run, Type]


class Compiler:
    """Compiles trees for one Kubernetes minor, with the types of the variables that they may use."""

    def __init__(self, variables: Mapping[str, Type], minor: int, *, bindings: bool = True) -> None:
        self._bindings = bindings
        self._variables = dict(variables)
        self._minor = minor
        self._cache: dict[tuple[str, int, bool], list[Overload]] = {}

    def compile(self, node: Node) -> Compiled:
        """The function of a tree and the type of its result. Raises CompileError."""
        visit: Callable[[Any], Compiled] = getattr(self, f"_{type(node).__name__.lower()}")
        return visit(node)

    def _literal(self, node: Literal) -> Compiled:
        value = Uint(node.value) if node.kind == "uint" else node.value
        return _constant(value), node.kind

    def _name(self, node: Name) -> Compiled:
        name = node.name
        if name in self._variables:
            return _variable(name), self._variables[name]
        if name in _TYPE_NAMES:
            return _constant(TypeValue(_TYPE_NAMES[name])), "type"
        if name in _NOT_HERE:
            raise UnsupportedError(f"{name} needs a cluster")
        raise CompileError(f"undeclared reference to '{name}' (in container '')", node.position)

    def _field(self, kind: Type, field: str, position: int) -> tuple[str, Type]:
        """The key and the type of a field of a value of this type."""
        if kind == "dyn":
            return field, "dyn"
        if not isinstance(kind, str):
            if kind[0] == "object":
                fields = kind[1].fields
                if field not in fields:
                    raise CompileError(f"undefined field '{field}'", position)
                return cast("tuple[str, Type]", fields[field])
            if kind[0] == "map":
                return field, kind[2]
        raise CompileError(f"type '{show_type(kind)}' does not support field selection", position)

    def _select(self, node: Select) -> Compiled:
        operand, kind = self.compile(node.operand)
        propagated = not isinstance(kind, str) and kind[0] == "optional"
        inner = kind[1] if propagated and not isinstance(kind, str) else kind
        key, result = self._field(inner, node.field, node.position)
        written = node.field

        def select(value: Any) -> Any:
            if isinstance(value, Mapping):
                if key in value:
                    return value[key]
                if written in value:
                    return value[written]
                raise EvaluationError(f"no such key: {written}")
            raise EvaluationError(f"no such overload: {tag_of(value)}.{written}")

        if node.optional or propagated:
            return _optional_access(operand, select), ("optional", result)

        def run(scope: Scope, budget: Budget) -> Any:
            budget.spend(1)
            value = operand(scope, budget)
            if type(value) is dict and key in value:
                return value[key]
            if type(value) is Optional:
                return _through(value, select)
            return select(value)

        return run, result

    def _has(self, node: Has) -> Compiled:
        operand, kind = self.compile(node.operand)
        inner = kind[1] if not isinstance(kind, str) and kind[0] == "optional" else kind
        key, _ = self._field(inner, node.field, node.position)
        written = node.field

        def run(scope: Scope, budget: Budget) -> bool:
            budget.spend(1)
            value = operand(scope, budget)
            if type(value) is Optional:
                value = value.value if value.present else {}
            if isinstance(value, Mapping):
                return key in value or written in value
            raise EvaluationError(f"no such overload: has({written}) of {tag_of(value)}")

        return run, "bool"

    def _index(self, node: Index) -> Compiled:
        operand, kind = self.compile(node.operand)
        key, key_kind = self.compile(node.key)
        propagated = not isinstance(kind, str) and kind[0] == "optional"
        inner = kind[1] if propagated and not isinstance(kind, str) else kind
        result = self._item(inner, key_kind, node.position)

        def run(scope: Scope, budget: Budget) -> Any:
            budget.spend(1)
            value, wanted = operand(scope, budget), key(scope, budget)
            if type(value) is Optional:
                return _through(value, lambda found: index(found, wanted))
            return index(value, wanted)

        if not (node.optional or propagated):
            return run, result

        def run_optional(scope: Scope, budget: Budget) -> Any:
            budget.spend(1)
            value, wanted = operand(scope, budget), key(scope, budget)
            return _through(
                value if type(value) is Optional else Optional(True, value), lambda found: index(found, wanted)
            )

        return run_optional, ("optional", result)

    def _item(self, kind: Type, key_kind: Type, position: int) -> Type:
        if kind == "dyn":
            return "dyn"
        if not isinstance(kind, str):
            if kind[0] == "list" and key_kind in ("int", "uint", "double", "dyn"):
                return cast("Type", kind[1])
            if kind[0] == "map" and fits(kind[1], key_kind, {}):
                return cast("Type", kind[2])
        raise _no_overload("_[_]", (kind, key_kind), position)

    def _condition(self, node: Condition) -> Compiled:
        test, test_kind = self.compile(node.test)
        left, left_kind = self.compile(node.left)
        right, right_kind = self.compile(node.right)
        if test_kind not in ("bool", "dyn"):
            raise _no_overload("_?_:_", (test_kind, left_kind, right_kind), node.position)

        def run(scope: Scope, budget: Budget) -> Any:
            found = test(scope, budget)
            if found is True:
                return left(scope, budget)
            if found is False:
                return right(scope, budget)
            raise EvaluationError("no such overload: _?_:_")

        return run, joined(left_kind, right_kind)

    def _all(self, node: All) -> Compiled:
        terms = [self.compile(term) for term in node.terms]
        for _, kind in terms:
            if kind not in ("bool", "dyn"):
                raise _no_overload(f"_{node.operator}_", tuple(kind for _, kind in terms), node.position)
        return loops.logic([run for run, _ in terms], decides=node.operator == "||"), "bool"

    def _listof(self, node: ListOf) -> Compiled:
        items = [self.compile(item) for item in node.items]
        kinds = [
            kind[1] if place in node.optional and not isinstance(kind, str) and kind[0] == "optional" else kind
            for place, (_, kind) in enumerate(items)
        ]
        runs = [(run, place in node.optional) for place, (run, _) in enumerate(items)]

        def run(scope: Scope, budget: Budget) -> list[Any]:
            budget.spend(len(runs) + 1)
            found = []
            for item, optional in runs:
                value = item(scope, budget)
                if not optional:
                    found.append(value)
                elif value.present:
                    found.append(value.value)
            return found

        return run, ("list", _common(kinds))

    def _mapof(self, node: MapOf) -> Compiled:
        entries = [(self.compile(key), self.compile(value), optional) for key, value, optional in node.entries]
        key_kind = _common([key[1] for key, _, _ in entries])
        value_kind = _common([value[1] for _, value, optional in entries if not optional]) if entries else "dyn"

        def run(scope: Scope, budget: Budget) -> dict[Any, Any]:
            budget.spend(len(entries) + 1)
            found: dict[Any, Any] = {}
            for (key, _), (value, _), optional in entries:
                name, item = key(scope, budget), value(scope, budget)
                if has_key(found, name):
                    raise EvaluationError(f"Failed with repeated key: {name}")
                if not optional:
                    found[name] = item
                elif item.present:
                    found[name] = item.value
            return found

        return run, ("map", key_kind, value_kind)

    def _bind(self, node: Bind) -> Compiled:
        if not self._bindings:
            raise CompileError("undeclared reference to 'cel' (in container '')", node.position)
        value, kind = self.compile(node.value)
        body, result = self._inside({node.name: kind}, node.body)
        name = node.name

        def run(scope: Scope, budget: Budget) -> Any:
            return body({**scope, name: value(scope, budget)}, budget)

        return run, result

    def _optionalmap(self, node: OptionalMap) -> Compiled:
        operand, kind = self.compile(node.operand)
        inner: Type = kind[1] if not isinstance(kind, str) and kind[0] == "optional" else "dyn"
        body, result = self._inside({node.name: inner}, node.body)
        name, flat = node.name, node.flat

        def run(scope: Scope, budget: Budget) -> Any:
            value = operand(scope, budget)
            if type(value) is not Optional:
                raise EvaluationError("no such overload: optMap")
            if not value.present:
                return NONE
            found = body({**scope, name: value.value}, budget)
            return found if flat else Optional(True, found)

        return run, result if flat else ("optional", result)

    def _inside(self, variables: Mapping[str, Type], node: Node) -> Compiled:
        """Compiles a tree in which some more variables are known."""
        before = self._variables
        self._variables = {**before, **variables}
        try:
            return self.compile(node)
        finally:
            self._variables = before

    def _loop(self, node: Loop) -> Compiled:
        over, kind = self.compile(node.over)
        first, second = _loop_kinds(kind, two=bool(node.second), position=node.position)
        names = {node.first: first, **({node.second: second} if node.second else {})}
        test = self._inside(names, node.test) if node.test is not None else None
        assert node.result is not None  # noqa: S101 - the parser gives every loop one
        body, result = self._inside(names, node.result)
        if node.operation in ("all", "exists", "exists_one", "filter") and result not in ("bool", "dyn"):
            raise _no_overload(node.operation, (result,), node.position)
        if test is not None and test[1] not in ("bool", "dyn"):
            raise _no_overload("_?_:_", (test[1],), node.position)
        run = loops.loop(node, over, test[0] if test else None, body)
        results: dict[str, Type] = {
            "filter": ("list", first if not isinstance(kind, str) else "dyn"),
            "map": ("list", result),
            "transformList": ("list", result),
            "transformMap": ("map", first, result),
            "transformMapEntry": result,
        }
        return run, results.get(node.operation, "bool")

    def _call(self, node: Call) -> Compiled:
        target, name = node.target, node.name
        qualified = _qualified(target, name)
        if (
            qualified
            and isinstance(target, Name)
            and target.name not in self._variables
            and functions().knows(qualified)
        ):
            target, name = None, qualified
        arguments = [self.compile(item) for item in ((target,) if target is not None else ()) + node.arguments]
        overloads = self._overloads(name, len(arguments), member=target is not None)
        kinds = tuple(kind for _, kind in arguments)
        fitting = [item for item in overloads if _fits(item, kinds)]
        if not overloads and not functions().knows(name):
            raise CompileError(f"undeclared reference to '{name}' (in container '')", node.position)
        if not fitting:
            raise _no_overload(name, kinds, node.position)
        _check_constants(name, node.arguments, fitting)
        if name in ("or", "orValue") and target is not None:
            return _alternative(arguments[0][0], arguments[1][0], whole=name == "or"), _result(fitting[0], kinds)
        results = {_result(item, kinds) for item in fitting}
        result = results.pop() if len(results) == 1 else "dyn"
        return _caller(name, fitting, [run for run, _ in arguments]), result

    def _overloads(self, name: str, count: int, *, member: bool) -> list[Overload]:
        key = (name, count, member)
        if key not in self._cache:
            found = functions().overloads(name, member=member, minor=self._minor)
            self._cache[key] = [item for item in found if len(item.parameters) == count]
        return self._cache[key]


_CONVERSIONS = frozenset({"int", "uint", "double", "bool", "bytes", "string", "timestamp", "duration"})
_NEWEST = 99
_WITH_PATTERN = frozenset({"matches", "find", "findAll"})


def _check_constants(name: str, arguments: tuple[Node, ...], overloads: list[Overload]) -> None:
    """What the server computes while it compiles: conversions of constants, and patterns."""
    if name in _CONVERSIONS and len(arguments) == 1:
        known, value = _known(arguments[0])
        if known:
            try:
                dispatcher(name, overloads)((value,))
            except EvaluationError as error:
                raise CompileError(f"invalid {name} argument: {error}", arguments[0].position) from None
    first = next((item for item in arguments if isinstance(item, Literal)), None)
    if name in _WITH_PATTERN and first is not None and first.kind == "string" and compile_re2(first.value) is None:
        raise CompileError(f"invalid {name} argument: error parsing regexp", first.position)


def _known(node: Node) -> tuple[bool, Any]:
    """Whether a tree is a constant, or conversions of one, and its value."""
    if isinstance(node, Literal):
        return True, Uint(node.value) if node.kind == "uint" else node.value
    if isinstance(node, Call) and node.name in _CONVERSIONS and node.target is None and len(node.arguments) == 1:
        known, value = _known(node.arguments[0])
        if known:
            overloads = functions().overloads(node.name, member=False, minor=_NEWEST)
            return True, dispatcher(node.name, overloads)((value,))
    return False, None


def _alternative(left: Run, right: Run, *, whole: bool) -> Run:
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


def _constant(value: Any) -> Run:
    def run(_scope: Scope, _budget: Budget) -> Any:
        return value

    return run


def _variable(name: str) -> Run:
    def run(scope: Scope, _budget: Budget) -> Any:
        return scope[name]

    return run


def _caller(name: str, overloads: list[Overload], arguments: list[Run]) -> Run:
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


def _qualified(target: Node | None, name: str) -> str:
    return f"{target.name}.{name}" if isinstance(target, Name) else ""


def _fits(overload: Overload, kinds: tuple[Type, ...]) -> bool:
    bound: dict[str, Type] = {}
    return all(fits(wanted, given, bound) for wanted, given in zip(overload.parameters, kinds, strict=True))


def _result(overload: Overload, kinds: tuple[Type, ...]) -> Type:
    bound: dict[str, Type] = {}
    for wanted, given in zip(overload.parameters, kinds, strict=True):
        _bind_parts(wanted, given, bound)
    return filled(overload.result, bound)


def _bind_parts(wanted: Type, given: Type, bound: dict[str, Type]) -> None:
    if isinstance(wanted, str):
        if len(wanted) == 1 and bound.get(wanted, "dyn") == "dyn":
            bound[wanted] = given
    elif not isinstance(given, str) and wanted[0] == given[0] and wanted[0] != "object":
        for left, right in zip(wanted[1:], given[1:], strict=True):
            _bind_parts(left, right, bound)


def _no_overload(name: str, kinds: tuple[Type, ...], position: int) -> CompileError:
    shown = ", ".join(map(show_type, kinds))
    return CompileError(f"found no matching overload for '{name}' applied to '({shown})'", position)


def _common(kinds: list[Type]) -> Type:
    if not kinds:
        return "dyn"
    found = kinds[0]
    for kind in kinds[1:]:
        found = joined(found, kind)
    return found


def _loop_kinds(kind: Type, *, two: bool, position: int) -> tuple[Type, Type]:
    """The types of a loop's variables."""
    if kind == "dyn":
        return "dyn", "dyn"
    if not isinstance(kind, str):
        if kind[0] == "list":
            return ("int", kind[1]) if two else (kind[1], "dyn")
        if kind[0] == "map":
            return kind[1], kind[2]
    raise CompileError(
        f"expression of type '{show_type(kind)}' cannot be range of a comprehension (must be list, map, or dynamic)",
        position,
    )


def _optional_access(operand: Run, read: Callable[[Any], Any]) -> Run:
    def run(scope: Scope, budget: Budget) -> Optional:
        budget.spend(1)
        value = operand(scope, budget)
        return _through(value if type(value) is Optional else Optional(True, value), read)

    return run


def _through(value: Optional, read: Callable[[Any], Any]) -> Optional:
    """Reads from inside an optional: nothing stays nothing, and what is missing is nothing."""
    if not value.present:
        return NONE
    try:
        return Optional(True, read(value.value))
    except EvaluationError as error:
        if str(error).startswith(("no such key", "index out of bounds")):
            return NONE
        raise
