"""x-kubernetes-validations of a custom kind: found in its schema, compiled once, run on objects.

Source of the facts: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from llmdctl.findings import Path
from llmdctl.findings.frozen import frozen
from llmdctl.schema.cel.errors import CompileError, EvaluationError, UnsupportedError
from llmdctl.schema.cel.program import Program, compile_expression
from llmdctl.schema.cel.values import NONE
from llmdctl.schema.declared import Convert, converter, declared_type

_FIELD = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]")
_OLD = re.compile(r"\boldSelf\b")


@frozen
class Failure:
    """A rule that an object breaks: where (with the rule's fieldPath), what it says, and the rule itself."""

    path: Path
    message: str
    rule: str


@frozen
class Unjudged:
    """A rule of which nothing can be said, and why."""

    path: Path
    reason: str


@frozen
class WrongRule:
    """A rule that the API server would refuse with the CRD. `path` leads from the schema to the rule's text."""

    path: Path
    message: str
    rule: str


class _Rule:
    """One rule, compiled when it is first needed."""

    def __init__(self, written: Mapping[str, Any], schema: Mapping[str, Any], minor: int, *, root: bool) -> None:
        self.text = str(written.get("rule") or "")
        self.message = str(written.get("message") or "").strip()
        self._expression = written.get("messageExpression")
        self.field_path = parse_field_path(str(written.get("fieldPath") or ""))
        self.has_old = bool(_OLD.search(self.text))
        self.is_optional = written.get("optionalOldSelf") is True
        self._schema, self._minor, self._root = schema, minor, root
        self._program: Program | None = None
        self._convert: Convert | None = None

    def program(self) -> Program:
        """The compiled rule. Raises CompileError and UnsupportedError."""
        if self._program is None:
            self._convert = converter(self._schema)
            self._program = compile_expression(self.text, self._variables(), minor=self._minor, bindings=False)
        return self._program

    def _variables(self) -> dict[str, Any]:
        kind = declared_type(self._schema, root=self._root)
        return {"self": kind, "oldSelf": ("optional", kind) if self.is_optional else kind}

    def message_for(self, value: Any) -> str:
        """What the server would say: the computed message, the written one, or the rule."""
        plain = self.message or f"failed rule: {self.text.strip()}"
        if not self._expression:
            return plain
        try:
            found = compile_expression(
                str(self._expression), self._variables(), minor=self._minor, wanted="string"
            ).evaluate({"self": value, "oldSelf": NONE})
        except (CompileError, EvaluationError, UnsupportedError):
            return plain
        sound = isinstance(found, str) and found.strip() and "\n" not in found
        return found.strip() if sound else plain

    def judge(self, value: Any) -> str | None:
        """Why a new value breaks the rule; None when it doesn't. Raises CompileError and UnsupportedError."""
        program = self.program()
        value = self._convert(value) if self._convert else value
        try:
            kept = program.evaluate({"self": value, "oldSelf": NONE})
        except EvaluationError as error:
            return f"{error} evaluating rule: {self.message or self.text.strip()}"
        return None if kept is True else self.message_for(value)


class _Place:
    """The rules at one place of a schema, and the places below that have some."""

    def __init__(
        self, rules: list[_Rule], fields: dict[str, _Place], items: _Place | None, values: _Place | None
    ) -> None:
        self.rules = rules
        self.fields = fields
        self.items = items
        self.values = values

    def check(self, value: Any, path: Path) -> Iterator[Failure | Unjudged]:
        if value is None:
            return
        for rule in self.rules:
            # On create there is no old value, and a rule about changes is not asked.
            if rule.has_old and not rule.is_optional:
                continue
            try:
                message = rule.judge(value)
            except (CompileError, UnsupportedError) as error:
                yield Unjudged(path, f"a rule of the CRD can't be judged: {error}")
                continue
            if message is not None:
                yield Failure((*path, *rule.field_path), message, rule.text.strip())
        if isinstance(value, dict):
            for name, place in self.fields.items():
                if name in value:
                    yield from place.check(value[name], (*path, name))
            if self.values is not None:
                for name, item in value.items():
                    yield from self.values.check(item, (*path, name))
        elif isinstance(value, list) and self.items is not None:
            for index, item in enumerate(value):
                yield from self.items.check(item, (*path, index))


class Expressions:
    """All rules of one version of a custom kind, for a Kubernetes minor (the number after "1.")."""

    def __init__(self, schema: Mapping[str, Any], minor: int) -> None:
        self._schema = schema
        self._minor = minor

    @cached_property
    def _root(self) -> _Place | None:
        return _place(self._schema, self._minor, root=True)

    def check(self, obj: Any) -> Iterator[Failure | Unjudged]:
        """Every rule that a new object breaks, and those that can't be judged. The object has its defaults."""
        if self._root is not None:
            yield from self._root.check(obj, ())


def _place(schema: Mapping[str, Any], minor: int, *, root: bool = False) -> _Place | None:
    written = schema.get("x-kubernetes-validations")
    rules = [
        _Rule(item, schema, minor, root=root)
        for item in (written if isinstance(written, list) else ())
        if isinstance(item, Mapping)
    ]
    fields = {}
    for name, child in (schema.get("properties") or {}).items():
        place = _place(child, minor) if isinstance(child, Mapping) else None
        if place is not None:
            fields[name] = place
    items, more = schema.get("items"), schema.get("additionalProperties")
    below = _place(items, minor) if isinstance(items, Mapping) else None
    values = _place(more, minor) if isinstance(more, Mapping) else None
    return _Place(rules, fields, below, values) if rules or fields or below or values else None


def wrong_rules(schema: Mapping[str, Any], minor: int, path: Path = (), *, root: bool = True) -> Iterator[WrongRule]:
    """The rules of a schema that don't compile, or give no bool."""
    written = schema.get("x-kubernetes-validations")
    for index, item in enumerate(written if isinstance(written, list) else ()):
        if not isinstance(item, Mapping) or not isinstance(item.get("rule"), str):
            continue
        rule = _Rule(item, schema, minor, root=root)
        at = (*path, "x-kubernetes-validations", index, "rule")
        if not rule.text.strip():
            yield WrongRule(at, "the rule is empty", "")
            continue
        try:
            rule.program()
        except CompileError as error:
            yield WrongRule(at, error.message, rule.text.strip())
        except UnsupportedError:
            continue
    for name, child in (schema.get("properties") or {}).items():
        if isinstance(child, Mapping):
            yield from wrong_rules(child, minor, (*path, "properties", name), root=False)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            yield from wrong_rules(schema[key], minor, (*path, key), root=False)


def parse_field_path(text: str) -> Path:
    """The steps of a rule's fieldPath (`.spec.a`, `['a-b']`); what can't be read is left out."""
    return tuple(
        found[1] or (int(found[3]) if found[3] is not None else found[2].replace("\\'", "'"))
        for found in _FIELD.finditer(text)
    )
