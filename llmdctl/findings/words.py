"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`: a number with a noun whose plural only takes an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
