"""Engine command lines: parse(build(x)) == x, and what people write by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.engines import Flag, FlagTable, Opaque, build, load_table, parse


def table(engine: str) -> FlagTable:
    loaded = load_table(engine, {"vllm": "0.30.0", "sglang": "0.5.20", "trtllm": "1.3.0rc28"}[engine])
    assert loaded is not None
    return loaded


WORDS = st.text(min_size=1, max_size=12).filter(lambda text: not text.startswith("-"))
JSON = st.dictionaries(st.text(max_size=6), st.integers() | st.text(max_size=6) | st.booleans(), max_size=3)


def value_of(flag: Flag, engine: str) -> st.SearchStrategy[Any]:
    if flag.kind == "bool":
        return st.booleans() if engine == "vllm" else st.just(True)
    if flag.kind == "int":
        return st.integers()
    if flag.kind == "list":
        return st.lists(WORDS, min_size=1, max_size=3)
    if flag.kind == "json":
        return JSON
    if flag.kind == "enum":
        return st.sampled_from(flag.choices)
    return st.text(max_size=12)


@st.composite
def options(draw: st.DrawFn, engine: str) -> dict[str, Any]:
    flags = draw(st.lists(st.sampled_from(sorted(table(engine).flags)), unique=True, max_size=6))
    return {name: draw(value_of(table(engine).flags[name], engine)) for name in flags}


def read_back(engine: str, args: list[str]) -> dict[str, Any]:
    parsed = parse(engine, args, table(engine))
    assert not parsed.unknown
    assert not parsed.positionals
    out: dict[str, Any] = {}
    for name in parsed.options:
        kind = table(engine).flags[name].kind
        option = parsed.last(name)
        assert option is not None
        if kind == "bool":
            out[name] = parsed.get_bool(name)
        elif kind == "int":
            out[name] = parsed.get_int(name)
        elif kind == "list":
            out[name] = list(option.values)
        elif kind == "json":
            out[name] = parsed.get_json(name)
        else:
            out[name] = parsed.get_str(name)
    return out


@given(options("vllm"))
def test_vllm_parses_what_is_built(wanted: dict[str, Any]) -> None:
    assert read_back("vllm", build("vllm", wanted, table("vllm"))) == wanted


@given(options("sglang"))
def test_sglang_parses_what_is_built(wanted: dict[str, Any]) -> None:
    assert read_back("sglang", build("sglang", wanted, table("sglang"))) == wanted


@pytest.mark.parametrize(
    ("argv", "name", "expected"),
    [
        (["--tensor-parallel-size=4"], "tensor-parallel-size", 4),
        (["--tensor-parallel-size", "4"], "tensor-parallel-size", 4),
        (["-tp", "4"], "tensor-parallel-size", 4),
        (["--tensor_parallel_size", "4"], "tensor-parallel-size", 4),
        (["-tp", "2", "--tensor-parallel-size=8"], "tensor-parallel-size", 8),
        (["--port", "x"], "port", None),
        ([], "port", 8000),
        (["--seed", "-1"], "seed", -1),
    ],
)
def test_numbers(argv: list[str], name: str, expected: int | None) -> None:
    assert parse("vllm", argv, table("vllm")).get_int(name, default=8000) == expected


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--enable-prefix-caching"], True),
        (["--no-enable-prefix-caching"], False),
        (["--enable-prefix-caching", "--no-enable-prefix-caching"], False),
        ([], None),
    ],
)
@pytest.mark.parametrize("with_table", [True, False])
def test_switches(argv: list[str], expected: bool | None, with_table: bool) -> None:
    parsed = parse("vllm", argv, table("vllm") if with_table else None)
    assert parsed.get_bool("enable-prefix-caching") is expected


def test_positionals_unknown_flags_and_values() -> None:
    parsed = parse("vllm", ["org/model", "--no-such-flag=1", "--port", "9"], table("vllm"))
    assert parsed.positionals == ("org/model",)
    assert [option.written for option in parsed.unknown] == ["--no-such-flag"]
    assert parsed.get_int("port") == 9


def test_dotted_keys_set_members_of_a_json_flag() -> None:
    argv = ["--kv-transfer-config", '{"kv_role": "kv_both"}', "--kv-transfer-config.kv_connector", "NixlConnector"]
    parsed = parse("vllm", argv, table("vllm"))
    assert parsed.get_json("kv-transfer-config") == {"kv_role": "kv_both", "kv_connector": "NixlConnector"}


@pytest.mark.parametrize(
    "argv", [["--port", Opaque("$((8000 + RANK))")], [Opaque("--port=$((8000 + RANK))")]], ids=["apart", "attached"]
)
def test_what_only_the_pod_knows_is_neither_given_nor_absent(argv: list[str | Opaque]) -> None:
    parsed = parse("vllm", argv, table("vllm"))
    assert not parsed.positionals
    assert parsed.is_opaque("port")
    assert parsed.get_int("port", default=8000) is None


def test_broken_json_is_no_value() -> None:
    assert parse("vllm", ["--kv-transfer-config={"], table("vllm")).get_json("kv-transfer-config") is None


def test_sglang_switches_have_no_negation() -> None:
    assert build("sglang", {"enable-metrics": False}, table("sglang")) == []
    assert build("vllm", {"enable-prefix-caching": False}, table("vllm")) == ["--no-enable-prefix-caching"]


@given(st.lists(st.text(max_size=10), max_size=8), st.sampled_from(["vllm", "sglang", "trtllm"]))
def test_parsing_never_fails(argv: list[str], engine: str) -> None:
    parse(engine, argv, None)
    parse(engine, argv, table(engine))


def test_tensorrt_llm_takes_flags_only_as_they_are_spelt() -> None:
    found = parse("trtllm", ["m", "--tp_size=2", "--tp-size=2", "--tensor_par=2"], table("trtllm"))
    assert [option.written for option in found.options["tensor_parallel_size"]] == ["--tp_size"]
    assert [option.written for option in found.unknown] == ["--tp-size", "--tensor_par"]
