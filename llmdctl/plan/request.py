"""What a user asks for: the stack file, flags and --set, as layers with the origin of each value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmdctl.findings import Path, SourceRef
from llmdctl.findings.frozen import frozen
from llmdctl.plan.merge import OriginOf
from llmdctl.plan.origin import Origin, OriginKind


@frozen
class UserLayer:
    """One layer of user input: `data` has the shape of a stack (`metadata`, `spec`).

    `source_of` gives the place of a value in a file, for messages; it is None for flags.
    """

    data: Mapping[str, Any]
    origin_of: OriginOf
    source_of: Any = None

    def get(self, path: Path) -> Any:
        """The value at a path, or None."""
        value: Any = self.data
        for step in path:
            if not isinstance(value, Mapping) or step not in value:
                return None
            value = value[step]
        return value

    def source(self, path: Path) -> SourceRef | None:
        """Where in a file the value stands, when it comes from one."""
        return self.source_of(path) if self.source_of is not None else None


@frozen
class Request:
    """Everything that a plan is made from, besides the catalog. Later layers win."""

    layers: tuple[UserLayer, ...]
    allow_unsupported: bool = False

    def find(self, *path: str) -> tuple[Any, UserLayer | None]:
        """The value that the user gave at a path, with the layer that gave it; (None, None) when nobody did."""
        for layer in reversed(self.layers):
            value = layer.get(path)
            if value is not None:
                return value, layer
        return None, None


def flag_layer(values: Mapping[Path, tuple[Any, str]]) -> UserLayer:
    """A layer from flags: path -> (value, the flag as typed)."""
    data: dict[str, Any] = {}
    texts: dict[Path, str] = {}
    for path, (value, text) in values.items():
        node = data
        for step in path[:-1]:
            node = node.setdefault(str(step), {})
        node[str(path[-1])] = value
        texts[path] = text

    def origin_of(path: Path) -> Origin:
        for length in range(len(path), 0, -1):
            if path[:length] in texts:
                return Origin(OriginKind.FLAG, texts[path[:length]])
        return Origin(OriginKind.FLAG, "command line")

    return UserLayer(data, origin_of)
