"""Versions of components, as tags and packages write them."""

from __future__ import annotations

import re
from functools import cache, total_ordering

from llmdctl.findings.frozen import frozen

_NUMBERS = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?P<rest>.*)", re.ASCII)


@total_ordering
@frozen
class Version:
    """A released version, compared by its numbers only: 0.5.13.post1 equals 0.5.13. `text` is how it was written."""

    numbers: tuple[int, int, int]
    text: str = ""

    def __eq__(self, other: object) -> bool:
        return self.numbers == other.numbers if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Version) -> bool:
        return self.numbers < other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    @staticmethod
    @cache
    def parse(text: str) -> Version | None:
        """`v0.30.0`, `0.5.16.0`, `0.23.0-gpu-py312`: its numbers; None for `main`, `nightly`, a digest."""
        match = _NUMBERS.match(text)
        if not match:
            return None
        return Version((int(match[1]), int(match[2]), int(match[3] or 0)), text.removeprefix("v"))

    def at_least(self, *numbers: int) -> bool:
        """True when this version is `numbers` or newer."""
        return self.numbers >= (*numbers, 0, 0, 0)[:3]

    def __str__(self) -> str:
        return self.text or ".".join(map(str, self.numbers))
