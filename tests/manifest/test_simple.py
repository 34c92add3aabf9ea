"""The line reader gives what the full reader gives, or gives up."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llmdctl.manifest.construct import DocumentReader
from llmdctl.manifest.emit import emit_yaml
from llmdctl.manifest.faults import YamlFault
from llmdctl.manifest.raw import RawDocument, Scalars
from llmdctl.manifest.simple import Lines, read_simple


def fully(text: str) -> list[RawDocument] | None:
    try:
        return list(DocumentReader(text.encode()))
    except (yaml.YAMLError, YamlFault):
        return None


def simply(text: str) -> list[RawDocument] | None:
    return read_simple(text.encode(), Lines(Scalars()))


def assert_same(text: str) -> None:
    """Where the line reader has an answer, it is the full reader's, to the type of each scalar."""
    found = simply(text)
    if found is not None:
        assert repr(found) == repr(fully(text)), text


MANIFEST = """\
# a comment
---
apiVersion: v1   # with a reason
kind: ConfigMap
metadata:
  name: a
  labels: {}
  "nvidia.com/gpu": '1'
data:
  script.sh: |
    #!/bin/sh
      echo "a: b"

    exit 0

  last: |-
    one
list:
- name: x
  args:
  - --port=8000
  - "--flag"
  -   key:   yes
      other: 0o17
- []
- -5
empty:
after: a:b#c  d

---
  a: 1
  b:
    - 1.0
    - ~
"""


def test_a_usual_manifest_is_read_without_the_full_reader() -> None:
    found = simply(MANIFEST)
    assert found is not None
    assert repr(found) == repr(fully(MANIFEST))
    assert found[0].value["data"] == {"script.sh": '#!/bin/sh\n  echo "a: b"\n\nexit 0\n', "last": "one"}
    assert found[0].value["list"] == [
        {"name": "x", "args": ["--port=8000", "--flag", {"key": True, "other": 15}]},
        [],
        -5,
    ]
    assert found[0].value["empty"] is None
    assert (found[1].line, found[1].column, found[1].index) == (31, 3, 1)


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a:\n  b: 1\n  b:\n    c: 1\n"])
def test_repeated_keys_are_seen(text: str) -> None:
    found = simply(text)
    assert found is not None
    assert found[0].repeats_keys
    assert repr(found) == repr(fully(text))


OUTSIDE = {
    "flow mapping": "a: {b: 1}\n",
    "flow list": "a: [1]\n",
    "anchor": "a: &x 1\n",
    "alias": "a: *x\n",
    "tag": "a: !!str 1\n",
    "folded": "a: >\n  b\n",
    "kept newlines": "a: |+\n  b\n\n",
    "indicated indent": "a: |2\n   b\n",
    "escape": 'a: "\\n"\n',
    "doubled quote": "a: 'it''s'\n",
    "two lines": "a: b\n  c\n",
    "quoted over two lines": 'a: "b\n  c"\n',
    "merge": "<<: {a: 1}\n",
    "key of another type": "1: a\n",
    "key that is a word": "y: a\n",
    "explicit key": "? a\n: b\n",
    "list at the top": "- a\n",
    "scalar at the top": "a\n",
    "nested dashes": "a:\n- - b\n",
    "tab": "a:\tb\n",
    "carriage return": "a: b\r\n",
    "control character": "a: \x07\n",
    "line separator": "a: b\u2028c\n",
    "document end": "a: b\n...\n",
    "directive": "%YAML 1.1\n---\na: b\n",
    "text at the separator": "--- a: b\n",
    "empty document": "a: b\n---\n---\nb: c\n",
    "separator at the end": "a: b\n---\n",
    "misplaced key": "a:\n    b: 1\n  c: 1\n",
    "outdented key": "  a: 1\nb: 1\n",
    "list beside keys": "a: 1\n- b\n",
    "not a number that JSON has": "a: .inf\n",
    "literal without text": "a: |\nb: 1\n",
    "literal that begins blank": "a: |\n\n  b\n",
    "literal with a tab for indentation": "a: |\n \tb\n",
    "empty item": "a:\n-\n- b\n",
    "deep": "".join(f"{' ' * depth}a:\n" for depth in range(150)),
}


@pytest.mark.parametrize("text", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_what_lies_outside_is_left_to_the_full_reader(text: str) -> None:
    assert simply(text) is None


PIECES = st.sampled_from(
    [
        *("a:", "b:", "a: 1", "b: x", "- a", "- a: 1", "- b:", "- ", "-", "---", "--- ", "...", "", " ", "# c", "a: |"),
        *("- |", "a: |-", "b: |+", "a: []", "- {}", "a: {b: 1}", 'a: "x"', "'a': x", '"b": y', "a: 'x' # c", "a: b: c"),
        *("a: -", "a: - b", "a: b #c", "a: b#c", "a: :b", "a: b:", "a:b", "-a: 1", "a: ?x", "? a", "a: 0x1f", "y: n"),
        *("a: b ", "- a: |", "- a:  b  c", "a: \tb", "\ta: b", "a: b\t", "--x", "- --x", "a: ---", "- ---", "a: .nan"),
        *("a: 1_0", "a: =", "=: a", "a: @x", "a: %x", "a: `x", "!x a", "a: é", "a: \xa0x", "a: \x85", "a: ~", "~: a"),
        *(
            "{}",
            "[]",
            '"a"',
            "a: ''",
            'a: ""',
            'a: "" x',
            "a: <<",
            "<<:",
            "a: !",
            "a: x!",
            "a/b.c-d: 1",
            ".: 1",
            "a: .5",
        ),
    ]
)
TEXTS = st.lists(st.tuples(st.integers(0, 6), PIECES), max_size=12).map(
    lambda lines: "\n".join(" " * indent + piece for indent, piece in lines)
)


@settings(max_examples=3000, deadline=None)
@given(TEXTS, st.sampled_from(["", "\n"]))
@example("a: |\n  b\n ", "")
@example("a:\n  - b:\n    - c\n  - d", "")
@example("a: |\n  b\n   \n  \n c: 1", "\n")
def test_random_lines(text: str, end: str) -> None:
    assert_same(text + end)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20
)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=5))
def test_what_we_write(value: dict[str, Any]) -> None:
    assert_same(emit_yaml(value))
