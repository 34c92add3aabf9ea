"""Agreement with the recorded answers of a real API server."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def agreement(root: Path, shared: Path) -> Any:
    """scripts/agreement.py as a module."""
    assert (shared / "corpus" / "server-verdicts").is_dir()
    spec = importlib.util.spec_from_file_location("agreement", root / "scripts" / "agreement.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agreement"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def results(agreement: Any) -> list[Any]:
    return list(agreement.outcomes())


def rate(results: list[Any]) -> float:
    return sum(result.agrees for result in results) / len(results)


def test_built_in_kinds_agree_almost_always(results: list[Any]) -> None:
    group = [result for result in results if not result.custom]
    assert len(group) > 700
    assert rate(group) >= 0.99


def test_custom_kinds_agree_where_no_expression_decides(agreement: Any, results: list[Any]) -> None:
    group = [result for result in results if result.custom and result.key not in agreement.OUT_OF_REACH]
    assert len(group) > 500
    assert rate(group) >= 0.97


def test_fields_are_named_as_the_server_names_them(results: list[Any]) -> None:
    named = [result.field_agrees for result in results if result.field_agrees is not None]
    assert len(named) > 300
    assert sum(named) / len(named) >= 0.95


def test_every_decode_error_is_found(results: list[Any]) -> None:
    missed = [result.key for result in results if result.record.get("status") == 400 and not result.findings]
    assert missed == []


def test_no_base_object_is_refused(results: list[Any]) -> None:
    bases = [result for result in results if result.record["mutation"] == "none"]
    assert len(bases) == 24
    assert [result.key for result in bases if result.record["accepted"] and result.findings] == []


def test_what_is_out_of_reach_still_is(agreement: Any, results: list[Any]) -> None:
    disagreeing = {result.key for result in results if not result.agrees}
    assert set(agreement.OUT_OF_REACH) - disagreeing == set()
