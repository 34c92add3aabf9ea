"""Typed loading of plain data: one declaration loads, dumps and describes itself as JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.manifest.typed import TypedError, doc, dump, faults, fields_of, json_schema, load, nearest, surely_meant


class Colour(StrEnum):
    """Some choices."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """A part."""

    size: int = field(metadata=doc("Size.", minimum=1, maximum=9))
    word: str | None = field(default=None, metadata=doc("Word.", pattern="[a-z]+", max_length=5, examples=["abc"]))


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A whole."""

    long_name: str = field(default="x", metadata=doc("Renamed to camelCase."))
    odd: bool = field(default=False, metadata=doc("Key of its own.", key="KVOdd"))
    ratio: float | None = field(default=None, metadata=doc("Number."))
    mode: Literal["fast", "slow"] = field(default="fast", metadata=doc("Choice."))
    colour: Colour | None = field(default=None, metadata=doc("Enumeration."))
    leaf: Leaf | None = field(default=None, metadata=doc("Part."))
    leaves: list[Leaf] = field(default_factory=list, metadata=doc("Parts."))
    pair: tuple[int, ...] = field(default=(), metadata=doc("Numbers."))
    labels: dict[str, str] | None = field(default=None, metadata=doc("Free map."))
    amount: int | Leaf | None = field(default=None, metadata=doc("Either."))
    anything: Any = field(default=None, metadata=doc("Free."))


def problems(data: Any, cls: type = Tree) -> list[str]:
    with pytest.raises(TypedError) as caught:
        load(cls, data)
    return [str(problem) for problem in caught.value.problems]


def fixes(data: Any) -> list[str]:
    with pytest.raises(TypedError) as caught:
        load(Tree, data)
    return [problem.fix for problem in caught.value.problems]


FULL: dict[str, Any] = {
    "longName": "y",
    "KVOdd": True,
    "ratio": 1,
    "mode": "slow",
    "colour": "blue",
    "leaf": {"size": 3, "word": "abc"},
    "leaves": [{"size": 1}, {"size": 2}],
    "pair": [1, 2],
    "labels": {"a/b": "c"},
    "amount": {"size": 4},
    "anything": {"deep": [None, {"x": 1.5}]},
}


def test_loads_every_kind_of_field() -> None:
    tree = load(Tree, FULL)
    assert tree == Tree(
        long_name="y", odd=True, ratio=1, mode="slow", colour=Colour.BLUE, leaf=Leaf(size=3, word="abc"),
        leaves=[Leaf(size=1), Leaf(size=2)], pair=(1, 2), labels={"a/b": "c"}, amount=Leaf(size=4),
        anything={"deep": [None, {"x": 1.5}]},
    )  # fmt: skip


def test_dump_is_the_inverse_and_leaves_defaults_out() -> None:
    assert dump(load(Tree, FULL)) == FULL
    assert dump(Tree()) == {}
    assert dump(Tree(leaves=[], mode="fast", labels={})) == {"labels": {}}


def test_absent_and_null_take_the_default() -> None:
    assert load(Tree, {}) == Tree()
    assert load(Tree, {"longName": None, "leaves": None, "leaf": None}) == Tree()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, "expected a map, got nothing"),
        ([], "expected a map, got a list"),
        ({"longName": 1}, "longName: expected a string, got the number 1"),
        ({"longName": True}, "longName: expected a string, got the boolean true"),
        ({"KVOdd": "yes"}, "KVOdd: expected true or false, got the string 'yes'"),
        ({"KVOdd": 1}, "KVOdd: expected true or false, got the number 1"),
        ({"ratio": "1"}, "ratio: expected a number, got the string '1'"),
        ({"ratio": True}, "ratio: expected a number, got the boolean true"),
        ({"mode": "medium"}, "mode: 'medium' is not one of: fast, slow"),
        ({"mode": ["fast"]}, "mode: a list is not one of: fast, slow"),
        ({"colour": "green"}, "colour: 'green' is not one of: red, blue"),
        ({"leaf": {"size": True}}, "leaf.size: expected a whole number, got the boolean true"),
        ({"leaf": {"size": 1.5}}, "leaf.size: expected a whole number, got the number 1.5"),
        ({"leaf": {"size": 0}}, "leaf.size: 0 is less than 1"),
        ({"leaf": {"size": 10}}, "leaf.size: 10 is more than 9"),
        ({"leaf": {"size": None}}, "leaf.size: expected a whole number, got nothing"),
        ({"leaf": {}}, "leaf: field 'size' is missing"),
        ({"leaf": {"size": 1, "word": "ABC"}}, "leaf.word: 'ABC' does not match [a-z]+"),
        ({"leaf": {"size": 1, "word": "abc\n"}}, "leaf.word: 'abc\\n' does not match [a-z]+"),
        ({"leaf": {"size": 1, "word": "abcdef"}}, "leaf.word: longer than 5 characters"),
        ({"leaves": {"size": 1}}, "leaves: expected a list, got a map"),
        ({"leaves": [{"size": 1}, {"size": "x"}]}, "leaves[1].size: expected a whole number, got the string 'x'"),
        ({"labels": {"a": 1}}, "labels.a: expected a string, got the number 1"),
        ({"labels": {"a": None}}, "labels.a: expected a string, got nothing"),
        ({"labels": {7: "x"}}, "labels: key 7 is not a string"),
        ({"amount": "x"}, "amount: expected a whole number, got the string 'x'"),
        ({"amount": {"size": "x"}}, "amount.size: expected a whole number, got the string 'x'"),
        ({"longNmae": 1}, "longNmae: unknown field 'longNmae'"),
        ({7: 1}, "7: unknown field '7'"),
    ],
)
def test_says_what_does_not_fit_and_where(data: Any, expected: str) -> None:
    assert problems(data) == [expected]


