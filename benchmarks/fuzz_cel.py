"""Throws random expressions, damaged ones and noise at the CEL evaluator: what crashes it, and what takes longest.

`python benchmarks/fuzz_cel.py [COUNT] [SEED]`; 100,000 of them by default. Exit status 1 when anything but a value or
a CelError came out, or one input took longer than a second.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from cel_random import VALUE  # noqa: E402 - found by the path above
from cel_wide import KINDS, damaged, expression, soup  # noqa: E402

from llmdctl.schema.cel import CompileError, EvaluationError, UnsupportedError, compile_expression  # noqa: E402

MINORS = (33, 34, 35, 36, 37)
TOO_LONG = 1.0
ODD: tuple[Any, ...] = (VALUE, None, [], {}, "", 2**70, [[[None]]], {"i": "a", "l": {"a": 1}, "m": [1], "o": 1.5})
"""What `self` may be: right, and of the wrong shape."""


def question(chance: random.Random) -> str:
    """An expression, one that is a little wrong, noise, or something long or deep."""
    draw = chance.random()
    if draw < 0.05:
        return soup(chance)
    text = expression(chance, chance.choice(KINDS), chance.randint(1, 5))
    if draw < 0.4:
        return damaged(chance, text)
    if draw < 0.42:
        count = chance.choice((3, 30, 300, 3000))
        return chance.choice((f"{'(' * count}{text}{')' * count}", "-" * count + text, f"{text} + " * count + text))
    if draw < 0.44:
        return f"[{text}].map(a, [a].map(b, [b, b].map(c, [a, b, c].all(d, d == {text}))))"
    return text


def judge(text: str, value: Any, minor: int) -> str:
    """What came out: the kind of answer, or the name of what should not have been raised."""
    try:
        compile_expression(text, {"self": "dyn"}, minor=minor, wanted="").evaluate({"self": value})
    except CompileError:
        return "refused"
    except EvaluationError:
        return "error"
    except UnsupportedError:
        return "unjudged"
    except Exception as fault:  # noqa: BLE001 - what this program looks for
        return f"crash: {type(fault).__name__}"
    return "value"


def main(count: int = 100_000, seed: int = 1) -> int:
    """Prints how many gave what, and the slowest."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    seen: Counter[str] = Counter()
    slowest: list[tuple[float, str]] = []
    crashes: list[tuple[str, str]] = []
    for _ in range(count):
        text, value, minor = question(chance), chance.choice(ODD), chance.choice(MINORS)
        start = time.perf_counter()
        found = judge(text, value, minor)
        slowest.append((time.perf_counter() - start, text))
        seen[found] += 1
        if found.startswith("crash"):
            crashes.append((found, text))
        if len(slowest) > 1000:
            slowest = sorted(slowest, reverse=True)[:5]
    slowest = sorted(slowest, reverse=True)[:5]
    print(f"{count} inputs: " + ", ".join(f"{name} {number}" for name, number in seen.most_common()))
    for seconds, text in slowest:
        print(f"{seconds * 1000:8.1f} ms  {text[:100]!r}, {len(text)} characters")
    for found, text in crashes[:20]:
        print(f"{found}  {text[:300]!r}")
    return 1 if crashes or slowest[0][0] > TOO_LONG else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
