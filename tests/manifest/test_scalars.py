"""Go's scalar rules: the answers of sigs.k8s.io/yaml 1.6.0 (go.yaml.in/yaml/v2 2.4.2) to `k: <text>`."""

from __future__ import annotations

import json
import math

import pytest

from llmdctl.manifest import read_text
from llmdctl.manifest.scalars import ScalarError, key_text, resolve, resolve_tagged

# text, the JSON that Go writes for it
GO_ANSWERS = [
    ("y", "true"),
    ("Y", "true"),
    ("n", "false"),
    ("N", "false"),
    ("yes", "true"),
    ("No", "false"),
    ("ON", "true"),
    ("Off", "false"),
    ("oN", '"oN"'),
    ("TRUE", "true"),
    ("tRue", '"tRue"'),
    ("t", '"t"'),
    ("False", "false"),
    ("~", "null"),
    ("", "null"),
    ("Null", "null"),
    ("nULL", '"nULL"'),
    ("0777", "511"),
    ("+0777", "511"),
    ("-017", "-15"),
    ("0o17", "15"),
    ("0O17", "15"),
    ("0o8", '"0o8"'),
    ("0x1F", "31"),
    ("-0x1F", "-31"),
    ("0x_1F", "31"),
    ("0x", '"0x"'),
    ("0x1p3", '"0x1p3"'),
    ("0b11", "3"),
    ("-0b11", "-3"),
    ("0b2", '"0b2"'),
    ("1_000", "1000"),
    ("1__0", "10"),
    ("_1", '"_1"'),
    ("+1", "1"),
    ("00", "0"),
    ("08", "8"),
    ("0_8", "8"),
    ("09.5", "9.5"),
    ("1e3", "1000"),
    ("1E3", "1000"),
    ("1.5e3", "1500"),
    ("1e_3", "1000"),
    ("1e", '"1e"'),
    ("123e4567", '"123e4567"'),
    ("1e400", '"1e400"'),
    ("1.0", "1"),
    ("1.", "1"),
    (".5", "0.5"),
    ("-.5", "-0.5"),
    (".", '"."'),
    (".1_0", "0.1"),
    (".1__0", '".1__0"'),
    ("4_0.5", "40.5"),
    ("12:30:45", '"12:30:45"'),
    ("1:30", '"1:30"'),
    ("2024-01-01", '"2024-01-01"'),
    ("2001-12-14t21:59:43.10-05:00", '"2001-12-14t21:59:43.10-05:00"'),
    ("=", '"="'),
    ("<<", '"<<"'),
    ("inf", '"inf"'),
    ("NaN", '"NaN"'),
    (".iNf", '".iNf"'),
    ("1.5.2", '"1.5.2"'),
    ("9223372036854775807", "9223372036854775807"),
    ("18446744073709551615", "18446744073709551615"),
    ("18446744073709551616", "1.8446744073709552e19"),
    ("-9223372036854775809", "-9.223372036854775809e18"),
    ("1e21", "1e21"),
    ("1e-7", "1e-7"),
    ("80Gi", '"80Gi"'),
]


@pytest.mark.parametrize(("text", "answer"), GO_ANSWERS)
def test_plain_scalar_means_what_it_means_to_go(text: str, answer: str) -> None:
    expected = json.loads(answer)
    value = resolve(text)
    assert value == expected
    assert type(value) is type(expected)
    assert read_text(f"k: {text}", "f").documents[0].object == {"k": expected}


@pytest.mark.parametrize("text", [".inf", "-.Inf", "+.INF", ".nan", ".NaN"])
def test_numbers_that_json_lacks_are_refused_with_their_place(text: str) -> None:
    assert not math.isfinite(resolve(text))  # type: ignore[arg-type]
    (error,) = read_text(f"a: 1\nk: {text}", "f.yaml").errors
    assert str(error.source) == "f.yaml:2:4"
    assert text in error.what


@pytest.mark.parametrize(
    ("tagged", "expected"),
    [
        ("!!str 5", "5"),
        ("!!str ~", "~"),
        ("!!int '5'", 5),
        ("!!float 5", 5),
        ("!!bool 'yes'", True),
        ("!!null ''", None),
        ("!!binary aGk=", "hi"),
        ("!!timestamp 2001-01-01", "2001-01-01"),
        ("!own 5", "5"),
        ("! 5", "5"),
        ("'5'", "5"),
        ('"yes"', "yes"),
    ],
)
def test_tags_and_quotes(tagged: str, expected: object) -> None:
    assert read_text(f"k: {tagged}", "f").documents[0].object == {"k": expected}


@pytest.mark.parametrize(
    ("tag", "text"), [("int", "abc"), ("bool", "foo"), ("null", "x"), ("binary", "%"), ("binary", "é"), ("int", "1.5")]
)
def test_text_that_does_not_fit_its_tag(tag: str, text: str) -> None:
    with pytest.raises(ScalarError):
        resolve_tagged(f"tag:yaml.org,2002:{tag}", text)
    (error,) = read_text(f"k: !!{tag} '{text}'", "f").errors
    assert error.source is not None
    assert error.source.line == 1


@pytest.mark.parametrize(
    ("key", "expected"),
    [("1", "1"), ("on", "true"), ("No", "false"), ("0x10", "16"), ("1e3", "1000"), ("1.5", "1.5"), (".inf", ".inf")],
)
def test_keys_become_text_as_in_go(key: str, expected: str) -> None:
    assert read_text(f"{key}: x", "f").documents[0].object == {expected: "x"}


def test_null_is_no_key() -> None:
    with pytest.raises(ScalarError):
        key_text(None)
    (error,) = read_text("a: 1\n~: x", "f").errors
    assert str(error.source) == "f:2:1"
