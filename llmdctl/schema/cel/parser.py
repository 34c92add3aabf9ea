"""From text to a tree: the grammar of CEL with the macros that Kubernetes enables."""

from __future__ import annotations

from llmdctl.schema.cel.errors import CompileError, UnsupportedError
from llmdctl.schema.cel.lexer import INT_MAX, RESERVED, Token, tokens
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

MAX_LENGTH = 100_000
"""Code points that the API server's CEL environment reads at most."""
MAX_DEPTH = 120
"""cel-go stops at 250; nothing that people write comes near either."""

_BINARY = {
    "||": 1, "&&": 2,
    "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "in": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "%": 5,
}  # fmt: skip
_OPERATORS = {
    "==": "_==_", "!=": "_!=_", "<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "in": "@in", "+": "_+_", "-": "_-_",
    "*": "_*_", "/": "_/_", "%": "_%_",
}  # fmt: skip
_ONE_VARIABLE = {"all": 2, "exists": 2, "exists_one": 2, "existsOne": 2, "filter": 2, "map": 2}


def parse(text: str) -> Node:
    """The tree of an expression. Raises CompileError, and UnsupportedError for one that is nested too deeply."""
    if len(text) > MAX_LENGTH:
        raise CompileError(f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_LENGTH}")
    parser = _Parser(tokens(text))
    node = parser.expression()
    parser.expect_end()
    return node


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._index = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def _take(self) -> Token:
        token = self._tokens[self._index]
        self._index += 1
        return token

    def _is(self, text: str) -> bool:
        token = self._next
        return token.value == text and token.kind in ("op", "name")

    def _skip(self, text: str) -> bool:
        if self._is(text):
            self._index += 1
            return True
        return False

    def _expect(self, text: str) -> Token:
        if not self._is(text):
            raise self._unexpected(f"expecting '{text}'")
        return self._take()

    def _unexpected(self, detail: str = "") -> CompileError:
        token = self._next
        return CompileError(f"Syntax error: unexpected '{token.value}'{' ' if detail else ''}{detail}", token.position)

    def expect_end(self) -> None:
        """Raises CompileError when something is left."""
        if self._next.kind != "end":
            raise self._unexpected("expecting the end")

    def expression(self) -> Node:
        """A whole expression, with its conditions."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnsupportedError("the expression is nested too deeply to be judged")
        test = self._binary(1)
        if self._is("?"):
            position = self._take().position
            left = self._binary(1)
            self._expect(":")
            test = Condition(test, left, self.expression(), position)
        self._depth -= 1
        return test

    def _binary(self, least: int) -> Node:
        left = self._unary()
        while True:
            token = self._next
            power = _BINARY.get(token.value) if token.kind in ("op", "name") and isinstance(token.value, str) else None
            if power is None or power < least:
                return left
            self._take()
            if power <= 2:
                terms = [left, self._binary(power + 1)]
                while self._skip(token.value):
                    terms.append(self._binary(power + 1))
                left = All(token.value, tuple(terms), token.position)
            else:
                right = self._binary(power + 1)
                left = Call(_OPERATORS[token.value], None, (left, right), token.position)

    def _unary(self) -> Node:
        token = self._next
        if token.kind == "op" and token.value in ("!", "-"):
            count = 0
            while self._is(token.value):
                self._take()
                count += 1
            if token.value == "-" and count == 1 and self._next.kind in ("int", "double"):
                number = self._take()
                negative = Literal(number.kind, -number.value, token.position)
                return self._member(negative)
            return self._negate(
                self._member(self._primary()), "!_" if token.value == "!" else "-_", count, token.position
            )
        return self._member(self._primary())

    def _negate(self, node: Node, operator: str, count: int, position: int) -> Node:
        # Two of a kind cancel each other, as in cel-go's parser.
        return Call(operator, None, (node,), position) if count % 2 else node

    def _member(self, node: Node) -> Node:
        while True:
            token = self._next
            if token.kind != "op" or token.value not in (".", "["):
                return node
            self._take()
            if token.value == "[":
                optional = self._skip("?")
                key = self.expression()
                self._expect("]")
                node = Index(node, key, optional, token.position)
                continue
            optional = self._skip("?")
            name = self._take()
            if name.kind != "name" or name.value in ("in", "true", "false", "null"):
                self._index -= 1
                raise self._unexpected("expecting a name")
            if not optional and self._is("("):
                node = self._member_call(node, name)
            else:
                node = Select(node, name.value, optional, token.position)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        if self._skip(")"):
            return ()
        found = [self.expression()]
        while self._skip(","):
            found.append(self.expression())
        self._expect(")")
        return tuple(found)

    def _primary(self) -> Node:
        token = self._take()
        if token.kind in ("int", "uint", "double", "string", "bytes"):
            if token.kind == "int" and token.value > INT_MAX:
                raise CompileError("Syntax error: invalid int literal", token.position)
            return Literal(token.kind, token.value, token.position)
        if token.kind == "name":
            return self._name(token)
        if token.value == "(":
            node = self.expression()
            self._expect(")")
            return node
        if token.value == "[":
            return self._list(token.position)
        if token.value == "{":
            return self._map(token.position)
        if token.value == ".":
            # A leading dot asks for the root scope, the only one that there is.
            if self._next.value not in ("true", "false", "null"):
                return self._name(self._take())
            self._index += 1
        self._index -= 1
        raise self._unexpected()

    def _name(self, token: Token) -> Node:
        if token.kind != "name" or token.value == "in":
            self._index -= 1
            raise self._unexpected()
        constants = {"true": ("bool", True), "false": ("bool", False), "null": ("null", None)}
        if token.value in constants:
            kind, value = constants[token.value]
            return Literal(kind, value, token.position)
        if token.value in RESERVED:
            raise CompileError(f"Syntax error: reserved identifier: {token.value}", token.position)
        if not self._is("("):
            return Name(token.value, token.position)
        arguments = self._arguments()
        if token.value == "has":
            if len(arguments) != 1 or not isinstance(arguments[0], Select) or arguments[0].optional:
                raise CompileError("invalid argument to has() macro", token.position)
            return Has(arguments[0].operand, arguments[0].field, token.position)
        return Call(token.value, None, arguments, token.position)

    def _list(self, position: int) -> Node:
        items: list[Node] = []
        optional = set()
        # `[,]` is an empty list.
        lone = self._skip(",")
        while not lone and not self._is("]"):
            if self._skip("?"):
                optional.add(len(items))
            items.append(self.expression())
            if not self._skip(","):
                break
        self._expect("]")
        return ListOf(tuple(items), frozenset(optional), position)

    def _map(self, position: int) -> Node:
        entries: list[tuple[Node, Node, bool]] = []
        lone = self._skip(",")
        while not lone and not self._is("}"):
            optional = self._skip("?")
            key = self.expression()
            self._expect(":")
            entries.append((key, self.expression(), optional))
            if not self._skip(","):
                break
        self._expect("}")
        return MapOf(tuple(entries), position)

    def _member_call(self, target: Node, name: Token) -> Node:
        arguments, position = self._arguments(), name.position
        count = len(arguments)
        if name.value in _ONE_VARIABLE and count == 2:
            return self._loop(name.value, target, arguments[:1], None, arguments[1], position)
        if name.value == "map" and count == 3:
            return self._loop("map", target, arguments[:1], arguments[1], arguments[2], position)
        if (
            name.value in ("all", "exists", "existsOne", "transformList", "transformMap", "transformMapEntry")
            and count == 3
        ):
            return self._loop(name.value, target, arguments[:2], None, arguments[2], position)
        if name.value in ("transformList", "transformMap", "transformMapEntry") and count == 4:
            return self._loop(name.value, target, arguments[:2], arguments[2], arguments[3], position)
        if name.value == "sortBy" and count == 2:
            return self._loop(name.value, target, arguments[:1], None, arguments[1], position)
        if name.value == "bind" and isinstance(target, Name) and target.name == "cel" and count == 3:
            return Bind(self._variable(arguments[0]), arguments[1], arguments[2], position)
        if name.value in ("optMap", "optFlatMap") and count == 2:
            variable = self._variable(arguments[0])
            return OptionalMap(target, variable, arguments[1], name.value == "optFlatMap", position)
        return Call(name.value, target, arguments, position)

    def _loop(
        self, operation: str, over: Node, variables: tuple[Node, ...], test: Node | None, result: Node, position: int
    ) -> Node:
        names = [self._variable(item) for item in variables]
        if len(set(names)) < len(names):
            raise CompileError("overlapping variable names", position)
        operation = "exists_one" if operation == "existsOne" else operation
        return Loop(operation, over, names[0], names[1] if len(names) > 1 else "", test, result, position)

    def _variable(self, node: Node) -> str:
        if not isinstance(node, Name):
            raise CompileError("argument must be a simple name", getattr(node, "position", -1))
        return node.name
