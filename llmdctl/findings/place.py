"""Paths inside objects, and places: an object plus a path plus the file it came from."""

from __future__ import annotations

from llmdctl.findings.frozen import frozen
from llmdctl.findings.model import ObjectRef, SourceRef


class MapKey(str):
    """A path step that is a key of a free map (a label, a resource name), written `[key]` as the API server does."""

    __slots__ = ()


Path = tuple[str | int, ...]
"""Steps from an object's root: a `str` names a field, a `MapKey` a key of a free map, an `int` a list item."""


def format_path(path: Path) -> str:
    """Writes a path as the API server does: `spec.containers[0].resources.limits[nvidia.com/gpu]`."""
    out: list[str] = []
    for step in path:
        if isinstance(step, (int, MapKey)):
            out.append(f"[{step}]")
        elif out:
            out.append(f".{step}")
        else:
            out.append(step)
    return "".join(out)


@frozen
class Place:
    """Where something stands: the object, the document that holds it, and the path inside it.

    `source.line` is usually 0 here: lines are looked up only when a finding points at a place. `path` starts at the
    object's root; `item` is the index inside a `kind: List` document, or None.
    """

    object: ObjectRef
    source: SourceRef | None = None
    path: Path = ()
    item: int | None = None

    def at(self, *steps: str | int) -> Place:
        """A place further inside the same object."""
        return Place(self.object, self.source, (*self.path, *steps), self.item)

    @property
    def pointer(self) -> str:
        """The dotted path, as the API server writes it."""
        return format_path(self.path)
