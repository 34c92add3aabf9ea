"""Work spread over processes: the same results in the same order, only sooner."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar

from llmdctl.findings import UserError

T = TypeVar("T")
R = TypeVar("R")

CHUNKS = 16
"""Chunks that each process gets on average: more even out what takes longer, and end sooner after an interrupt."""

_work: tuple[Callable[[Any], Any], Sequence[Any]] | None = None


def processes(jobs: int) -> int:
    """How many processes `--jobs` means: 0 is one for each core. Elsewhere than on Linux it is always one."""
    if sys.platform != "linux":
        return 1
    return jobs or len(os.sched_getaffinity(0))


def map_chunks(work: Callable[[Sequence[T]], R], items: Sequence[T], jobs: int) -> list[R]:
    """What `work` gives for consecutive chunks of `items`, in order; with one job for all of them at once.

    This process takes the first share itself.
    """
    if jobs <= 1 or len(items) < 2:
        return [work(items)]
    share = max(1, len(items) // jobs)
    others = Begun(work, items[share:], jobs - 1)
    try:
        own = work(items[:share])
        return [own, *others.results()]
    finally:
        others.leave()


class Begun(Generic[R]):
    """Work on consecutive chunks of `items` that other processes have begun.

    The processes are forks, so that `work` and `items` are not copied to them; results are.
    """

    def __init__(self, work: Callable[[Sequence[T]], R], items: Sequence[T], workers: int) -> None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        global _work
        number = max(1, min(workers * CHUNKS, len(items)))
        ends = [len(items) * index // number for index in range(number + 1)]
        self._pool = ProcessPoolExecutor(workers, mp_context=get_context("fork"), initializer=_leave_interrupts)
        _work = work, items
        try:
            # All processes are forked with the first of these.
            self._answers = [self._pool.submit(_run, *span) for span in pairwise(ends)]
        finally:
            _work = None

    def results(self) -> list[R]:
        """Waits for what they give, in order. Raises UserError when one was ended."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            return [answer.result() for answer in self._answers]
        except BrokenProcessPool as error:
            raise UserError(
                "a process that checked a part of the input was ended",
                why="often for want of memory",
                fix="use --jobs 1",
            ) from error
        finally:
            self.leave()

    def leave(self) -> None:
        """Waits for nothing that is not begun."""
        self._pool.shutdown(cancel_futures=True)


def _run(start: int, end: int) -> Any:
    assert _work is not None  # noqa: S101 - set before the fork
    work, items = _work
    return work(items[start:end])


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; the first one ends the others."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
