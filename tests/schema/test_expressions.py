"""Rules of CRDs: names, formats, messages, places."""

from __future__ import annotations

from typing import Any

import pytest

from llmdctl.schema import SchemaStore
from llmdctl.schema.custom import bundled_kind, bundled_kinds
from llmdctl.schema.declared import escaped
from llmdctl.schema.expressions import Expressions, Failure, Unjudged, parse_field_path, wrong_rules

MINOR = 36


def failures(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    """Path and message of every rule that a value breaks."""
    outcomes = list(Expressions({"type": "object", "properties": {"p": schema}}, MINOR).check({"p": value}))
    assert all(isinstance(item, Failure) for item in outcomes), outcomes
    return [(".".join(map(str, item.path)), item.message) for item in outcomes if isinstance(item, Failure)]


def obj(rule: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "x-kubernetes-validations": [rule]}


INT = {"type": "integer"}
TEXT = {"type": "string"}


def test_every_bundled_rule_compiles() -> None:
    count = 0
    for group, kind in bundled_kinds():
        found = bundled_kind(group, kind, "1.0")
        assert found is not None
        for version in found.versions:
            schema = found.schema_of(version)
            assert list(wrong_rules(schema, MINOR)) == [], (group, kind, version)
            count += str(schema).count("'rule':")
    assert count > 150


def test_messages_and_places() -> None:
    rule = {"rule": "self.a < self.b", "message": "a comes before b", "fieldPath": ".a"}
    assert failures(obj(rule, a=INT, b=INT), {"a": 2, "b": 1}) == [("p.a", "a comes before b")]
    plain = {"rule": "self.a < self.b "}
    assert failures(obj(plain, a=INT, b=INT), {"a": 2, "b": 1}) == [("p", "failed rule: self.a < self.b")]
    computed = {"rule": "self.a < 1", "message": "no", "messageExpression": "'a is ' + string(self.a)"}
    assert failures(obj(computed, a=INT), {"a": 2}) == [("p", "a is 2")]
    broken = {"rule": "self.a < 1", "message": "no", "messageExpression": "string(1 / 0)"}
    assert failures(obj(broken, a=INT), {"a": 2}) == [("p", "no")]
    missing = {"rule": "self.a < 1", "message": "no"}
    assert failures(obj(missing, a=INT), {}) == [("p", "no such key: a evaluating rule: no")]


def test_lists_maps_and_nothing() -> None:
    schema = {
        "type": "array",
        "items": {**INT, "x-kubernetes-validations": [{"rule": "self > 0", "message": "above 0"}]},
    }
    assert failures(schema, [1, 0, -1]) == [("p.1", "above 0"), ("p.2", "above 0")]
    mapped = {"type": "object", "additionalProperties": schema["items"]}
    assert failures(mapped, {"a": 0, "b": 2}) == [("p.a", "above 0")]
    assert failures(schema, None) == []


def test_names_are_escaped() -> None:
    words = {
        "namespace": "__namespace__",
        "a-b": "a__dash__b",
        "a.b": "a__dot__b",
        "a/b": "a__slash__b",
        "a__b": "a__underscores__b",
    }
    for name, word in words.items():
        assert escaped(name) == word
        assert failures(obj({"rule": f"self.{word} == 'x'"}, **{name: TEXT}), {name: "x"}) == []
    assert escaped("a b") is None


def test_formats_are_values() -> None:
    rule = {
        "rule": "self.at < timestamp('2027-01-01T00:00:00Z') && self.day.getDate() == 2 && self.span > duration('1m')"
    }
    properties = {
        "at": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "span": {"type": "string", "format": "duration"},
    }
    value = {"at": "2026-01-01T00:00:00Z", "day": "2026-03-02", "span": "90s"}
    assert failures(obj(rule, **properties), value) == []
    assert failures(obj({"rule": "self.d == 1.0"}, d={"type": "number"}), {"d": 1}) == []
    assert failures(obj({"rule": "self.raw == b'ab'"}, raw={"type": "string", "format": "byte"}), {"raw": "YWI="}) == []
    assert (
        failures(
            obj({"rule": "type(self.u) == int || self.u == '5%'"}, u={"x-kubernetes-int-or-string": True}), {"u": 3}
        )
        == []
    )


def test_rules_about_changes_are_not_asked_on_create() -> None:
    assert failures(obj({"rule": "self.a == oldSelf.a"}, a=INT), {"a": 1}) == []
    optional = {"rule": "!oldSelf.hasValue() || oldSelf.value().a == self.a", "optionalOldSelf": True}
    assert failures(obj(optional, a=INT), {"a": 1}) == []


def test_a_rule_that_costs_too_much_is_told() -> None:
    schema = obj(
        {"rule": "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))"}, l={"type": "array", "items": INT}
    )
    outcomes = list(Expressions({"type": "object", "properties": {"p": schema}}, MINOR).check({"p": {"l": [1] * 400}}))
    assert [type(item) for item in outcomes] == [Unjudged]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("self.c == 1", "undefined field 'c'"),
        ("self.a == 'x'", "no matching overload"),
        ("self.a", "must evaluate to bool"),
        ("", "empty"),
        ("authority.allowed()", "undeclared reference"),
    ],
)
def test_rules_that_the_server_refuses(rule: str, message: str) -> None:
    (found,) = wrong_rules(obj({"rule": rule}, a=INT), MINOR)
    assert message in found.message
    assert found.path == ("x-kubernetes-validations", 0, "rule")


def test_metadata_of_the_root_has_a_name() -> None:
    schema = {"type": "object", "properties": {}, "x-kubernetes-validations": [{"rule": "self.metadata.name == 'a'"}]}
    assert list(wrong_rules(schema, MINOR)) == []
    assert list(Expressions(schema, MINOR).check({"metadata": {"name": "a"}})) == []
    assert len(list(wrong_rules(schema, MINOR, root=False))) == 1


def test_field_paths() -> None:
    assert parse_field_path(".spec.a['b-c'][2].d") == ("spec", "a", "b-c", 2, "d")
    assert parse_field_path("") == ()


def test_the_store_hands_out_what_is_needed() -> None:
    schema = SchemaStore().lookup("gateway.networking.k8s.io/v1", "HTTPRoute")
    assert schema is not None
    assert getattr(schema, "structural", None) is not None
