"""Equality of JSON values, which sets and enumerations go by."""

from __future__ import annotations

from typing import Any

import pytest

from llmdctl.schema.combine import identity


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1], [1]), (True, True)])
def test_equal_values(one: Any, other: Any) -> None:
    assert identity(one) == identity(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), ("1", 1), ("[1]", [1]), (None, "null"), ([1, 2], [2, 1]), (1.5, "1.5"), ({}, [])],
)
def test_different_values(one: Any, other: Any) -> None:
    assert identity(one) != identity(other)
