"""From a tree to a function: types are checked on the way, as far as they are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from llmdctl.schema.cel import loops
from llmdctl.schema.cel.environment import functions
from llmdctl.schema.cel.errors import CompileError, EvaluationError, UnsupportedError
from llmdctl.schema.cel.literals import check_constants, check_template
from llmdctl.schema.cel.registry import Overload
from llmdctl.schema.cel.scope import Budget, Run, Scope
from llmdctl.schema.cel.steps import alternative, caller, constant, optional_access, through, variable
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
from llmdctl.schema.cel.types import FREE, Type, alike, filled, fits, is_free, joined, show_type
from llmdctl.schema.cel.values import (
    NONE,
    Optional,
    TypeValue,
    Uint,
    has_key,
    index,
    tag_of,
)

_TYPE_NAMES = {
    "int": "int", "uint": "uint", "double": "double", "bool": "bool", "string": "string", "bytes": "bytes",
    "list": "list", "map": "map", "null_type": "null_type", "type": "type",
}  # fmt: skip
_NOT_HERE = frozenset({"authorizer", "jsonpatch"})
_TWO_VARIABLES = 32
_SINCE = {
    "sortBy": 34,
    "transformList": _TWO_VARIABLES,
    "transformMap": _TWO_VARIABLES,
    "transformMapEntry": _TWO_VARIABLES,
}
Compiled = tuple[Run, Type]


class Compiler:
    """Compiles trees for one Kubernetes minor, with the types of the variables that they may use."""

    def __init__(self, variables: Mapping[str, Type], minor: int, *, bindings: bool = True) -> None:
        self._bindings = bindings
        self._variables = dict(variables)
        self._minor = minor
        self._free = 0
        self._seen: dict[int, list[Type]] = {}
        self._cache: dict[tuple[str, int, bool], list[Overload]] = {}

    def compile(self, node: Node) -> Compiled:
        """The function of a tree and the type of its result. Raises CompileError."""
        visit: Callable[[Any], Compiled] = getattr(self, f"_{type(node).__name__.lower()}")
        return visit(node)

    def _literal(self, node: Literal) -> Compiled:
        value = Uint(node.value) if node.kind == "uint" else node.value
        return constant(value), node.kind

    def _name(self, node: Name) -> Compiled:
        name = node.name
        if name in self._variables:
            return variable(name), self._variables[name]
        if name in _TYPE_NAMES:
            return constant(TypeValue(_TYPE_NAMES[name])), "type"
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
            return optional_access(operand, select), ("optional", result)

        def run(scope: Scope, budget: Budget) -> Any:
            budget.spend(1)
            value = operand(scope, budget)
            if type(value) is dict and key in value:
                return value[key]
            if type(value) is Optional:
                return through(value, select)
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
            if isinstance(value, list):
                raise EvaluationError(f"unsupported index type in list: has({written})")
            # What can have no fields has none.
            return False

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
                return through(value, lambda found: index(found, wanted))
            return index(value, wanted)

        if not (node.optional or propagated):
            return run, result

        def run_optional(scope: Scope, budget: Budget) -> Any:
            budget.spend(1)
            value, wanted = operand(scope, budget), key(scope, budget)
            return through(
                value if type(value) is Optional else Optional(True, value), lambda found: index(found, wanted)
            )

        return run_optional, "dyn" if inner == "dyn" else ("optional", result)

    def _item(self, kind: Type, key_kind: Type, position: int) -> Type:
        if kind == "dyn":
            return "dyn"
        if not isinstance(kind, str):
            if kind[0] == "list" and key_kind in ("int", "dyn"):
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

        if not (fits(left_kind, right_kind, {}) or fits(right_kind, left_kind, {})):
            raise _no_overload("_?_:_", (test_kind, left_kind, right_kind), node.position)
        return run, joined(left_kind, right_kind)

    def _all(self, node: All) -> Compiled:
        terms = [self.compile(term) for term in node.terms]
        for _, kind in terms:
            if kind not in ("bool", "dyn"):
                raise _no_overload(f"_{node.operator}_", tuple(kind for _, kind in terms), node.position)
        return loops.logic([run for run, _ in terms], decides=node.operator == "||"), "bool"

    def _listof(self, node: ListOf) -> Compiled:
        items = [self.compile(item) for item in node.items]
        for place in node.optional:
            _check_optional(items[place][1], node.position)
        kinds = [
            kind[1] if place in node.optional and not isinstance(kind, str) and kind[0] == "optional" else kind
            for place, (_, kind) in enumerate(items)
        ]
        self._seen[id(node)] = kinds
        self._alike(kinds, node.items)
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
        for _, (_, kind), optional in entries:
            if optional:
                _check_optional(kind, node.position)
        self._alike([key[1] for key, _, _ in entries], [key for key, _, _ in node.entries])
        self._alike(
            [
                kind[1] if optional and not isinstance(kind, str) and kind[0] == "optional" else kind
                for _, (_, kind), optional in entries
            ],
            [value for _, value, _ in node.entries],
        )
        key_kind = _common([key[1] for key, _, _ in entries])
        value_kind = _common([value[1] for _, value, optional in entries if not optional])

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

    def _alike(self, kinds: Sequence[Type], nodes: Sequence[Node]) -> None:
        """Refuses what a literal holds beside things of another type, unless it is for `format`."""
        for kind, node in zip(kinds[1:], nodes[1:], strict=True):
            if not self._free and not alike(kinds[0], kind):
                raise CompileError(
                    f"expected type '{show_type(kinds[0])}' but found '{show_type(kind)}'",
                    getattr(node, "position", -1),
                )

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
        if self._minor < _SINCE.get(node.operation, _TWO_VARIABLES if node.second else 0):
            raise CompileError(f"undeclared reference to '{node.operation}' (in container '')", node.position)
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
            "sortBy": kind,
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
        self._free += name == "format"
        arguments = [self.compile(item) for item in ((target,) if target is not None else ()) + node.arguments]
        self._free -= name == "format"
        overloads = self._overloads(name, len(arguments), member=target is not None)
        kinds = tuple(kind for _, kind in arguments)
        fitting = [item for item in overloads if _fits(item, kinds)]
        if not overloads and not functions().knows(name):
            raise CompileError(f"undeclared reference to '{name}' (in container '')", node.position)
        if not fitting:
            raise _no_overload(name, kinds, node.position)
        check_constants(name, node.arguments, fitting, self._minor)
        if name == "format" and isinstance(target, Literal):
            check_template(target, node.arguments[0], self._seen)
        if name in ("or", "orValue") and target is not None:
            return alternative(arguments[0][0], arguments[1][0], whole=name == "or"), _result(fitting[0], kinds)
        results = {_result(item, kinds) for item in fitting}
        result = results.pop() if len(results) == 1 else FREE if any(map(is_free, kinds)) else "dyn"
        return caller(name, fitting, [run for run, _ in arguments]), result

    def _overloads(self, name: str, count: int, *, member: bool) -> list[Overload]:
        key = (name, count, member)
        if key not in self._cache:
            found = functions().overloads(name, member=member, minor=self._minor)
            self._cache[key] = [item for item in found if len(item.parameters) == count]
        return self._cache[key]


def _check_optional(kind: Type, position: int) -> None:
    if kind != "dyn" and (isinstance(kind, str) or kind[0] != "optional"):
        shown = show_type(kind)
        raise CompileError(f"expected type 'optional_type({shown})' but found '{shown}'", position)


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
        # dyn stays dyn; what is not known yet becomes what is.
        if len(wanted) == 1 and (wanted not in bound or bound[wanted] is FREE or given == "dyn"):
            bound[wanted] = given
    elif not isinstance(given, str) and wanted[0] == given[0] and wanted[0] != "object":
        for left, right in zip(wanted[1:], given[1:], strict=True):
            _bind_parts(left, right, bound)


def _no_overload(name: str, kinds: tuple[Type, ...], position: int) -> CompileError:
    shown = ", ".join(map(show_type, kinds))
    return CompileError(f"found no matching overload for '{name}' applied to '({shown})'", position)


def _common(kinds: list[Type]) -> Type:
    if not kinds:
        return FREE
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
