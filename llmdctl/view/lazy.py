"""A property that is computed once. Python 3.11's own takes a lock for each; a view is read by one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """As functools.cached_property: the value is kept under the property's name, where later reads find it."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | lazy[T]:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
