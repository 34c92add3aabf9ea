"""From a container to its engine command: the one place where the view meets the engines' flag tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from llmdctl.engines import (
    FlagTable,
    Invocation,
    Opaque,
    Source,
    Word,
    find_engine,
    known_versions,
    load_table,
    parse,
)
from llmdctl.findings.versions import Version
from llmdctl.view.container import Container
from llmdctl.view.engine import EngineCommand
from llmdctl.view.versions import image_version

_OPAQUE_FLAG = re.compile(r"(--?[A-Za-z][\w.-]*)=(.*)", re.DOTALL)
_PROGRAMS = ("vllm", "sglang", "trtllm", "inference-sim")


def read_engine(container: Container, stated: Callable[[str], Version | None]) -> EngineCommand | None:
    """The engine that a container runs, or None. `stated` gives the version that the user states of a component."""
    # Most containers run no engine; looking for the words first saves reading their shell lines.
    text = " ".join((*container.command, *container.args))
    if not any(program in text for program in _PROGRAMS):
        return None
    env = {name: item.value for name, item in container.env.items() if item.value is not None}
    found = find_engine(container.command, container.args, env)
    if found is None:
        return None
    found = _split_opaque(found)
    version = stated(found.engine) or image_version(container.image, found.engine)
    table = table_for(found.engine, version)
    parsed = parse(found.engine, found.argv, table)
    return EngineCommand(container, found, parsed, version, table)


def _split_opaque(found: Invocation) -> Invocation:
    """`--flag=VALUE` with a value that only the pod knows as two words, since the flag itself is known."""
    if not any(isinstance(word, Opaque) for word in found.argv):
        return found
    argv: list[Word] = []
    sources: list[Source] = []
    for word, source in zip(found.argv, found.sources, strict=True):
        match = _OPAQUE_FLAG.fullmatch(word.text) if isinstance(word, Opaque) else None
        parts = [match[1], Opaque(match[2])] if match else [word]
        argv.extend(parts)
        sources.extend([source] * len(parts))
    return replace(found, argv=tuple(argv), sources=tuple(sources))


@cache
def table_for(engine: str, version: Version | None) -> FlagTable | None:
    """The table of the newest known version that is not newer than this one, else the nearest; the newest if None."""
    known = [(parsed, text) for text in known_versions(engine) if (parsed := Version.parse(text))]
    if not known:
        return None
    older = [item for item in known if version is not None and item[0] <= version]
    _, text = older[-1] if older else known[-1 if version is None else 0]
    return load_table(engine, text)
