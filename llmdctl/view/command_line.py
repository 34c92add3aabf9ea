"""From a container to its engine command: the one place where the view meets the engines' flag tables."""

from __future__ import annotations

from collections.abc import Callable

from llmdctl.engines import find_engine, parse, table_for
from llmdctl.findings.versions import Version
from llmdctl.view.container import Container
from llmdctl.view.engine import EngineCommand
from llmdctl.view.versions import image_version

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
    version = stated(found.engine) or image_version(container.image, found.engine)
    table = table_for(found.engine, version)
    parsed = parse(found.engine, found.argv, table)
    return EngineCommand(container, found, parsed, version, table)
