"""Each constraint that we know of is seen by a rule, or it stands in docs/rules with the reason why not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from llmdctl.validate.registry import all_rules

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from make_rule_pages import ROWS, SOURCES, rows

LENGTHS = {"A": 15, "B": 20, "C": 21, "D": 22, "E": 21, "F": 21, "G": 15}
ALL = [pytest.param(row, id=f"{source}:{row.get('row')}") for source in SOURCES for row in rows(source)]


@pytest.mark.parametrize("row", ALL)
def test_a_row_names_rules_or_a_reason(row: dict[str, Any]) -> None:
    assert set(row) <= {"row", "what", "codes", "left"}
    assert ("codes" in row) != ("left" in row)
    if "codes" in row:
        assert row["codes"]
        unknown = [code for code in row["codes"] if all_rules().get(code) is None]
        assert not unknown
    else:
        assert len(row["left"].split()) >= 4


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_no_row_stands_twice(source: str) -> None:
    names = [row["row"] for row in rows(source)]
    assert len(names) == len(set(names))
    if source in LENGTHS:
        assert set(names) <= {f"{source}-{number}" for number in range(1, LENGTHS[source] + 1)}


def test_every_file_is_a_known_source() -> None:
    assert {path.stem for path in ROWS.glob("*.yaml")} <= set(SOURCES)
