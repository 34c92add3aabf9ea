"""The decorator for immutable values: what dataclasses' own functions and users of a class rely on."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from llmdctl.findings.frozen import frozen


@frozen
class Point:
    """Two numbers and a list."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)


@frozen
class Named(Point):
    """A point with a name."""

    name: str = ""

    def __str__(self) -> str:
        return self.name


def test_construction_by_place_and_by_name() -> None:
    assert (Point(1).x, Point(1).y, Point(1).tags) == (1, 2, ())
    assert Point(1, 3, tags=("a",)) == Point(x=1, y=3, tags=("a",))
    # mypy refuses both calls too; what is tried here is that they fail when nobody ran it.
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, z=2)  # type: ignore[call-arg]


def test_defaults_from_a_factory_are_not_shared() -> None:
    first, second = Point(1), Point(1)
    first.notes["a"] = 1
    assert second.notes == {}


def test_equality_wants_the_same_class() -> None:
    assert Point(1) == Point(1)
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert Point(1) != (1, 2)
    # A value that can be hashed, where the field's type has none.
    assert hash(Named(1, notes=())) == hash(Named(1, notes=()))  # type: ignore[arg-type]


def test_values_do_not_change() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"Point\.x is read-only"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x  # type: ignore[misc]
    assert dataclasses.replace(point, x=5) == Point(5)


def test_dataclasses_know_the_fields() -> None:
    assert [field.name for field in dataclasses.fields(Named)] == ["x", "y", "tags", "notes", "name"]
    assert repr(Named(1, name="a")) == "Named(x=1, y=2, tags=(), notes={}, name='a')"
    assert str(Named(1, name="a")) == "a"
