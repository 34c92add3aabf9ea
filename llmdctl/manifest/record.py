"""Frozen, keyword-only dataclasses whose methods are shared: `@dataclass` compiles six for each class at import.

The spec and the catalog are some sixty classes, and every command that reads a stack imports them all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform

C = TypeVar("C")


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type[C]) -> type[C]:
    """Makes a dataclass as `@dataclass(frozen=True, kw_only=True)` does; `fields`, `replace` and so on work with it."""
    made = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)(cls)
    defaults: dict[str, Callable[[], Any] | None] = {}
    for field in dataclasses.fields(cast(Any, made)):
        if field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory
        else:
            defaults[field.name] = None if field.default is dataclasses.MISSING else _constant(field.default)
    methods = {
        "__init__": _initializer(defaults),
        "__eq__": _eq,
        "__hash__": _hash,
        "__repr__": _repr,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
    }
    for name, method in methods.items():
        setattr(made, name, method)
    return made


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def _initializer(defaults: dict[str, Callable[[], Any] | None]) -> Callable[..., None]:
    def __init__(self: Any, **values: Any) -> None:
        own = self.__dict__
        for name, default in defaults.items():
            if name in values:
                own[name] = values.pop(name)
            elif default is not None:
                own[name] = default()
            else:
                raise TypeError(f"{type(self).__name__} needs {name}")
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    return __init__


def _eq(self: Any, other: object) -> bool:
    return bool(self.__dict__ == other.__dict__) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(tuple(self.__dict__.values()))


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def _refuse(self: Any, name: str, *_: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} is read-only")
