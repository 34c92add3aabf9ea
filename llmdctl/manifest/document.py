"""A document: one parsed object with the place it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmdctl.findings import ObjectRef, Path, Place, SourceRef


def object_ref(obj: Any) -> ObjectRef:
    """The identity of an object as far as it states one; fields of a wrong type count as absent."""
    if not isinstance(obj, Mapping):
        return ObjectRef()
    metadata = obj.get("metadata")
    meta: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    return ObjectRef(
        api_version=_text(obj.get("apiVersion")),
        kind=_text(obj.get("kind")),
        namespace=_text(meta.get("namespace")),
        name=_text(meta.get("name")) or _text(meta.get("generateName")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Document:
    """One object of the input. `object` is plain data (dict, list, str, int, float, bool, None).

    `source.document` counts YAML documents in the file from 0; `item` is the index inside a `kind: List`.
    """

    object: Any
    source: SourceRef
    item: int | None = None
    ref: ObjectRef = field(init=False, repr=False, compare=False)
    """The object's identity when it was read."""

    def __post_init__(self) -> None:
        """Reads the identity once, since every rule asks for it."""
        object.__setattr__(self, "ref", object_ref(self.object))

    def place(self, *path: str | int) -> Place:
        """A place inside this object."""
        steps: Path = path
        return Place(self.ref, self.source, steps, self.item)
