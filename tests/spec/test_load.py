"""Loading stack files: what is read, and what a bad file is answered with."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from llmdctl.findings import UserError
from llmdctl.spec.load import LoadedStack, load_stack

HEAD = "apiVersion: llmdctl.io/v1alpha1\nkind: InferenceStack\n"
GOOD = HEAD + (
    "metadata:\n"
    "  name: gpt\n"
    "spec:\n"
    "  guide: pd-disaggregation\n"
    "  roles:\n"
    "    decode: {replicas: 4, engineArgs: {max-num-seqs: 256}}\n"
    "  patches:\n"
    "  - {kind: Service, name: a, merge: {}}\n"
    "  - kind: Service\n"
    "    name: b\n"
    "    merge: {spec: {type: NodePort}}\n"
)


def load(text: str | bytes) -> LoadedStack:
    return load_stack("stack.yaml", text.encode() if isinstance(text, str) else text)


def fault(text: str | bytes) -> UserError:
    with pytest.raises(UserError) as caught:
        load(text)
    return caught.value


def test_gives_typed_and_plain_data() -> None:
    loaded = load(GOOD)
    assert loaded.file == "stack.yaml"
    assert loaded.data["spec"]["roles"]["decode"]["engineArgs"] == {"max-num-seqs": 256}
    decode = loaded.stack.spec.roles.decode if loaded.stack.spec.roles else None
    assert decode is not None
    assert decode.replicas == 4
    assert loaded.stack.spec.engine is None


def test_reads_a_file_and_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(GOOD)
    assert load_stack(str(path)).file == str(path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    loaded = load_stack("-")
    assert loaded.data == load_stack(str(path)).data
    assert str(loaded.source(("spec", "guide"))) == "stdin:6:3"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("spec", "guide"), (6, 3)),
        (("spec", "roles", "decode", "replicas"), (8, 14)),
        (("spec", "roles", "decode", "engineArgs", "max-num-seqs"), (8, 40)),
        (("spec", "patches", 1, "name"), (12, 5)),
        (("spec", "roles", "decode", "unwritten"), (8, 5)),
        ((), (1, 1)),
    ],
)
def test_says_where_a_value_stands(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    source = load(GOOD).source(path)
    assert (source.line, source.column) == place


def test_all_faults_come_in_one_error_in_order_of_lines() -> None:
    error = fault(
        HEAD
        + "metadata: {name: Bad_Name}\n"
        + "spec:\n"
        + "  gide: pd\n"
        + "  release: 1.0\n"
        + "  roles: {decode: {replicas: four}}\n"
    )
    places = [str(one.source) for one in (error, *error.others)]
    assert places == sorted(places)
    text = "\n".join(error.lines())
    assert "stack.yaml:3:12: metadata.name: 'Bad_Name' does not match" in text
    assert "stack.yaml:5:3: spec.gide: unknown field 'gide'\n  fix  did you mean 'guide'?" in text
    assert "stack.yaml:6:3: spec.release: expected a string, got the number 1\n  fix  put it in quotes" in text
    assert "stack.yaml:7:20: spec.roles.decode.replicas: expected a whole number" in text
    assert "spec: field 'guide' is missing" in text


@pytest.mark.parametrize(
    ("text", "says", "place"),
    [
        ("kind: Deployment\napiVersion: apps/v1\n", "kind is 'Deployment'", "stack.yaml:1:1"),
        ("spec: {}\n", "it has no kind", "stack.yaml:1:1"),
        ("kind: InferenceStack\napiVersion: llmdctl.io/v9\n", "apiVersion is 'llmdctl.io/v9'", "stack.yaml:2:1"),
        ("kind: InferenceStack\n", "it has no apiVersion", "stack.yaml:1:1"),
        ("kind: [InferenceStack]\n", "kind is ['InferenceStack']", "stack.yaml:1:1"),
        ("", "nothing in it", "stack.yaml"),
        ("# only a comment\n---\n", "nothing in it", "stack.yaml"),
        (GOOD + "---\n" + GOOD, "more than one document", "stack.yaml:15:1"),
        ("kind: List\nitems:\n- {kind: InferenceStack}\n", "or a list", "stack.yaml:1:1"),
        ("- 1\n", "list", "stack.yaml:1:1"),
        ("just text\n", "just text", "stack.yaml:1:1"),
        (GOOD + "  guide: other\n", "'guide' is named twice", "stack.yaml:14:3"),
        ("kind: a\n\tb: c\n", "not valid YAML", "stack.yaml:2:1"),
        (HEAD + "spec: {guide: {{ guide }}}\n", "template that was not rendered", "stack.yaml:3"),
        (b"\x7fELF\0\0", "NUL byte", "stack.yaml"),
        (b"kind: \xff\n", "not UTF-8", "stack.yaml:1:7"),
        ("a: " + "[" * 10_000, "nest", "stack.yaml"),
        ("a: " + "{a: " * 10_000, "nest", "stack.yaml"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_unusable_input_is_answered_with_cause_and_place(text: str | bytes, says: str, place: str) -> None:
    error = fault(text)
    assert says in "\n".join(error.lines())
    assert str(error.source).startswith(place)


def test_an_anchor_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "aliases expand" in fault(HEAD + "\n".join(lines)).what


def test_anchors_may_be_used() -> None:
    loaded = load(
        HEAD + "spec:\n  guide: g\n  roles:\n    prefill: &role {replicas: 2}\n    decode: {<<: *role, replicas: 3}\n"
    )
    assert loaded.data["spec"]["roles"] == {"prefill": {"replicas": 2}, "decode": {"replicas": 3}}


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "stack.yaml").write_text(GOOD)
    with pytest.raises(UserError) as caught:
        load_stack(str(tmp_path / "stak.yaml"))
    assert "did you mean" in caught.value.fix


@pytest.mark.parametrize("name", ["", "x" * 5000, "a\0b"])
def test_paths_that_no_file_has(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        load_stack(str(tmp_path) + "/" + name)


def test_hostile_keys_are_named_without_failing() -> None:
    error = fault(HEAD + 'spec: {guide: g, "a.b[0]\\u001b[31m": 1, 1: 2, true: 3}\n')
    assert len(error.others) == 2


def test_null_means_unsaid() -> None:
    stack = load(HEAD + "metadata:\nspec: {guide: g, roles: null, engine: ~}\n").stack
    assert stack.spec.roles is None
    assert stack.spec.engine is None
