"""Finding engines in containers: plain commands, modules, shell lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.engines import Opaque, find_engine
from llmdctl.engines.shell import commands


@pytest.mark.parametrize(
    ("command", "args", "engine", "argv"),
    [
        (["vllm", "serve"], ["m", "--port=1"], "vllm", ("m", "--port=1")),
        (["vllm", "serve", "m"], [], "vllm", ("m",)),
        (["/usr/bin/vllm", "serve"], ["m"], "vllm", ("m",)),
        (["python3", "-m", "vllm.entrypoints.openai.api_server"], ["--model", "m"], "vllm", ("--model", "m")),
        (["python3", "-m", "sglang.launch_server"], ["--model-path=m"], "sglang", ("--model-path=m",)),
        (["python3", "-u", "-m", "sglang.launch_server"], [], "sglang", ()),
        (["sglang", "serve"], ["--model-path=m"], "sglang", ("--model-path=m",)),
        (["trtllm-serve", "serve"], ["m"], "trtllm", ("m",)),
        (["trtllm-serve"], ["m"], "trtllm", ("m",)),
        (["/app/llm-d-inference-sim"], ["--model=m"], "sim", ("--model=m",)),
        (["bash", "-c"], ["exec vllm serve m --port 1"], "vllm", ("m", "--port", "1")),
        (["/bin/sh", "-lc", "A=2; vllm serve m -tp $A"], [], "vllm", ("m", "-tp", "2")),
        (["bash", "-c"], ["pip install x && vllm serve m \\\n  --port 1 # why\n"], "vllm", ("m", "--port", "1")),
        (
            ["sh", "-c", 'exec vllm serve "$@" --n=$((I * 8))', "vllm"],
            ["m", "--port=1"],
            "vllm",
            ("m", "--port=1", Opaque("--n=$((I * 8))")),
        ),
        (["bash", "-c"], ["vllm serve m --x '{\"a\": 1}' > /log 2>&1"], "vllm", ("m", "--x", '{"a": 1}')),
    ],
)
def test_engines_are_found(command: list[str], args: list[str], engine: str, argv: tuple[str, ...]) -> None:
    found = find_engine(command, args, {})
    assert found is not None
    assert (found.engine, found.argv) == (engine, argv)


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ([], []),
        (["sleep", "infinity"], []),
        (["vllm", "bench"], []),
        (["vllm", "launch", "render"], ["m"]),
        (["python3", "-m", "http.server"], []),
        (["python3", "serve.py"], []),
        (["bash", "-c"], ["echo vllm serve m"]),
        (["bash", "-c"], []),
    ],
)
def test_other_programs_are_no_engines(command: list[str], args: list[str]) -> None:
    assert find_engine(command, args, {}) is None


def test_kubernetes_puts_variables_in() -> None:
    found = find_engine(["vllm", "serve"], ["m", "--port=$(PORT)", "--x=$$(PORT)", "--y=$(OTHER)"], {"PORT": "8200"})
    assert found is not None
    assert found.argv == ("m", "--port=8200", "--x=$(PORT)", Opaque("--y=$(OTHER)"))


def test_a_shell_knows_its_own_assignments_and_not_the_pods() -> None:
    script = (
        "START=$((LWS_WORKER_INDEX * 8))\nTP=2\n"
        "vllm serve m -tp ${TP} --rank $START --size $((LWS_GROUP_SIZE * 8)) --n ${N:-4}"
    )
    found = find_engine(["bash", "-c", script], [], {})
    assert found is not None
    assert found.argv[:3] == ("m", "-tp", "2")
    assert isinstance(found.argv[4], Opaque)
    assert found.argv[6] == Opaque("$((LWS_GROUP_SIZE * 8))")
    assert found.argv[8] == "4"


def test_arguments_know_where_they_stand() -> None:
    found = find_engine(["vllm", "serve"], ["m", "--port=1"], {})
    assert found is not None
    assert [(source.field, source.index) for source in found.sources] == [("args", 0), ("args", 1)]
    shell = find_engine(["bash", "-c"], ["vllm serve m"], {})
    assert shell is not None
    assert shell.sources[0].in_shell
    assert (shell.sources[0].field, shell.sources[0].index) == ("args", 0)


@given(st.text(alphabet=st.sampled_from(list("ab $(){}'\"\\;&|<>#`=\n-:0")), max_size=60))
def test_reading_a_shell_line_never_fails(script: str) -> None:
    for command in commands(script, {"a": "1"}):
        assert command.words


def test_arguments_that_a_shell_passes_on_keep_their_places() -> None:
    found = find_engine(["sh", "-c", 'exec vllm serve "$@" --x=1', "vllm"], ["m", "--port=1"], {})
    assert found is not None
    assert [(source.field, source.index, source.in_shell) for source in found.sources] == [
        ("args", 0, False),
        ("args", 1, False),
        ("command", 2, True),
    ]


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ('F="--a b"; vllm serve m $F', ("m", "--a", "b")),
        ('F="--a b"; vllm serve m ${F} x', ("m", "--a", "b", "x")),
        ('F="--a b"; vllm serve m "$F"', ("m", "--a b")),
        ('F=""; vllm serve m $F', ("m",)),
        ('F=""; vllm serve m "$F"', ("m", "")),
        ('F="1 2"; vllm serve m --a=$F', ("m", Opaque("--a=1 2"))),
        ('F="1 2"; vllm serve m --a="$F"', ("m", "--a=1 2")),
    ],
)
def test_unquoted_variables_are_split_as_a_shell_does(line: str, argv: tuple[str, ...]) -> None:
    found = find_engine(["sh", "-c", line], [], {})
    assert found is not None
    assert found.argv == argv
