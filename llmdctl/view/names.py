"""Things by name and namespace. Looking through all of them for each reference would be quadratic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


def same_namespace(left: str, right: str) -> bool:
    """True when two namespaces are or may be the same: an object that states none goes where it is applied."""
    return left == right or not left or not right


class ByName(Generic[T]):
    """Things by namespace and name; a thing without a namespace may be in any."""

    def __init__(self, entries: Iterable[tuple[str, str, T]]) -> None:
        self._spaces: dict[str, dict[str, list[T]]] = defaultdict(lambda: defaultdict(list))
        for namespace, name, item in entries:
            self._spaces[namespace][name].append(item)

    def _parts(self, namespace: str) -> Iterator[dict[str, list[T]]]:
        for space in dict.fromkeys((namespace, "")) if namespace else self._spaces:
            if space in self._spaces:
                yield self._spaces[space]

    def named(self, name: str, namespace: str) -> list[T]:
        """The things of a name that are or may be in a namespace ("": in any), those that surely are first."""
        return [item for part in self._parts(namespace) for item in part.get(name, ())]

    def names(self, namespace: str) -> list[str]:
        """The names that a namespace has or may have."""
        return [name for part in self._parts(namespace) for name in part]