def test_finds_every_fault_at_once() -> None:
    found = problems({"longName": 1, "leaf": {"sise": 1}, "leaves": [{}, {"size": 0}], "mode": "x"})
    assert [text.partition(":")[0] for text in found] == [
        "longName", "leaf.sise", "leaf", "leaves[0]", "leaves[1].size", "mode",
    ]  # fmt: skip


def test_fixes_suggest_what_was_meant() -> None:
    assert fixes({"longNmae": "x"}) == ["did you mean 'longName'?"]
    assert fixes({"KVODD": True}) == ["did you mean 'KVOdd'?"]
    assert fixes({"mode": "fsat"}) == ["did you mean 'fast'?"]
    assert fixes({"longName": 1}) == ["put it in quotes"]
    (all_fields,) = fixes({"zzz": 1})
    assert all_fields == "known fields: " + ", ".join(fields_of(Tree))


def test_long_values_are_cut_in_messages() -> None:
    (message,) = problems({"KVOdd": "x" * 10_000})
    assert len(message) < 150


def test_faults_checks_one_value_with_the_bounds_of_its_field() -> None:
    kind, metadata = fields_of(Leaf)["size"][1], fields_of(Leaf)["size"][0].metadata
    assert faults(kind, 3, ("a", 0), metadata) == []
    assert [str(fault) for fault in faults(kind, 0, ("a", 0), metadata)] == ["a[0]: 0 is less than 1"]
    assert faults(list[str], ["x"]) == []


@pytest.mark.parametrize(("word", "expected"), [("prefil", "prefill"), ("DECODE", "decode"), ("zzz", ""), ("", "")])
def test_nearest(word: str, expected: str) -> None:
    assert nearest(word, ["prefill", "decode"]) == expected


def test_schema_describes_the_type() -> None:
    schema = json_schema(Tree, identifier="urn:tree", title="Tree")
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["$id"], schema["title"], schema["$ref"]) == ("urn:tree", "Tree", "#/$defs/Tree")
    leaf = schema["$defs"]["Leaf"]
    assert leaf["required"] == ["size"]
    assert leaf["additionalProperties"] is False
    size = leaf["properties"]["size"]
    assert (size["minimum"], size["maximum"], size["description"]) == (1, 9, "Size.")
    assert leaf["properties"]["word"]["examples"] == ["abc"]
    assert set(schema["$defs"]["Tree"]["properties"]) == set(FULL)


VALIDATOR = jsonschema.Draft202012Validator(json_schema(Tree, identifier="urn:tree", title="Tree"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 12) | st.floats(-2, 12) | st.sampled_from(["", "abc", "abcdefg"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["size", "word", "a"]), inner, max_size=3)
    ),
    max_leaves=4,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from([*FULL, "unknown"]), VALUES, max_size=4))
def test_loader_and_schema_agree(data: dict[str, Any]) -> None:
    try:
        loaded = load(Tree, data)
    except TypedError:
        accepted = False
    else:
        accepted = True
        assert load(Tree, dump(loaded)) == loaded
    # JSON Schema calls 2.0 an integer; a reader of YAML never hands out a whole float.
    if not _has_whole_float(data):
        assert VALIDATOR.is_valid(data) is accepted


def _has_whole_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_whole_float, value.values()))
    if isinstance(value, list):
        return any(map(_has_whole_float, value))
    return isinstance(value, float) and value.is_integer()


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("replica", ["replicas", "revisionHistoryLimit"], "replicas"),
        ("spce", ["spec", "status", "kind"], "spec"),
        ("prots", ["ports", "type"], "ports"),
        ("clusterip", ["ClusterIP", "NodePort"], "ClusterIP"),
        ("selecto", ["selector", "selector", "sessionAffinity"], "selector"),
        ("terminationGracePeriods", ["terminationGracePeriodSeconds", "tolerations"], "terminationGracePeriodSeconds"),
        ("volume", ["volumeMounts", "volumeDevices"], ""),
        ("cat", ["bat", "rat"], ""),
        ("fp9", ["fp8", "auto"], ""),
        ("v1", ["v2"], ""),
        ("a", ["b"], ""),
        ("Aa", ["aA", "aa"], ""),
        ("x", [], ""),
        ("", ["x"], ""),
    ],
)
def test_what_can_only_be_meant(word: str, known: list[str], meant: str) -> None:
    assert surely_meant(word, known) == meant
