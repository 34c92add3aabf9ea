"""Kinds that come from CustomResourceDefinitions: those we bundle, and those a user brings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from llmdctl.schema.builtin import DATA, read_packed


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A custom kind. `versions`: name -> `{served, schema}`; `scope` is `Namespaced` or `Cluster`."""

    group: str
    kind: str
    scope: str
    versions: Mapping[str, Mapping[str, Any]]


def custom_kinds(documents: Iterable[Mapping[str, Any]]) -> Iterator[CustomKind]:
    """The kinds that CustomResourceDefinition objects define; anything else is passed over."""
    for document in documents:
        if not isinstance(document, Mapping) or document.get("kind") != "CustomResourceDefinition":
            continue
        spec = document.get("spec") or {}
        names = spec.get("names") or {}
        versions = {
            version["name"]: {
                "served": version.get("served", True),
                "schema": (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"},
            }
            for version in spec.get("versions") or ()
            if isinstance(version, Mapping) and version.get("name")
        }
        if names.get("kind") and versions:
            yield CustomKind(spec.get("group", ""), names["kind"], spec.get("scope", "Namespaced"), versions)


@cache
def _index() -> Mapping[str, Mapping[str, Any]]:
    path = DATA / "crds" / "index.json"
    if not path.is_file():
        return {}
    entries: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return entries


@cache
def _read(file: str) -> CustomKind:
    data = read_packed("crds", file)
    return CustomKind(data["group"], data["kind"], data["scope"], data["versions"])


def bundled_kind(group: str, kind: str, release: str) -> CustomKind | None:
    """The kind as an llm-d release's prerequisites install it, or None when we don't bundle it."""
    entry = _index().get(f"{group}/{kind}")
    if entry is None or release not in entry.get("releases", [release]):
        return None
    return _read(entry["file"])
