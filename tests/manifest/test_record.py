"""Records behave as frozen keyword-only dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest

from llmdctl.manifest.record import record


@record
class Base:
    """A record."""

    name: str
    tags: list[str] = field(default_factory=list)


@record
class Child(Base):
    """A record with more fields, one of them without a default after those that have one."""

    size: int
    note: str = "none"


@dataclass(frozen=True, kw_only=True)
class Plain:
    """The same fields as a standard dataclass."""

    name: str
    tags: tuple[str, ...] = ()


def test_fields_defaults_and_inheritance() -> None:
    child = Child(name="a", size=3)
    assert (child.name, child.tags, child.size, child.note) == ("a", [], 3, "none")
    assert [one.name for one in dataclasses.fields(Child)] == ["name", "tags", "size", "note"]
    assert dataclasses.is_dataclass(child)
    assert child.tags is not Child(name="a", size=3).tags


def test_equality_hash_and_text() -> None:
    assert Base(name="a") == Base(name="a")
    assert Base(name="a") != Base(name="b")
    assert Base(name="a") != Child(name="a", size=1)
    assert Base(name="a") != "a"
    assert repr(Base(name="a")) == "Base(name='a', tags=[])"
    with pytest.raises(TypeError):
        hash(Base(name="a"))  # a list is inside

    @record
    class Flat:
        name: str = "x"

    assert len({Flat(), Flat(name="x"), Flat(name="y")}) == 2


def test_replace_copy_and_pickle() -> None:
    child = Child(name="a", size=3)
    assert dataclasses.replace(child, size=4) == Child(name="a", size=4)
    assert child.size == 3
    assert copy.deepcopy(child) == child
    assert pickle.loads(pickle.dumps(child)) == child  # noqa: S301 (our own bytes)
    assert dataclasses.asdict(child) == {"name": "a", "tags": [], "size": 3, "note": "none"}


@pytest.mark.parametrize("make", [Base, Plain])
def test_wrong_use_fails_as_with_a_standard_dataclass(make: Any) -> None:
    with pytest.raises(TypeError, match="name"):
        make()
    with pytest.raises(TypeError, match="size"):
        make(name="a", size=1)
    with pytest.raises(TypeError):
        make("a")
    made = make(name="a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del made.name
    assert made.name == "a"
