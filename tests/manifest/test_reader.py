from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import yaml

from llmdctl.findings import UserError
from llmdctl.manifest import read_paths, read_text
from llmdctl.manifest.construct import DocumentReader
from llmdctl.manifest.reader import Reading

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n"


def objects(text: str | bytes) -> list[object]:
    reading = read_text(text, "f.yaml")
    assert not reading.errors, reading.errors[0].lines()
    return [document.object for document in reading.documents]


def test_documents_keep_their_index_and_first_line() -> None:
    reading = read_text("---\n---\n# note\na: 1\n---\nnull\n---\nb: 2\n", "f.yaml")
    assert [(d.object, d.source.document, d.source.line) for d in reading.documents] == [
        ({"a": 1}, 1, 4),
        ({"b": 2}, 3, 8),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "\ufeff", "---\n---\n...\n"])
def test_empty_input_holds_nothing(text: str) -> None:
    reading = read_text(text, "f")
    assert (reading.documents, reading.findings, reading.errors) == ([], [], [])


def test_byte_order_mark_and_crlf() -> None:
    assert objects(b"\xef\xbb\xbfa: 1\r\nb:\r\n  - |\r\n    x\r\n    y\r\n") == [{"a": 1, "b": ["x\ny\n"]}]


def test_anchors_share_one_object_and_merge_keys_copy() -> None:
    (value,) = objects("a: &x {p: 1, q: [2]}\nb: *x\nc: {<<: *x, p: 3}\nd: &s text\n*s : 4\n")
    assert value == {
        "a": {"p": 1, "q": [2]},
        "b": {"p": 1, "q": [2]},
        "c": {"p": 3, "q": [2]},
        "d": "text",
        "text": 4,
    }
    assert isinstance(value, dict)
    assert value["a"] is value["b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{<<: {a: 2, b: 3}, a: 1}", {"a": 1, "b": 3}),
        ("{a: 1, <<: {a: 2, b: 3}}", {"a": 2, "b": 3}),
        ("{<<: [{a: 1}, {a: 2, b: 3}]}", {"a": 1, "b": 3}),
        ("{'<<': {a: 1}}", {"<<": {"a": 1}}),
        ("{!!merge <<: {a: 1}}", {"a": 1}),
    ],
)
def test_merge_order_is_that_of_go(text: str, expected: object) -> None:
    assert objects(text) == [expected]


def test_merge_overriding_is_no_repeated_key() -> None:
    assert read_text("a: &x {p: 1}\nb: {<<: *x, p: 2}\nc: {p: 2, <<: *x}\n", "f").findings == []


def test_lists_are_taken_apart() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- 5\n"
        "- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n"
    )
    reading = read_text(text, "f")
    assert [(d.ref.name, d.item) for d in reading.documents] == [("a", 0), ("b", 2)]
    assert [(f.code, f.title) for f in reading.findings] == [("YML003", "items[1] is the value '5', not an object")]


def test_items_of_a_typed_list_take_its_kind() -> None:
    reading = read_text("apiVersion: apps/v1\nkind: DeploymentList\nitems: [{metadata: {name: a}}]\n", "f")
    assert str(reading.documents[0].ref) == "Deployment/a"
    assert reading.documents[0].ref.api_version == "apps/v1"
    assert read_text("kind: List\nitems: []\n", "f").documents == []
    assert len(read_text("kind: AllowList\nspec: {}\n", "f").documents) == 1


@pytest.mark.parametrize(("text", "what"), [("- a\n", "a list"), ("text", "the value 'text'"), ("5", "the value '5'")])
def test_a_document_that_is_no_mapping(text: str, what: str) -> None:
    (finding,) = read_text("a: 1\n---\n" + text, "f").findings
    assert finding.code == "YML003"
    assert what in finding.title
    assert finding.source is not None
    assert (finding.source.line, finding.source.document) == (3, 1)


def test_documents_before_an_error_are_kept() -> None:
    reading = read_text("a: 1\n---\nb: [\n", "f")
    assert [d.object for d in reading.documents] == [{"a": 1}]
    assert len(reading.errors) == 1
    with pytest.raises(UserError):
        reading.require()


def test_require_joins_all_errors() -> None:
    reading = Reading(errors=[UserError("one"), UserError("two"), UserError("three")])
    with pytest.raises(UserError) as caught:
        reading.require()
    assert [line for line in caught.value.lines() if "error" in line] == ["error: one", "error: two", "error: three"]


def test_pure_python_parser_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &x [1, yes, 'no', 0o17]\nb: *x\n---\nc: |\n  t\n"
    fast = objects(text)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert objects(text) == fast
    (error,) = read_text("a:\n\tb: 1", "f").errors
    assert "tab" in error.why


def test_corpus_reads_as_pyyaml_reads_it(shared: Path) -> None:
    files = sorted((shared / "corpus").glob("*manifests*/*.yaml"))
    assert len(files) > 100
    reading = read_paths([str(file) for file in files])
    assert (reading.errors, reading.findings) == ([], [])
    expected = [
        value for file in files for value in yaml.load_all(file.read_bytes(), yaml.CSafeLoader) if value is not None
    ]
    assert [document.object for document in reading.documents] == expected


def test_directories_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("z.yaml", "a.yml", "b/c.json", "b/note.txt", ".git/x.yaml"):
        (tmp_path / name).write_text(json.dumps({"name": name}))
    reading = read_paths([str(tmp_path)])
    assert [d.object["name"] for d in reading.documents] == ["a.yml", "z.yaml", "b/c.json"]


def test_stdin_is_kept_for_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"a: 1\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    reading = read_paths(["-"])
    assert reading.texts == {"-": b"a: 1\n"}
    assert reading.documents[0].source.file == "-"


def test_each_path_is_one_input(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(POD.format(name="same"))
    together = read_paths([str(tmp_path)])
    assert [f.code for f in together.findings] == ["YML002"]
    assert read_paths([str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")]).findings == []


def test_the_index_names_the_document_being_read() -> None:
    reader = DocumentReader(b"a: 1\n---\nb: 2\n")
    assert [raw.index for raw in reader] == [0, 1]
    assert reader.index == 1
