"""CPU time of commands, interleaved."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

RUNS = 15


def cpu_seconds(command: Sequence[str], *, accept: frozenset[int] = frozenset({0})) -> float:
    """User plus system time of one run and of its children. Exits with a message when the command fails."""
    return _run(command, accept)[0]


def wall_seconds(command: Sequence[str]) -> float:
    """Seconds by the clock of one run."""
    started = time.monotonic()
    _run(command, frozenset({0}))
    return time.monotonic() - started


def peak_mib(command: Sequence[str]) -> float:
    """The most memory that one run held at once, in MiB."""
    return _run(command, frozenset({0}))[1]


def _run(command: Sequence[str], accept: frozenset[int]) -> tuple[float, float]:
    # An installed program has its bytecode; a machine that forbids writing it would measure the compiler instead.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        talk = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in accept:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}: {talk.decode(errors='replace')[-400:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def interleaved(
    commands: Mapping[str, Sequence[Sequence[str]]], runs: int = RUNS, *, wall: bool = False
) -> dict[str, float]:
    """The least CPU seconds of each contender (or, with `wall`, seconds by the clock).

    A contender is a list of commands that run one after the other.
    """
    measured = wall_seconds if wall else cpu_seconds
    best: dict[str, float] = {}
    for sequence in commands.values():
        # Once unmeasured: files come into the page cache, bytecode and compiled templates into theirs.
        for command in sequence:
            cpu_seconds(command)
    for _ in range(runs):
        for name, sequence in commands.items():
            spent = sum(measured(command) for command in sequence)
            best[name] = min(spent, best.get(name, spent))
    return best
