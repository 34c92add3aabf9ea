"""Merging layers and remembering who won."""

from __future__ import annotations

from typing import Any

from llmdctl.findings import Path
from llmdctl.plan.merge import OriginOf, merge
from llmdctl.plan.origin import Ledger, Origin, OriginKind


def origin(text: str) -> OriginOf:
    def of(_: Path) -> Origin:
        return Origin(OriginKind.CATALOG, text)

    return of


def merged(*layers: dict[str, Any]) -> tuple[dict[str, Any], Ledger]:
    base: dict[str, Any] = {}
    ledger = Ledger()
    for number, layer in enumerate(layers):
        merge(base, layer, origin(f"layer {number}"), ledger)
    return base, ledger


def test_later_layers_win_and_are_remembered() -> None:
    data, ledger = merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
    assert data == {"a": {"b": 3, "c": 2}}
    assert ledger.of(("a", "b")).text == "layer 1"
    assert ledger.of(("a", "c")).text == "layer 0"


def test_env_merges_by_name_and_keeps_the_first_order() -> None:
    data, ledger = merged(
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"env": [{"name": "A", "value": "9"}, {"name": "C", "value": "3"}]},
    )
    assert [(item["name"], item["value"]) for item in data["env"]] == [("A", "9"), ("B", "2"), ("C", "3")]
    assert ledger.of(("env", "A")).text == "layer 1"
    assert ledger.of(("env", "B")).text == "layer 0"


def test_other_lists_are_replaced_as_a_whole() -> None:
    data, _ = merged({"backends": ["UCX", "TCP"]}, {"backends": ["LIBFABRIC"]})
    assert data == {"backends": ["LIBFABRIC"]}


def test_null_removes_a_value() -> None:
    data, _ = merged({"a": {"b": 1, "c": 2}}, {"a": {"b": None}})
    assert data == {"a": {"c": 2}}


def test_null_stays_in_maps_where_it_removes_something_later() -> None:
    data, _ = merged({"engineArgs": {"x": 1}}, {"engineArgs": {"x": None, "y": None}})
    assert data == {"engineArgs": {"x": None, "y": None}}


def test_a_map_replaces_a_scalar_and_the_other_way_round() -> None:
    data, ledger = merged({"a": 1}, {"a": {"b": 2}})
    assert data == {"a": {"b": 2}}
    data, ledger = merged({"a": {"b": 2}}, {"a": 1})
    assert data == {"a": 1}
    assert ledger.of(("a",)).text == "layer 1"


def test_layers_are_not_changed_by_merging() -> None:
    first = {"a": {"b": 1}, "env": [{"name": "A"}]}
    merged(first, {"a": {"b": 2}, "env": [{"name": "B"}]})
    assert first == {"a": {"b": 1}, "env": [{"name": "A"}]}
