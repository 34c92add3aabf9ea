"""Writes tests/schema/cel/pairs.json: random rules with what the API server's own CEL (cel-go) makes of them.

Needs Go, as tests/cluster does. The test beside the file then compares ours without a server.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

TARGET = ROOT / "tests" / "schema" / "cel" / "pairs.json"
SEED, COUNT = 7, 1500


def main() -> int:
    """Asks a server that it starts."""
    # The tests' own helpers, found by the paths above.
    from cel_random import expression
    from control_plane import VERSION, running
    from test_cel_live import AT_A_TIME, verdicts

    chance = random.Random(SEED)  # noqa: S311 - repeatable
    rules = list(dict.fromkeys(expression(chance, depth=chance.randint(1, 4)) for _ in range(COUNT)))
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch, running(Path(scratch)) as plane:
        for start in range(0, len(rules), AT_A_TIME):
            batch = {f"p{index}": rule for index, rule in enumerate(rules[start : start + AT_A_TIME])}
            found.update(verdicts(plane, start, batch))
    lines = ",\n".join(f"  {json.dumps([rule, verdict])}" for rule, verdict in found.items() if verdict != "cost")
    TARGET.write_text(f'{{\n "kubernetes": {json.dumps(VERSION)},\n "pairs": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
