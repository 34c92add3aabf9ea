"""Finding the engine that a container runs, in its command, its args, or a shell line inside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from llmdctl.engines.command import Opaque, Word
from llmdctl.engines.shell import commands, expand_kubernetes
from llmdctl.findings.frozen import frozen

_SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh"})
_PYTHONS = frozenset({"python", "python3"})
_MODULES = {
    "vllm.entrypoints.openai.api_server": "vllm",
    "vllm.entrypoints.cli.main": "vllm",
    "sglang.launch_server": "sglang",
}
_ALL_ARGUMENTS = Opaque("$@")
_SIMULATORS = frozenset({"llm-d-inference-sim"})


@frozen
class Source:
    """Where an argument stands: in `command` or `args`, at which index, and whether inside a shell line there."""

    field: Literal["command", "args"]
    index: int
    in_shell: bool = False


@frozen
class Invocation:
    """An engine process. `argv` are its arguments after program and subcommand, `sources` where each stands.

    `program` is where the program itself stands.
    """

    engine: str
    argv: tuple[Word, ...]
    sources: tuple[Source, ...]
    program: Source


def find_engine(command: Sequence[str], args: Sequence[str], env: Mapping[str, str]) -> Invocation | None:
    """The engine that a container runs, or None. `env` holds the variables with literal values.

    `$(VAR)` is put in as the kubelet does; shell lines are read, never run.
    """
    words: list[tuple[Word, Source]] = []
    for index, text in enumerate(command):
        words.append((expand_kubernetes(text, env), Source("command", index)))
    for index, text in enumerate(args):
        words.append((expand_kubernetes(text, env), Source("args", index)))
    script = _script(words)
    if script is None:
        return _engine(words)
    text, source, passed_on = script
    for found in commands(text, env):
        inner: list[tuple[Word, Source]] = []
        for word in found.words:
            if word == _ALL_ARGUMENTS:
                inner.extend(passed_on)
            else:
                inner.append((word, Source(source.field, source.index, in_shell=True)))
        invocation = _engine(inner)
        if invocation is not None:
            return invocation
    return None


def _script(words: list[tuple[Word, Source]]) -> tuple[str, Source, list[tuple[Word, Source]]] | None:
    """The text of a shell's `-c` and its positional parameters from $1 on, when the words start a shell."""
    if not words or _base(words[0][0]) not in _SHELLS:
        return None
    for position, (word, _) in enumerate(words[1:], start=1):
        text = word.text if isinstance(word, Opaque) else word
        if text.startswith("-") and not text.startswith("--") and text.endswith("c") and position + 1 < len(words):
            line, source = words[position + 1]
            return (line.text if isinstance(line, Opaque) else line), source, words[position + 3 :]
    return None


def _engine(words: list[tuple[Word, Source]]) -> Invocation | None:
    """Reads `vllm serve ...`, `python3 -m sglang.launch_server ...` and their like at the start of the words."""
    if not words:
        return None
    program = _base(words[0][0])
    second = _text(words, 1)
    if program == "vllm" and second == "serve":
        return _from("vllm", words, 2)
    if program == "sglang" and second == "serve":
        return _from("sglang", words, 2)
    if program == "trtllm-serve":
        return _from("trtllm", words, 2 if second == "serve" else 1)
    if program in _SIMULATORS:
        return _from("sim", words, 1)
    if program in _PYTHONS or program.startswith("python3."):
        return _python(words)
    return None


def _python(words: list[tuple[Word, Source]]) -> Invocation | None:
    for position in range(1, len(words)):
        if _text(words, position) == "-m":
            engine = _MODULES.get(_text(words, position + 1))
            if engine is None:
                return None
            serve = _text(words, position + 2) == "serve"
            return _from(engine, words, position + (3 if serve else 2))
        if not _text(words, position).startswith("-"):
            return None
    return None


def _from(engine: str, words: list[tuple[Word, Source]], start: int) -> Invocation:
    rest = words[start:]
    return Invocation(engine, tuple(word for word, _ in rest), tuple(source for _, source in rest), words[0][1])


def _text(words: list[tuple[Word, Source]], position: int) -> str:
    if position >= len(words):
        return ""
    word = words[position][0]
    return "" if isinstance(word, Opaque) else word


def _base(word: Word) -> str:
    return "" if isinstance(word, Opaque) else word.rpartition("/")[2]
