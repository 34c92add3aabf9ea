"""Keys that a mapping names twice (YML001) and objects that the input holds twice (YML002)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llmdctl.findings import Evidence, Finding, Hit, MapKey, Path, Place, SourceRef
from llmdctl.manifest.document import Document, object_ref
from llmdctl.manifest.rules import REPEATED_KEY, REPEATED_OBJECT

if TYPE_CHECKING:
    from llmdctl.manifest.marks import MarkedNode, Spot

_FIELD_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_]*")
_FREE_MAPS = frozenset(
    ("labels", "annotations", "matchLabels", "nodeSelector", "selector", "data", "limits", "requests", "stringData")
)


def repeated_key_findings(root: MarkedNode, value: Any, file: str, document: int) -> list[Finding]:
    """YML001 for every repeated key of one document; in a `kind: List` the finding names the item."""
    from llmdctl.manifest.marks import repeated_keys

    return [_repeated_key(path, spots, value, file, document) for path, spots in repeated_keys(root)]


def _repeated_key(path: Path, spots: list[Spot], value: Any, file: str, document: int) -> Finding:
    obj, inner, item = _owner(value, path)
    first, *_, last = spots
    times = "twice" if len(spots) == 2 else f"{len(spots)} times"
    place = Place(object_ref(obj), SourceRef(file, *last, document), _with_map_keys(inner), item)
    evidence = Evidence("first written here", SourceRef(file, *first, document))
    title = f"{str(path[-1])!r} is named {times} in one mapping; the last value wins"
    return REPEATED_KEY.finding(Hit(place, title, evidence=(evidence,)))


def _owner(value: Any, path: Path) -> tuple[Any, Path, int | None]:
    if len(path) > 2 and path[0] == "items" and isinstance(path[1], int) and is_list_object(value):
        return value["items"][path[1]], path[2:], path[1]
    return value, path, None


def is_list_object(value: Any) -> bool:
    """True for `kind: List` and typed lists such as PodList, whose items are objects."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("kind"), str)
        and value["kind"].endswith("List")
        and isinstance(value.get("items", None), list)
    )


def _with_map_keys(path: Path) -> Path:
    out: list[str | int] = []
    for before, step in zip(("", *path), path, strict=False):
        free = isinstance(step, str) and (before in _FREE_MAPS or not _FIELD_NAME.fullmatch(step))
        out.append(MapKey(step) if free else step)
    return tuple(out)


def duplicate_objects(documents: Sequence[Document]) -> list[Finding]:
    """YML002 for every object whose API group, kind, namespace and name an earlier one has; evidence names the first.

    The version does not count (the server stores one object for all of a group); objects without a name
    (`generateName`) never collide.
    """
    first: dict[tuple[str, str, str, str], Document] = {}
    findings = []
    for document in documents:
        identity = _identity(document)
        if identity is None:
            continue
        earlier = first.setdefault(identity, document)
        if earlier is not document:
            findings.append(_repeated_object(document, earlier))
    return findings


def _identity(document: Document) -> tuple[str, str, str, str] | None:
    metadata = document.object.get("metadata") if isinstance(document.object, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    ref = document.ref
    if not isinstance(name, str) or not name or not ref.kind or not ref.api_version:
        return None
    group, slash, _ = ref.api_version.rpartition("/")
    return group if slash else "", ref.kind, ref.namespace, name


def _repeated_object(document: Document, earlier: Document) -> Finding:
    ref = document.ref
    where = f" in namespace {ref.namespace}" if ref.namespace else ""
    evidence = Evidence(f"{ref} stands here first", earlier.source)
    return REPEATED_OBJECT.finding(Hit(document.place(), f"{ref}{where} is already in the input", evidence=(evidence,)))
