from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from llmdctl.manifest import read_text
from llmdctl.manifest.emit import emit_documents, emit_yaml
from llmdctl.manifest.reader import read_paths

HOSTILE = list("\t\n\r :#-?[]{},&*!|>'\"%@`~=<.0189eE+xy\\\x00\x1b\x7f\u0085\u00a0\u2028\u2029\ufeff\ufffe\U0001f600")
WORDS = [
    *("y", "No", "on", "~", "null", "Null", ".inf", "-.INF", ".nan", "1e3", "0o17", "08", "0x1F", "0b1", "1_0"),
    *("1:30", "12:30:45", "2024-01-01", "=", "<<", "{{ x }}", "%a", "---", "...", "--- a", "- a", "a: b", "a #b"),
    *("a\nb", "a\n\n", " a\nb", "a\n b\n", "\n", "\n\na", "a \nb", "\ta\nb", "-", "?", ":", "a:", " a", "a ", ""),
]
characters = st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(HOSTILE))
numbers_as_text = st.from_regex(r"[-+.]?[0-9][-0-9:.eEx_TZ+ ]{0,8}", fullmatch=True)
strings = st.one_of(st.text(characters, max_size=24), numbers_as_text, st.sampled_from(WORDS))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(-(2**53), 2**53), st.floats(0, 1e-5), strings
)


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(strings, inner, max_size=4)),
        max_leaves=12,
    )


@settings(max_examples=200, deadline=None)
@given(trees(scalars))
def test_what_is_written_is_read_back_equal(data: Any) -> None:
    reading = read_text(emit_yaml({"k": data}), "f")
    assert not reading.errors
    assert [document.object for document in reading.documents] == [{"k": data}]


@settings(max_examples=120, deadline=None)
@given(trees(strings))
def test_other_yaml_parsers_read_the_same_strings(data: Any) -> None:
    text = emit_yaml(data)
    assert yaml.load(text, yaml.CSafeLoader) == data
    assert yaml.safe_load(text) == data
    assert YAML(typ="safe", pure=True).load(text) == data  # a YAML 1.2 parser


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(strings, trees(scalars), min_size=1, max_size=3), max_size=4))
def test_streams_of_documents(documents: list[dict[str, Any]]) -> None:
    assert [document.object for document in read_text(emit_documents(documents), "f").documents] == documents


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"a": {"b": 1}, "c": []}, "a:\n  b: 1\nc: []\n"),
        ({"l": ["x", {"a": 1, "b": [2]}, [3, [4]], {}]}, "l:\n- x\n- a: 1\n  b:\n  - 2\n- - 3\n  - - 4\n- {}\n"),
        ({"s": "a\nb\n", "t": "a\nb", "u": "a\n\n"}, "s: |\n  a\n  b\nt: |-\n  a\n  b\nu: |+\n  a\n\n"),
        ({"l": [{"s": "a\nb\n"}, "c\nd"]}, "l:\n- s: |\n    a\n    b\n- |-\n  c\n  d\n"),
        ({"a": "8", "b": "true", "c": None, "d": False}, 'a: "8"\nb: "true"\nc: null\nd: false\n'),
        (["--port=8000", "vllm", "80Gi", '{"a":1}'], "- --port=8000\n- vllm\n- 80Gi\n- '{\"a\":1}'\n"),
        ({"f": 1e20, "g": 0.9}, "f: 1.0e+20\ng: 0.9\n"),
        ("x", "x\n"),
        ({}, "{}\n"),
    ],
)
def test_layout(data: Any, text: str) -> None:
    assert emit_yaml(data) == text


def test_long_text_is_not_folded_and_long_keys_are_explicit() -> None:
    data = {"k" * 3000: "word " * 500 + "end", "n": {"m\n" * 400: 1}, "l": [{"k" * 200: {"a": 1}}]}
    text = emit_yaml(data)
    assert yaml.safe_load(text) == data
    assert max(map(len, text.splitlines())) > 2500


@pytest.mark.parametrize("data", [{1: "a"}, {"a": object()}, {"a": float("inf")}, [float("nan")], {"a": b"x"}])
def test_what_yaml_for_kubernetes_cannot_hold(data: Any) -> None:
    with pytest.raises(TypeError):
        emit_yaml(data)


def test_corpus_round_trip(shared: Path) -> None:
    files = sorted((shared / "corpus").glob("*manifests*/*.yaml"))
    objects = [document.object for document in read_paths([str(file) for file in files]).documents]
    text = emit_documents(objects)
    assert [document.object for document in read_text(text, "f").documents] == objects
    assert emit_documents(objects) == text
