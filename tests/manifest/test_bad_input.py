"""Input that can't be read: each a UserError with place, cause and way out, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmdctl.findings import UserError
from llmdctl.manifest import files, read_paths, read_text
from llmdctl.manifest.construct import MAX_DEPTH


def error_of(text: str | bytes) -> UserError:
    reading = read_text(text, "f.yaml")
    assert len(reading.errors) == 1
    return reading.errors[0]


@pytest.mark.parametrize(
    ("text", "place", "cause"),
    [
        ("a:\n\tb: 1\n", "f.yaml:2:1", "tab"),
        ("a:\n- b\n\t- c\n", "f.yaml:3:1", "tab"),
        ("a: |\n\tb\n", "f.yaml:2:1", "tab"),
        ("a: b: c\n", "f.yaml:1:5", "second `: `"),
        ("a:\n  - b\n c: d\n", "f.yaml:3:2", "indentation"),
        ("- a\nb: c\n", "f.yaml:2:1", "does not start with `- `"),
        ("a: 1\nb: 'x\nc: 2\n", "f.yaml:2:4", "never closed"),
        ("a: [1\nb: 2\n", "f.yaml:1:4", "not closed"),
        ("a: {b\n c: d\n", "f.yaml:1:4", "not closed"),
        ('a: "\\q"\n', "f.yaml:1:5", "backslash"),
        ("a: @x\n", "f.yaml:1:4", "'@'"),
        ("a: `x`\n", "f.yaml:1:4", "'`'"),
        ("a: *\n", "f.yaml:1:5", "alias"),
        ("a: 1\nfoo\n", "f.yaml:2:1", "neither `key: value`"),
        ("a: - b\n", "f.yaml:1:4", "list item"),
        ("%YAML 1.2\n---\na: 1\n", "f.yaml:1:1", "1.1 only"),
        ("[a]: b\n", "f.yaml:1:1", "keys"),
        ("a: &x [1]\n*x : b\n", "f.yaml:2:1", "keys"),
        ("<<: 5\n", "f.yaml:1:5", ""),
        ("a: *nowhere\n", "f.yaml:1:4", "anchor"),
        ("a: &x [*x]\n", "f.yaml:1:8", "contains it"),
        ("a: !<x y\n", "f.yaml:1:7", "expected '>'"),
    ],
)
def test_syntax_errors_say_where_and_why(text: str, place: str, cause: str) -> None:
    error = error_of(text)
    assert str(error.source) == place
    assert cause in error.why


@pytest.mark.parametrize(
    "text",
    [
        "a: {{ .Values.x }}\n",
        "a: 1\n{{ include 'x' . }}\n",
        "{{- if .Values.on }}\na: b\n{{- end }}\n",
        "a:\n  {{- toYaml .Values.x | nindent 2 }}\n",
        "a: b\nc: {{ .x }}-tail\n",
    ],
)
def test_unrendered_templates_are_recognised(text: str) -> None:
    error = error_of(text)
    assert "template" in error.what
    assert "helm template" in error.fix


def test_braces_in_text_are_no_template() -> None:
    text = "a: 'Pod {{ $labels.pod }}'\nb: |\n  {{ x }}\nc: Pod {{ y }} down\n"
    assert read_text(text, "f").errors == []
    assert "template" not in error_of(text + "d: [\n").what


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "{a: " * 10_000,
        "- " * 10_000,
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        "".join(f"{' ' * depth}a:\n" for depth in range(2_000)),
    ],
    ids=["flow list", "flow map", "block list", "closed list", "json", "block map"],
)
def test_deep_nesting(text: str) -> None:
    error = error_of(text)
    assert "nested deeper" in error.what
    assert error.source is not None
    assert error.source.line >= 1


def test_nesting_up_to_the_limit_is_read() -> None:
    for text in ('{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH, "{a: " * MAX_DEPTH + "1" + "}" * MAX_DEPTH):
        assert not read_text(text, "f").errors
        deeper = '{"a":' + text + "}"
        assert "nested deeper" in error_of(deeper).what


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def test_alias_bomb() -> None:
    error = error_of(bomb(12))
    assert "aliases expand" in error.what
    assert error.source is not None
    assert error.source.line == 6


def test_merge_bomb() -> None:
    wide = "{" + ", ".join(f"k{n}: 1" for n in range(1000)) + "}"
    error = error_of(f"a: &a {wide}\nb:\n" + "- <<: *a\n" * 1000)
    assert "aliases expand" in error.what


def test_moderate_sharing_is_fine() -> None:
    reading = read_text(bomb(4), "f")
    assert not reading.errors
    assert len(reading.documents[0].object["a3"]) == 10
    env = "env: &env [{name: A, value: b}]\n"
    assert not read_text(env + "".join(f"c{n}: *env\n" for n in range(5000)), "f").errors


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x7fELF\x02\x01\x01\x00\x00\x00", "NUL"),
        (b"a: \x00", "NUL"),
        (b"\xff\xfea\x00", "UTF-16"),
        (b"a: 1\nb: \xc3\x28\n", "not UTF-8"),
        (b"\x80\x81\x82" * 100, "not UTF-8"),
        (b"a: 1\nb: \x1b[31m\n", "U+001B"),
        (b"a: \xef\xbf\xbe", "U+FFFE"),
    ],
)
def test_binary_junk(data: bytes, what: str) -> None:
    assert what in error_of(data).what


def test_places_of_unreadable_characters() -> None:
    assert str(error_of("a: 1\nbü: x\x07y\n").source) == "f.yaml:2:6"
    assert str(error_of("a: 1\nbü: ".encode() + b"\xff\n").source) == "f.yaml:2:5"


def test_lone_surrogates_in_text() -> None:
    assert "surrogate" in error_of("a: \ud800").what


def test_huge_numbers_are_read() -> None:
    (document,) = read_text(f"a: {'9' * 5000}\nb: {'9' * 30}\nc: 0x{'f' * 40}\n", "f").documents
    assert document.object["a"] == "9" * 5000
    assert document.object["b"] == 1e30
    assert document.object["c"] == "0x" + "f" * 40


def test_missing_file_names_a_neighbour(tmp_path: Path) -> None:
    (tmp_path / "stack.yaml").write_text("a: 1\n")
    (error,) = read_paths([str(tmp_path / "stak.yaml")]).errors
    assert "stak.yaml" in error.what
    assert "stack.yaml" in error.fix
    (error,) = read_paths([str(tmp_path / "none" / "x.yaml")]).errors
    assert error.fix == ""


def test_directory_without_manifests(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (error,) = read_paths([str(tmp_path)]).errors
    assert "holds no" in error.what


def test_one_bad_path_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("a: 1\n")
    (tmp_path / "bad.yaml").write_text("a: [\n")
    reading = read_paths([str(tmp_path / "bad.yaml"), str(tmp_path / "gone"), str(tmp_path / "good.yaml")])
    assert len(reading.errors) == 2
    assert len(reading.documents) == 1


def test_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1024)
    (tmp_path / "big.yaml").write_text("a: " + "x" * 2000)
    (error,) = read_paths([str(tmp_path / "big.yaml")]).errors
    assert "larger than" in error.what


def test_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert len(read_paths([str(tmp_path / "loop.yaml")]).errors) == 1
    assert len(read_paths([str(tmp_path)]).errors) == 1
