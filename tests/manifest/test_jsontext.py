from __future__ import annotations

import json

import pytest

from llmdctl.manifest import read_text
from llmdctl.manifest.jsontext import read_json


def test_json_strings_are_read_by_json_rules() -> None:
    value = {"emoji": "\U0001f600", "tab\t": "\u0007", "slash": "/", "word": "yes"}
    text = json.dumps(value).replace("/", "\\/")
    assert "\\ud83d" in text
    assert read_text(text, "f").documents[0].object == value


def test_values_one_after_the_other() -> None:
    reading = read_text('{"a": 1}\n{"b": 2}{"c": 3}\n', "f")
    assert [(d.object, d.source.line, d.source.column) for d in reading.documents] == [
        ({"a": 1}, 1, 1),
        ({"b": 2}, 2, 1),
        ({"c": 3}, 2, 9),
    ]


def test_documents_between_dashes_go_to_the_yaml_reader() -> None:
    assert [d.object for d in read_text('{"a": 1}\n---\n{"b": yes}\n', "f").documents] == [{"a": 1}, {"b": True}]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        "{a: 1}",
        "[1]",
        "a: 1",
        '{"a": 1',
        '{"a": "\\ud83d"}',
        '{"a":' * 5000,
    ],
)
def test_what_is_not_plain_json(text: str) -> None:
    assert read_json(text.encode()) is None


def test_numbers() -> None:
    text = '{"a": 9223372036854775808, "b": %s, "c": -9223372036854775809, "d": 1.5}' % ("9" * 30)
    (document,) = read_text(text, "f").documents
    assert document.object == {"a": 2**63, "b": 1e30, "c": -9.223372036854775809e18, "d": 1.5}
    assert [type(value) for value in document.object.values()] == [int, float, float, float]


def test_broken_json_has_a_place() -> None:
    (error,) = read_text('{\n  "a": 1\n  "b": 2\n}\n', "f.json").errors
    assert error.source is not None
    assert error.source.line in (1, 3)
