"""Writes tests/schema/cel/values.json: random expressions with what Kubernetes' own CEL libraries make of them.

Needs Go, as tests/oracle does. The test beside the file then compares ours without Go.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
SOURCE = ROOT / "tests" / "oracle" / "cel"
TARGET = ROOT / "tests" / "schema" / "cel" / "values.json"
SEED, COUNT, MINOR = 11, 3600, 36


def main() -> int:
    """Builds the Go program and asks it."""
    # The tests' own helpers, found by the path above.
    from cel_random import SCHEMA, VALUE
    from cel_values import question

    chance = random.Random(SEED)  # noqa: S311 - repeatable
    asked = list(dict.fromkeys(question(chance) for _ in range(COUNT)))
    lines = [
        json.dumps(
            {"text": text, "minor": MINOR, "key": str(typed), "self": VALUE, "schema": SCHEMA if typed else None}
        )
        for text, typed in asked
    ]
    with tempfile.TemporaryDirectory() as scratch:
        program = str(Path(scratch) / "cel")
        subprocess.run(["go", "build", "-o", program, "."], cwd=SOURCE, check=True)
        said = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True).stdout
    pairs = []
    for (text, typed), line in zip(asked, said.splitlines(), strict=True):
        found = json.loads(line)
        # The server's words are its own: a mark of what they are about is enough.
        pairs.append([text, typed, found["refused"][:60], found["error"][:60], found["value"]])
    written = ",\n".join(f"  {json.dumps(pair)}" for pair in pairs)
    TARGET.write_text(f'{{\n "minor": {MINOR},\n "pairs": [\n{written}\n ]\n}}\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
