"""A cursor into an object: a value and its path. Whatever has a wrong type reads as absent, so nothing here raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llmdctl.findings import MapKey, Path, Place
from llmdctl.manifest.document import Document


class Node:
    """One value of a document. Places are built only when a finding needs one: rules look at far more than they hit."""

    __slots__ = ("document", "path", "value")

    def __init__(self, document: Document, value: Any, path: Path = ()) -> None:
        self.document = document
        self.value = value
        self.path = path

    @property
    def place(self) -> Place:
        """Where this value stands (or would stand, when it is absent)."""
        return self.document.place(*self.path)

    @property
    def exists(self) -> bool:
        """True when the object holds a value here other than null."""
        return self.value is not None

    def at(self, *steps: str | int) -> Node:
        """The value at a path below this one; its value is None when there is none."""
        value = self.value
        for step in steps:
            if value.__class__ is dict:
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
                value = value[step]
            else:
                value = None
        return Node(self.document, value, self.path + steps)

    def items(self) -> Iterator[Node]:
        """The items of a list; nothing when it is none."""
        if isinstance(self.value, list):
            for index, item in enumerate(self.value):
                yield Node(self.document, item, (*self.path, index))

    def text(self) -> str:
        """The string, or "" when it is none."""
        return self.value if isinstance(self.value, str) else ""

    def integer(self) -> int | None:
        """The whole number, or None; a boolean is none."""
        value = self.value
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def truth(self) -> bool | None:
        """The boolean, or None."""
        return self.value if isinstance(self.value, bool) else None

    def texts(self) -> dict[str, str]:
        """The entries of a map whose keys and values are strings."""
        if not isinstance(self.value, Mapping):
            return {}
        return {key: value for key, value in self.value.items() if isinstance(key, str) and isinstance(value, str)}

    def strings(self) -> list[str] | None:
        """A list of strings, None when absent or when an item is something else."""
        if not isinstance(self.value, list) or not all(isinstance(item, str) for item in self.value):
            return None
        return list(self.value)

    def key(self, name: str) -> Node:
        """The value of a key of a free map (labels, annotations, data)."""
        return self.at(MapKey(name))
