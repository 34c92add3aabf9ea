"""Work spread over processes: the same results in the same order, only sooner."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from llmdctl.findings import UserError

T = TypeVar("T")
R = TypeVar("R")

CHUNKS = 4
"""Chunks that each process gets on average: more even out what takes longer, and cost more to hand over."""

_work: tuple[Callable[[Any], Any], Sequence[Any]] | None = None


def processes(jobs: int) -> int:
    """How many processes `--jobs` means: 0 is one for each core. Elsewhere than on Linux it is always one."""
    if sys.platform != "linux":
        return 1
    return jobs or len(os.sched_getaffinity(0))


def map_chunks(work: Callable[[Sequence[T]], R], items: Sequence[T], jobs: int) -> list[R]:
    """What `work` gives for consecutive chunks of `items`, in order; with one job for all of them at once.

    The processes are forks, so that `work` and `items` are not copied to them; results are.
    """
    if jobs <= 1 or len(items) < 2:
        return [work(items)]
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    global _work
    number = min(jobs * CHUNKS, len(items))
    ends = [len(items) * index // number for index in range(number + 1)]
    _work = work, items
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("fork"), initializer=_leave_interrupts)
    try:
        return list(pool.map(_run, ends[:-1], ends[1:]))
    except BrokenProcessPool as error:
        raise UserError(
            "a process that checked a part of the input was ended", why="often for want of memory", fix="use --jobs 1"
        ) from error
    finally:
        _work = None
        # After an interrupt nobody waits for what is not begun.
        pool.shutdown(cancel_futures=True)


def _run(start: int, end: int) -> Any:
    assert _work is not None  # noqa: S101 - set before the fork
    work, items = _work
    return work(items[start:end])


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; the first one ends the others."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
