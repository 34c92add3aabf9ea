"""What the rules about an engine's start share: a command line as its configuration code sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from llmdctl.findings import Hit, Outcome
from llmdctl.view import EngineCommand, View

ALIASES: dict[str, tuple[str, ...]] = {
    "tensor-parallel-size": ("tensor-parallel-size", "tp-size", "tp"),
    "pipeline-parallel-size": ("pipeline-parallel-size", "pp-size", "pp"),
    "prefill-context-parallel-size": ("prefill-context-parallel-size", "pcp"),
    "decode-context-parallel-size": ("decode-context-parallel-size", "dcp"),
    "data-parallel-size": ("data-parallel-size", "dp-size", "dp"),
    "data-parallel-size-local": ("data-parallel-size-local", "dpl"),
    "data-parallel-rank": ("data-parallel-rank", "dpn"),
    "data-parallel-start-rank": ("data-parallel-start-rank", "dpr"),
    "data-parallel-backend": ("data-parallel-backend", "dpb"),
    "data-parallel-external-lb": ("data-parallel-external-lb", "dpe"),
    "data-parallel-hybrid-lb": ("data-parallel-hybrid-lb", "dph"),
    "enable-expert-parallel": ("enable-expert-parallel", "ep"),
    "api-server-count": ("api-server-count", "asc"),
    "nnodes": ("nnodes", "n"),
    "node-rank": ("node-rank", "r"),
}
"""Flags that have short names (vllm/engine/arg_utils.py, sglang/srt/arg_groups/fields)."""


@dataclass(frozen=True)
class Refusal:
    """Why an engine does not start. `flag` is the one to point at, without dashes."""

    flag: str
    what: str
    fix: str


class Start:
    """An engine's command line, read the way its start-up code compares flags with each other.

    A value is None when it can't be known, and then nothing is said about it: each comparison is written so
    that None makes it false.
    """

    def __init__(self, engine: EngineCommand) -> None:
        self.engine = engine

    def given(self, flag: str) -> bool:
        """True when the flag stands on the command line."""
        return self.engine.option(*self._names(flag)) is not None

    def used(self, flag: str) -> bool:
        """True when the flag is given and not as `--no-FLAG`."""
        option = self.engine.option(*self._names(flag))
        return option is not None and not option.negated

    def absent(self, flag: str) -> bool:
        """True when the flag surely is not given; a command line that may get more flags is never sure."""
        return not self.given(flag) and not self.engine.is_open

    def on(self, flag: str) -> bool:
        """True for a switch that is given and not negated."""
        return self.engine.is_set(*self._names(flag))

    def off(self, flag: str) -> bool:
        """True for a switch that surely is not on by a flag: negated, or absent."""
        return self.absent(flag) or self.engine.parsed.get_bool(*self._names(flag)) is False

    def number(self, flag: str, default: int | None = None) -> int | None:
        """A number that is zero or more."""
        return self.engine.integer(default, *self._names(flag))

    def text(self, flag: str) -> str | None:
        """A flag's text."""
        return self.engine.text(*self._names(flag))

    def _names(self, flag: str) -> tuple[str, ...]:
        return ALIASES.get(flag, (flag,))


Reader = Callable[[Start], Iterator[Refusal]]


def refusals(view: View, readers: dict[str, Reader]) -> Iterator[Outcome]:
    """A hit for each refusal that the reader of an engine's kind yields."""
    for template in view.templates:
        for engine in template.engines:
            read = readers.get(engine.engine)
            for found in read(Start(engine)) if read else ():
                place = engine.place_of(*ALIASES.get(found.flag, (found.flag,)))
                yield Hit(place, f"{template.lead}{engine.engine}: {found.what}", fix=found.fix)


def over(value: int | None, limit: int | None) -> bool:
    """True when both are known and the first is the larger."""
    return value is not None and limit is not None and value > limit


def uneven(whole: int | None, part: int | None) -> bool:
    """True when both are known and the second does not divide the first."""
    return whole is not None and part is not None and part > 0 and whole % part != 0


def product(*values: int | None) -> int | None:
    """The product; None when a factor is not known."""
    result = 1
    for value in values:
        if value is None:
            return None
        result *= value
    return result
