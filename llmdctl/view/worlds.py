"""Which documents may stand in one cluster together.

`llmdctl validate overlays/*.yaml` is one run over alternatives: files that define the same object differently are
never applied together, so nothing in the one may be compared with anything in the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from llmdctl.findings import ObjectRef
from llmdctl.manifest.document import Document
from llmdctl.view.pod import PodTemplate


class Worlds:
    """Knows which files exclude each other."""

    def __init__(self, documents: Sequence[Document]) -> None:
        first: dict[ObjectRef, list[Document]] = defaultdict(list)
        self._rivals: dict[str, set[str]] = defaultdict(set)
        for document in documents:
            ref = document.ref
            if not ref.name:
                continue
            for other in first[ref]:
                if other.source.file != document.source.file and other.object != document.object:
                    self._rivals[document.source.file].add(other.source.file)
                    self._rivals[other.source.file].add(document.source.file)
            first[ref].append(document)

    def meet(self, left: Document, right: Document) -> bool:
        """True when both may stand in one cluster: one file, or files that define no common object."""
        one, other = left.source.file, right.source.file
        return one == other or other not in self._rivals.get(one, ())

    def split(self, templates: Sequence[PodTemplate]) -> list[list[PodTemplate]]:
        """Templates by world: those of a file with rivals by themselves, the others together."""
        common: list[PodTemplate] = []
        alone: dict[str, list[PodTemplate]] = defaultdict(list)
        for template in templates:
            file = template.node.document.source.file
            (alone[file] if file in self._rivals else common).append(template)
        return [world for world in (common, *alone.values()) if world]
