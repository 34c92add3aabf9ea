"""Values, types and refusals recorded from Kubernetes' own CEL libraries: scripts/record_cel_values.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cel_values import Verdict, kind_of, known_difference, ours, same

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("values.json").read_text(encoding="utf-8"))
MOST_LENIENT = 0.004


def test_recorded_values_of_kubernetes_libraries() -> None:
    differing, lenient, kinds = [], 0, set()
    for text, typed, refused, error, value in DATA["pairs"]:
        theirs: Verdict = {"refused": refused, "error": error, "value": value}
        mine = ours(text, typed=typed, minor=DATA["minor"])
        kinds.add(kind_of(theirs))
        if same(theirs, mine) or known_difference(text, theirs, mine):
            continue
        if refused and not mine["refused"]:
            lenient += 1
        else:
            differing.append((text, typed, theirs, mine))
    assert len(DATA["pairs"]) > 2500
    assert kinds == {"refused", "error", "value"}
    assert not differing, "\n".join(map(str, differing))
    # The server may know types better than we do, and then refuses what we take; never the other way round.
    assert lenient <= len(DATA["pairs"]) * MOST_LENIENT
