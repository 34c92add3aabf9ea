"""Kinds that come from CustomResourceDefinitions: those we bundle, and those a user brings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.schema.builtin import DATA, read_packed
from llmdctl.schema.structural import read_structural


@frozen
class CustomKind:
    """A custom kind. `versions`: name -> `{served, schema}`; `scope` is `Namespaced` or `Cluster`.

    `bundled` schemas are ours and sound; those that somebody brings go through `schema_of`.
    """

    group: str
    kind: str
    scope: str
    versions: Mapping[str, Mapping[str, Any]]
    bundled: bool = False

    def schema_of(self, version: str) -> Mapping[str, Any]:
        """The schema of a version. Raises UnusableSchemaError, and KeyError for a version that it does not have."""
        schema: Mapping[str, Any] = self.versions[version]["schema"]
        return schema if self.bundled else read_structural(schema, f"the schema of {version}")


def custom_kinds(documents: Iterable[Any]) -> Iterator[CustomKind]:
    """The kinds that CustomResourceDefinition objects define; anything else, and nameless ones, are passed over."""
    for document in documents:
        if not isinstance(document, Mapping) or document.get("kind") != "CustomResourceDefinition":
            continue
        spec = _map(document.get("spec"))
        group, kind = spec.get("group"), _map(spec.get("names")).get("kind")
        versions = dict(_versions(spec.get("versions")))
        if isinstance(group, str) and isinstance(kind, str) and kind and versions:
            scope = "Cluster" if spec.get("scope") == "Cluster" else "Namespaced"
            yield CustomKind(group, kind, scope, versions)


def _versions(listed: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for version in listed if isinstance(listed, list) else ():
        if isinstance(version, Mapping) and isinstance(version.get("name"), str):
            schema = _map(version.get("schema")).get("openAPIV3Schema")
            yield version["name"], {"served": version.get("served", True), "schema": schema}


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


@cache
def _index() -> Mapping[str, Mapping[str, Any]]:
    path = DATA / "crds" / "index.json"
    if not path.is_file():
        return {}
    entries: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return entries


@cache
def _read(file: str, absent: tuple[str, ...]) -> CustomKind:
    data = read_packed("crds", file)
    for version in data["versions"].values():
        for path in absent:
            _remove(version["schema"], path)
    return CustomKind(data["group"], data["kind"], data["scope"], data["versions"], bundled=True)


def _remove(schema: dict[str, Any], path: str) -> None:
    *parents, last = path.split(".")
    for step in parents:
        schema = schema["properties"][step.removesuffix("[]")]
        if step.endswith("[]"):
            schema = schema["items"]
    del schema["properties"][last]


def bundled_kinds() -> list[tuple[str, str]]:
    """Group and kind of every bundled CRD."""
    return [(group, kind) for group, _, kind in (name.rpartition("/") for name in _index())]


def bundled_kind(group: str, kind: str, release: str) -> CustomKind | None:
    """The kind as an llm-d release's prerequisites install it, or None when we don't bundle it.

    `since` in the index tells from which release on a field is there. Raises ValueError for a release that is not two
    numbers with a dot.
    """
    entry = _index().get(f"{group}/{kind}")
    if entry is None:
        return None
    wanted = release_order(release)
    newer = (path for path, since in entry.get("since", {}).items() if release_order(since) > wanted)
    return _read(entry["file"], tuple(newer))


def release_order(release: str) -> tuple[int, int]:
    """What llm-d releases are ordered by. Raises ValueError for text that is not two numbers with a dot."""
    major, dot, minor = release.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        raise ValueError(f"not an llm-d release: {release!r}")
    return int(major), int(minor)
