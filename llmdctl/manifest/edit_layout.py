"""Keeping a text's own layout: the lines that change are laid over it, everything else stays as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

_COMMENT = re.compile(r"[ \t]*#")


def indents(lines: Iterable[str]) -> tuple[int, int]:
    """How far maps are indented, and the dashes of lists, in the first place that shows it."""
    mapping, offset = 0, -1
    before: str | None = None
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if before is not None and before.rstrip().endswith(":"):
            bare = before.lstrip()
            while bare.startswith("- "):
                bare = bare[2:].lstrip()
            step = _indent(line) - (len(before) - len(bare))
            if line.lstrip().startswith("- "):
                offset = step if offset < 0 and 0 <= step <= 8 else offset
            elif step > 0:
                mapping = mapping or step
        before = line
    return mapping or 2, max(offset, 0)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def merge(base: Sequence[str], mine: Sequence[str], edited: Sequence[str]) -> list[str]:
    """`mine` with the changes that lead from `base` to `edited`; indented as the lines beside them in `mine`."""
    to_mine = _line_map(base, mine)
    out = list(mine)
    changes = SequenceMatcher(None, base, edited, autojunk=False).get_opcodes()
    for tag, start, end, new_start, new_end in reversed(changes):
        if tag == "equal":
            continue
        if tag == "delete":
            while end > start and (not base[end - 1].strip() or _COMMENT.match(base[end - 1])):
                # These stand after what is removed, so they belong to what follows.
                end -= 1
        first, last = to_mine[start], to_mine[end]
        near = start if start < end else max(start - 1, 0)
        shift = _indent(mine[to_mine[near]]) - _indent(base[near]) if base and to_mine[near] < len(mine) else 0
        out[first:last] = [_shifted(line, shift) for line in edited[new_start:new_end]]
    return out


def _shifted(line: str, shift: int) -> str:
    return " " * shift + line if shift >= 0 else line[min(-shift, _indent(line)) :]


def _line_map(base: Sequence[str], mine: Sequence[str]) -> list[int]:
    """For each line of `base`, and for its end, the line of `mine` that holds the same; else the next that does."""
    matcher = SequenceMatcher(None, [line.strip() for line in base], [line.strip() for line in mine], autojunk=False)
    out = [-1] * len(base) + [len(mine)]
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        for index in range(start, end):
            out[index] = new_start + (index - start) if tag == "equal" else min(new_start + index - start, new_end)
    return out
