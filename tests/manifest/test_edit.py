"""Editing text: what isn't edited stays as it is written, and what can't be edited safely is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import ndiff
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmdctl.findings import Edit, Op
from llmdctl.manifest import read_text
from llmdctl.manifest.edit import edit_text
from llmdctl.manifest.edit_data import NotEditableError
from llmdctl.validate.registry import EXAMPLES

LAYOUT = """\
# about the file
apiVersion: v1   # trailing
kind: Pod
metadata:
    name: x
    labels: {a: b,   c: d}

# about spec
spec:
    contaners:      # misspelt
    # about the first
    - name:   a
      image: "x:1"
      env:
        - name: A
          value:   1
        # about B
        - {name: B, value: '2'}
      args: ["--a=1",
             "--b=2"]
    - name: b
---
# the second
apiVersion: v1
kind: ConfigMap
metadata: {name: y}
data:
  a.yaml: |
    x:   1
    # embedded, no comment of ours
    y: [1,   2]
  folded: >-
    some text
    that goes on
  port: 8080
  yes: "no"   # a key that reads as true
# the end
"""


def edits(text: str, *changes: tuple[Op, int, tuple[str | int, ...], Any]) -> list[Edit]:
    """Edits of a text: operation, document, path, value."""
    documents = read_text(text, "f").documents
    return [Edit(op, documents[number].place(*path), value) for op, number, path, value in changes]


def changed(text: str, *changes: tuple[Op, int, tuple[str | int, ...], Any]) -> list[str]:
    """The lines that an edit takes away and adds."""
    out = edit_text(text.encode(), "f", edits(text, *changes)).decode()
    return [line for line in ndiff(text.splitlines(), out.splitlines()) if line[:1] in "+-"]


def test_a_renamed_key_keeps_its_place_and_comments() -> None:
    assert changed(LAYOUT, (Op.RENAME, 0, ("spec", "contaners"), "containers")) == [
        "-     contaners:      # misspelt",
        "+     containers:     # misspelt",
    ]


def test_values_are_replaced_in_several_documents_at_once() -> None:
    where = ("spec", "contaners", 0)
    assert changed(
        LAYOUT,
        (Op.REPLACE, 0, (*where, "env", 0, "value"), "1"),
        (Op.REPLACE, 0, (*where, "image"), "x:2"),
        (Op.REPLACE, 1, ("data", "port"), "8080"),
    ) == [
        '-       image: "x:1"',
        '+       image: "x:2"',
        "-           value:   1",
        '+           value: "1"',
        "-   port: 8080",
        '+   port: "8080"',
    ]


def test_what_is_removed_leaves_the_comment_of_what_follows() -> None:
    assert changed(LAYOUT, (Op.REMOVE, 0, ("spec", "contaners", 0, "env", 0), None)) == [
        "-         - name: A",
        "-           value:   1",
    ]


def test_what_is_added_is_indented_as_its_neighbours_are() -> None:
    item = {"name": "C", "value": "3"}
    assert changed(LAYOUT, (Op.ADD, 0, ("spec", "contaners", 0, "env", 2), item)) == [
        "+         - name: C",
        '+           value: "3"',
    ]
    assert changed(LAYOUT, (Op.ADD, 0, ("spec", "contaners", 1, "image"), "y")) == ['+       image: "y"']
    assert changed(LAYOUT, (Op.ADD, 1, ("metadata", "namespace"), "n1")) == [
        "- metadata: {name: y}",
        "+ metadata: {name: y, namespace: n1}",
    ]


def test_lists_on_several_lines_are_edited_even_if_their_layout_changes() -> None:
    assert sorted(changed(LAYOUT, (Op.ADD, 0, ("spec", "contaners", 0, "args", 2), "--c=3"))) == [
        '+       args: ["--a=1", "--b=2", "--c=3"]',
        '-              "--b=2"]',
        '-       args: ["--a=1",',
    ]


@pytest.mark.parametrize("sequence", ["- ", "  - ", "    - "])
def test_every_indentation_of_lists_is_kept(sequence: str) -> None:
    text = f"a:\n{sequence}b: 1\n{' ' * len(sequence)}c:\n{' ' * len(sequence)}{sequence}d: 2\nk: 3\n"
    assert changed(text, (Op.REPLACE, 0, ("a", 0, "c", 0, "d"), 5)) == [
        f"- {' ' * len(sequence)}{sequence}d: 2",
        f"+ {' ' * len(sequence)}{sequence}d: 5",
    ]


def test_lists_of_both_styles_in_one_document_are_kept() -> None:
    text = "a:\n- x: 1\n- x: 2\nb:\n    - z: 1\n    - z: 2\n"
    assert changed(text, (Op.REPLACE, 0, ("b", 1, "z"), 3)) == ["-     - z: 2", "+     - z: 3"]
    assert changed(text, (Op.ADD, 0, ("b", 2), {"z": 3})) == ["+     - z: 3"]


def test_crlf_byte_order_mark_and_a_missing_last_newline_are_kept() -> None:
    text = "\ufeff" + LAYOUT.replace("\n", "\r\n").removesuffix("\r\n")
    out = edit_text(text.encode(), "f", edits(text, (Op.RENAME, 0, ("spec", "contaners"), "containers"))).decode()
    assert out == text.replace("contaners:      #", "containers:     #")


def test_json_stays_json_in_its_indentation() -> None:
    text = json.dumps({"a": {"b": [1, {"c": "80"}]}, "ü": 1.50}, indent=3, ensure_ascii=False) + "\n"
    assert changed(text, (Op.REPLACE, 0, ("a", "b", 1, "c"), 80)) == [
        '-             "c": "80"',
        '+             "c": 80',
    ]
    one_line = '{"a": {"b": 1}}'
    out = edit_text(one_line.encode(), "f", edits(one_line, (Op.RENAME, 0, ("a", "b"), "c")))
    assert json.loads(out) == {"a": {"c": 1}}


def test_an_item_of_a_list_object_is_edited() -> None:
    text = "kind: List\napiVersion: v1\nitems:\n- kind: A\n  m: 1\n- kind: B\n  m: 1\n"
    assert changed(text, (Op.REPLACE, 1, ("m",), 2)) == ["-   m: 1", "+   m: 2"]
    out = edit_text(text.encode(), "f", edits(text, (Op.REPLACE, 1, ("m",), 2))).decode()
    assert out.endswith("- kind: B\n  m: 2\n")


REFUSED = {
    "a repeated key": "a: 1\na: 2\n",
    "a value that an anchor shares": "x: &x {a: 1}\ny: *x\na: 1\nb: {<<: *x}\n",
    "no YAML": "a: {{ .Values.x }}\n",
    "documents ended by dots": "a: 1\n...\n---\nb: 1\n",
    "content behind the marker": "--- {a: 1}\n",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    documents = read_text(text, "f").documents
    place = documents[0].place if documents else read_text("a: 1", "f").documents[0].place
    path = ("x", "a") if "&x" in text else ("a",)
    with pytest.raises(NotEditableError):
        edit_text(text.encode(), "f", [Edit(Op.REPLACE, place(*path), 7)])


@pytest.mark.parametrize(
    ("op", "path", "value"),
    [
        (Op.REPLACE, ("none",), 1),
        (Op.REPLACE, ("metadata", "labels", "a", "b"), 1),
        (Op.REPLACE, ("spec", "contaners", 7), 1),
        (Op.REPLACE, (), {}),
        (Op.REMOVE, ("none",), None),
        (Op.RENAME, ("spec", "contaners", 0), "x"),
        (Op.RENAME, ("metadata", "name"), "labels"),
        (Op.ADD, ("metadata", "name"), "y"),
        (Op.ADD, ("metadata", "name", "y"), "y"),
    ],
)
def test_places_that_are_not_there_are_refused(op: Op, path: tuple[str | int, ...], value: Any) -> None:
    with pytest.raises(NotEditableError):
        changed(LAYOUT, (op, 0, path, value))


def test_a_number_written_in_another_form_is_refused() -> None:
    (document,) = read_text("a: 0o17\nb: yes\nc: 15\n", "f").documents
    for key, written in (("a", "15"), ("b", "true")):
        with pytest.raises(NotEditableError, match="written in another form"):
            edit_text(b"a: 0o17\nb: yes\nc: 15\n", "f", [Edit(Op.REPLACE, document.place(key), "x", written)])
    edit = Edit(Op.REPLACE, document.place("c"), "15", "15")
    assert edit_text(b"a: 0o17\nb: yes\nc: 15\n", "f", [edit]) == b'a: 0o17\nb: yes\nc: "15"\n'


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every path of plain data but the root."""
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*path, step)
        yield from paths(item, (*path, step))


TEXTS = [LAYOUT, *(path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*/bad.yaml"))[::4])]


@settings(max_examples=60)
@given(st.data())
def test_any_edit_is_made_exactly_or_refused(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    documents = read_text(text, "f").documents
    document = data.draw(st.sampled_from(documents))
    path = data.draw(st.sampled_from(list(paths(document.object))))
    op = data.draw(st.sampled_from([Op.REPLACE, Op.REMOVE, Op.RENAME]))
    if op is Op.RENAME and not isinstance(path[-1], str):
        return
    new: Any = "renamed" if op is Op.RENAME else data.draw(st.sampled_from(["text", 7, True, "y: #", {"a": [1]}]))
    try:
        out = edit_text(text.encode(), "f", [Edit(op, document.place(*path), new)]).decode()
    except NotEditableError:
        return
    # That the data is right is checked by edit_text itself; here, that nothing else was touched.
    before, after = text.splitlines(), out.splitlines()
    old = _value(document.object, path)
    inside = sum(1 for _ in paths(old)) + str(old).count("\\n") + str(old).count("\n")
    touched = sum(1 for line in ndiff(before, after) if line[:1] in "+-")
    assert touched <= 2 * (inside + 8)


def _value(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value
