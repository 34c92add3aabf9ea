"""CEL: Kubernetes' probes, recorded verdicts of the API server's own CEL, and that nothing breaks it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from cel_random import SCHEMA, VALUE, expression
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.schema.cel import CelError, CompileError, EvaluationError, UnsupportedError, compile_expression
from llmdctl.schema.expressions import Expressions, Failure, wrong_rules
from llmdctl.schema.selectors import compile_selector

MINOR = 36
PAIRS: list[list[str]] = json.loads(Path(__file__).with_name("pairs.json").read_text(encoding="utf-8"))["pairs"]


def value_of(text: str, **variables: Any) -> Any:
    """The value of an expression over variables of unknown types."""
    program = compile_expression(text, dict.fromkeys(variables, "dyn"), minor=MINOR, wanted="")
    return program.evaluate(variables)


def test_the_probes_of_kubernetes_semantics(shared: Path) -> None:
    data = json.loads((shared / "corpus" / "cel-probes.json").read_text(encoding="utf-8"))
    assert len(data["probes"]) == 37
    for probe in data["probes"]:
        try:
            found = value_of(probe["expr"], self=data["self"])
        except CelError:
            found = "error"
        assert found == probe["expect"], probe["expr"]


def verdict(rule: str) -> str:
    """`compile`, `error`, `false`, `true` or `unjudged`, for a rule at a place with the random rules' schema."""
    schema = {**SCHEMA, "x-kubernetes-validations": [{"rule": rule}]}
    if list(wrong_rules(schema, MINOR, root=False)):
        return "compile"
    outcomes = list(Expressions({"type": "object", "properties": {"p": schema}}, MINOR).check({"p": VALUE}))
    if not outcomes:
        return "true"
    (outcome,) = outcomes
    if not isinstance(outcome, Failure):
        return "unjudged"
    return "error" if "evaluating rule" in outcome.message else "false"


def test_recorded_verdicts_of_the_api_server() -> None:
    assert len(PAIRS) > 1000
    assert {said for _, said in PAIRS} == {"compile", "error", "false", "true"}
    differing = [(rule, said, ours) for rule, said in PAIRS if (ours := verdict(rule)) != said]
    assert differing == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 / -2", -3), ("-7 % 3", -1), ("5u - 2u", 3), ("1.0 / 0.0 > 1.0", True), ("0x1F", 31), ("1 < 1.5", True),
        ("b'\\xff'.size()", 1), ('r"\\n".size()', 2), ("'\\u00e9' == 'é'", True), ("'''a\nb'''.size()", 3),
        ("{'a': 1, 'b': 2}.map(k, k).size()", 2), ("[1, 2, 3].map(x, x > 1, x * 10)", [20, 30]),
        ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}), ("[3, 1, 2].sort()", [1, 2, 3]),
        ("[[[1]], [[2], [3]]].flatten()", [[1], [2], [3]]), ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
        ("'%s is %d, %.2f and %x'.format(['a', 3, 1.005, 255])", "a is 3, 1.00 and ff"),
        ("type(1) == int && type('a') != int", True), ("string(1.5) + string(true)", "1.5true"),
        ("timestamp('2026-12-01T10:00:00+02:00').getHours()", 8), ("string(duration('90m'))", "5400s"),
        ("timestamp('2026-12-01T23:00:00Z').getHours('Europe/Berlin')", 0),
        ("quantity('1.5k').asInteger()", 1500), ("quantity('100m').isInteger()", False),
        ("url('https://u@a.b:8080/c?d=e').getHostname()", "a.b"), ("ip.isCanonical('::0001')", False),
        ("cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')", True), ("semver('v1.2', true).minor()", 2),
        ("format.dns1123Label().validate('A').hasValue()", True), ("isSemver('1.02.3')", False),
        ("[1, 2].exists(x, 1 / (x - 1) > 0)", True), ("false && (1 / 0 == 1)", False), ("dyn(1) == 1u", True),
        ("{'a': {?'b': optional.none()}}.a.size()", 0), ("optional.of(2).optMap(x, x * 2).value()", 4),
        ("[dyn(1), dyn(1.0), dyn(2)].distinct().size()", 2), ("'été'.upperAscii()", "éTé"), ("true ? 1 : 1 / 0", 1),
    ],
)  # fmt: skip
def test_values(text: str, value: Any) -> None:
    found = value_of(text)
    assert found == value
    assert isinstance(found, bool) is isinstance(value, bool)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "unexpected"), ("'a", "does not end"), ("a b", "expecting the end"),
        ("1 + 'a'", "no matching overload"),
        ("nothing(1)", "undeclared reference to 'nothing'"), ("x.y", "undeclared reference to 'x'"), ("if", "reserved"),
        ("has(self)", "invalid argument to has"), ("[1].all(1, true)", "simple name"),
        ("9223372036854775808", "invalid int"),
        ("'a'.size() && true", "no matching overload"), ("1.all(x, true)", "cannot be range"),
        ("'\\q'", "invalid escape"),
        ("timestamp('never') == timestamp('never')", "invalid timestamp argument"), ("'a'.matches('(')", "regexp"),
        ("[1].map(x, y)", "undeclared reference to 'y'"), ("{1: 2}.foo()", "undeclared reference to 'foo'"),
    ],
)  # fmt: skip
def test_what_does_not_compile(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message.replace("(", r"\(")):
        compile_expression(text, {}, minor=MINOR, wanted="")


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775807 + 1", "-9223372036854775807 - 2", "0u - 1u", "1 / 0", "1 % 0", "[1][1]", "{'a': 1}['b']",
        "int(1e300)", "'a'.substring(2, 1)", "dyn('a') < dyn(1)", "duration('1h') * dyn(2)", "optional.none().value()",
        "{'a': 1, 'a': 2}.size() == 2", "['a'].max() == [].max()", "quantity('1 GB').sign() == 1",
    ],
)  # fmt: skip
def test_errors(text: str) -> None:
    with pytest.raises((EvaluationError, CompileError)):
        value_of(text)


