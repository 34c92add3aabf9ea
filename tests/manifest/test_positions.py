from __future__ import annotations

from pathlib import Path

import pytest

from llmdctl.findings import Finding, MapKey, ObjectRef, Place, Severity, SourceRef
from llmdctl.manifest import Document, duplicate_objects, locate, read_paths, read_text, with_positions
from llmdctl.manifest.marks import deepest_spot, read_marks

TEXT = b"""\
# a comment
kind: Pod
metadata:
  labels:
    app.kubernetes.io/name: x
spec:
  containers:
  - name: a
    args: [one, "two"]
  - name: b
---
kind: List
items:
- kind: Service
  spec:
    ports:
    - port: 80
"""


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ((0, None, ()), "f:2:1"),
        ((0, None, ("kind",)), "f:2:1"),
        ((0, None, ("metadata", "labels", MapKey("app.kubernetes.io/name"))), "f:5:5"),
        ((0, None, ("spec", "containers")), "f:7:3"),
        ((0, None, ("spec", "containers", 0)), "f:8:5"),
        ((0, None, ("spec", "containers", 0, "args", 1)), "f:9:17"),
        ((0, None, ("spec", "containers", 1, "image", "x")), "f:10:5"),
        ((0, None, ("spec", "containers", 7)), "f:7:3"),
        ((0, None, ("spec", "containers", "name")), "f:7:3"),
        ((1, 0, ("spec", "ports", 0, "port")), "f:17:7"),
        ((1, 0, ()), "f:14:3"),
        ((5, None, ("a",)), "f"),
    ],
)
def test_locate_finds_the_deepest_existing_step(
    target: tuple[int, int | None, tuple[str | int, ...]], place: str
) -> None:
    found = locate(TEXT, "f", [target])[target]
    assert str(found) == place
    assert found.document == target[0]


def test_every_value_of_the_text_is_found_at_its_own_line() -> None:
    lines = TEXT.decode().splitlines()
    for document in read_text(TEXT, "f").documents:
        for path, key in _fields(document.object):
            target = (document.source.document, document.item, path)
            source = locate(TEXT, "f", [target])[target]
            assert lines[source.line - 1][source.column - 1 :].startswith(key)


def _fields(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    out = []
    if isinstance(value, dict):
        for key, child in value.items():
            out += [((*path, key), key), *_fields(child, (*path, key))]
    elif isinstance(value, list):
        for index, child in enumerate(value):
            out += _fields(child, (*path, index))
    return out


def test_places_behind_aliases_and_merges_are_where_they_are_written() -> None:
    text = b"a: &x\n  p: 1\n  q: 2\nb: *x\nc:\n  <<: *x\n  p: 3\nd:\n  <<: [*x, {r: 4}]\n"
    (root,) = read_marks(text)
    assert deepest_spot(root, ("b",)) == (4, 1)
    assert deepest_spot(root, ("b", "q")) == (3, 3)
    assert deepest_spot(root, ("c", "p")) == (7, 3)
    assert deepest_spot(root, ("c", "q")) == (3, 3)
    assert deepest_spot(root, ("d", "r")) == (9, 13)


def test_keys_are_found_by_the_text_that_go_makes_of_them() -> None:
    assert locate(b"on: 1\n0x10: 2\n", "f", [(0, None, ("16",)), (0, None, ("true",))]) == {
        (0, None, ("16",)): SourceRef("f", 2, 1),
        (0, None, ("true",)): SourceRef("f", 1, 1),
    }


def test_columns_count_characters() -> None:
    assert str(locate("ü: {é: 1, x: 2}\n".encode(), "f", [(0, None, ("ü", "x"))])[0, None, ("ü", "x")]) == "f:1:11"


def test_marks_end_at_an_error() -> None:
    assert len(read_marks(b"a: 1\n---\nb: [\n")) == 1
    assert read_marks(b"[" * 10_000) == []


def finding(title: str = "t") -> Finding:
    return Finding("TST001", Severity.ERROR, title)


def test_with_positions_reads_files_and_kept_text(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_bytes(TEXT)
    file = str(tmp_path / "f.yaml")
    service = read_paths([file]).documents[1]
    hits = [
        (finding("b"), service.place("spec", "ports", 0)),
        (finding("a"), Place(ObjectRef(), SourceRef("-"), ("spec",))),
        (finding("none"), Place(ObjectRef())),
    ]
    located = with_positions(hits, {"-": TEXT})
    assert [item.title for item in located] == ["b", "a", "none"]
    assert [item.source for item in located] == [SourceRef(file, 17, 7, 1), SourceRef("-", 6, 1, 0), None]


def test_files_that_vanished_keep_what_is_known(tmp_path: Path) -> None:
    gone = SourceRef(str(tmp_path / "gone.yaml"))
    hits = [(finding(), Place(ObjectRef(), gone, ("a",))), (finding(), Place(ObjectRef(), SourceRef("-"), ("a",)))]
    assert [item.source for item in with_positions(hits)] == [gone, SourceRef("-")]


def test_repeated_keys_are_found_with_both_places() -> None:
    text = "kind: Pod\nmetadata:\n  name: p\n  labels: {app: x, app: z}\n  name: q\n  name: r\n"
    reading = read_text(text, "f.yaml")
    assert reading.documents[0].object["metadata"] == {"name": "r", "labels": {"app": "z"}}
    assert [(f.code, f.pointer, str(f.source), str(f.evidence[0].source)) for f in reading.findings] == [
        ("YML001", "metadata.name", "f.yaml:6:3", "f.yaml:3:3"),
        ("YML001", "metadata.labels[app]", "f.yaml:4:20", "f.yaml:4:12"),
    ]
    assert "3 times" in reading.findings[0].title
    assert str(reading.findings[0].object) == "Pod/r"


def test_repeated_keys_in_lists_json_and_shared_nodes() -> None:
    listed = read_text("kind: List\nitems:\n- {kind: A, metadata: {name: b}, a: 1, a: 2}\n", "f").findings
    assert [(str(f.object), f.pointer) for f in listed] == [("A/b", "a")]
    assert [f.pointer for f in read_text('{"x": [{"a": 1, "a": 2}]}', "f").findings] == ["x[0].a"]
    assert [f.pointer for f in read_text("k: &x {a: 1, a: 2}\nm: *x\n", "f").findings] == ["k.a"]
    assert [f.pointer for f in read_text("1: a\n'1': b\n", "f").findings] == ["[1]"]
    assert [f.source.document for f in read_text("a: 1\n---\nb: 1\nb: 2\n", "f").findings if f.source] == [1]


def test_repeated_objects() -> None:
    def pod(api: str, name: str, namespace: str, line: int) -> Document:
        metadata = {"name": name, "namespace": namespace}
        return Document({"apiVersion": api, "kind": "Thing", "metadata": metadata}, SourceRef("f", line))

    first, second = pod("g/v1", "a", "n", 1), pod("g/v2", "a", "n", 9)
    (found,) = duplicate_objects(
        [first, pod("h/v1", "a", "n", 3), pod("g/v1", "a", "m", 5), second, pod("g/v1", "b", "n", 7)]
    )
    assert (found.code, found.source, found.evidence[0].source) == ("YML002", second.source, first.source)
    assert "namespace n" in found.title


@pytest.mark.parametrize(
    "text",
    [
        "{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}",
        "{apiVersion: v1, kind: Pod, metadata: 5}",
        "{kind: Kustomization}",
        "{plugins: []}",
    ],
)
def test_what_has_no_identity_never_collides(text: str) -> None:
    assert read_text(f"{text}\n---\n{text}\n", "f").findings == []