def test_libraries_come_with_minors() -> None:
    for text, since in (("[1].first().hasValue()", 34), ("isSemver('1.2.3')", 33), ("sets.contains([1], [1])", 29)):
        assert compile_expression(text, {}, minor=since).evaluate({}) is True
        with pytest.raises(CompileError):
            compile_expression(text, {}, minor=since - 1)


def test_work_is_limited() -> None:
    many = list(range(1500))
    with pytest.raises(UnsupportedError, match="costs more"):
        value_of("self.all(x, self.all(y, self.exists(z, z > x + y)))", self=many)
    assert value_of("self.all(x, x >= 0)", self=many) is True


@pytest.mark.parametrize("text", ["(" * 500 + "1" + ")" * 500, "[" * 500, "!" * 5000 + "true", "1" + "+1" * 20_000])
def test_depth_is_limited(text: str) -> None:
    try:
        value_of(text)
    except CelError as error:
        assert str(error)


@given(st.text(max_size=60))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    try:
        compile_expression(text, {"self": "dyn"}, minor=MINOR, wanted="").evaluate({"self": {"a": 1}})
    except CelError as error:
        assert str(error)


@given(st.integers(), st.sampled_from(["bool", "int", "string", "list<int>", "quantity"]))
def test_random_expressions_give_a_value_or_an_error(seed: int, kind: str) -> None:
    rule = expression(random.Random(seed), kind, 4)  # noqa: S311 - repeatable
    try:
        value_of(rule, self=VALUE)
    except CelError as error:
        assert str(error)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, st.integers())
def test_values_of_any_shape_give_a_value_or_an_error(value: Any, seed: int) -> None:
    rule = expression(random.Random(seed), "bool", 3)  # noqa: S311 - repeatable
    try:
        value_of(rule, self=value)
    except CelError as error:
        assert str(error)


@pytest.mark.parametrize(
    "text",
    [
        'device.driver == "gpu.nvidia.com"',
        'device.attributes["gpu.nvidia.com"].driverVersion.isGreaterThan(semver("570.0.0"))',
        'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0',
        'cel.bind(dra, device.attributes["dra.net"], dra.rdma && dra.numaNode == 0)',
        '"rdma" in device.attributes["dra.net"] && device.attributes["dra.net"].rdma',
        'device.attributes["gpu.nvidia.com"].productName.lowerAscii().matches("h[12]00")',
    ],
)
def test_selectors_of_devices(text: str) -> None:
    assert compile_selector(text, MINOR).result in ("bool", "dyn")


@pytest.mark.parametrize(
    "text",
    ["devce.driver == 'a'", "device.drver == 'a'", "device.driver", "device.driver == 1", "device.driver ==", "1"],
)
def test_selectors_that_the_server_refuses(text: str) -> None:
    with pytest.raises(CompileError):
        compile_selector(text, MINOR)


def test_whether_devices_are_shared_is_known_since_1_34() -> None:
    assert compile_selector("device.allowMultipleAllocations == true", 34)
    with pytest.raises(CompileError, match="undefined field"):
        compile_selector("device.allowMultipleAllocations == true", 33)
