"""Compares the bundled schemas of custom kinds with a directory of CustomResourceDefinition files.

Fields, types, required, enumerations, patterns, bounds, defaults, list types and the number of rules of each node are
compared; descriptions, the text of rules and the order of anything unordered are not. Exit code 1 when there is a
difference that EXPLAINED does not know, or an explanation that nothing needs any more.

    python scripts/compare_crds.py DIR
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

DATA = Path(__file__).resolve().parent.parent / "llmdctl/schema/data/crds"
UNORDERED = {"required", "enum", "x-kubernetes-list-map-keys"}
IGNORED = {"description", "title", "example", "externalDocs"}
NESTED = {"properties", "items", "additionalProperties"}
ABSENT = "absent"

GROUP_IDENTITY = "LeaderWorkerSet 0.11 has it; the newest CRD that could be read is the one before"
EXPLAINED = {
    "leaderworkerset.x-k8s.io/LeaderWorkerSet v1 spec.groupIdentity": GROUP_IDENTITY,
    "disaggregatedset.x-k8s.io/DisaggregatedSet v1 spec.roles[].spec.groupIdentity": GROUP_IDENTITY,
    "inference.networking.k8s.io/InferencePool v1 spec required": (
        "endpointPickerRef is required up to 1.5 of the inference extension, which llm-d 1.0 installs"
    ),
    "networking.gke.io/GCPBackendPolicy v1 spec.default x-kubernetes-preserve-unknown-fields": (
        "GKE's clusters have more fields there (balancingMode, customMetrics) than the published definition"
    ),
}
"""Place of a difference -> why it is right."""


class Difference(NamedTuple):
    """`place` is kind, version, path and keyword; `ours` and `theirs` are what the two schemas say there."""

    place: str
    ours: Any
    theirs: Any


def main(arguments: list[str]) -> int:
    """Prints the differences; the exit code."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: compare_crds.py DIR", file=sys.stderr)
        return 2
    upstream = definitions(Path(arguments[0]))
    compared = [key for key in bundled() if key in upstream]
    found = [difference for key in compared for difference in compare(key, ours_of(key), upstream[key])]
    for place, ours, theirs in found:
        print(f"{place}: ours {short(ours)}, theirs {short(theirs)} ({EXPLAINED.get(place, 'UNEXPLAINED')})")
    unexplained = [difference for difference in found if difference.place not in EXPLAINED]
    stale = stale_explanations(compared, found)
    for place in stale:
        print(f"{place}: is explained, but there is no difference any more")
    print(
        f"{len(compared)} of {len(bundled())} kinds compared, {len(found)} differences, {len(unexplained)} unexplained"
    )
    missing = sorted(set(bundled()) - set(compared))
    if missing:
        print(f"not in {arguments[0]}: {', '.join(missing)}")
    return 1 if unexplained or stale or not compared else 0


def stale_explanations(compared: list[str], found: list[Difference]) -> list[str]:
    """Explanations of compared kinds that no difference needs."""
    needed = {difference.place for difference in found}
    return [place for place in EXPLAINED if place.split(" ")[0] in compared and place not in needed]


def bundled() -> dict[str, dict[str, Any]]:
    """The index of our data."""
    index: dict[str, dict[str, Any]] = json.loads((DATA / "index.json").read_text())
    return index


def ours_of(key: str) -> dict[str, Any]:
    """Our data of a kind."""
    data: dict[str, Any] = json.loads(gzip.decompress((DATA / bundled()[key]["file"]).read_bytes()))
    return data


def definitions(directory: Path) -> dict[str, dict[str, Any]]:
    """`group/Kind` -> spec of every CustomResourceDefinition in a directory."""
    found = {}
    for path in sorted(directory.glob("*.y*ml")):
        for document in yaml.load_all(path.read_bytes(), yaml.CSafeLoader):
            if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                spec = document["spec"]
                found[f"{spec['group']}/{spec['names']['kind']}"] = spec
    return found


def compare(key: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[Difference]:
    """The differences of a kind."""
    for name, mine, other in (
        ("scope", ours["scope"], theirs["scope"]),
        ("plural", ours["plural"], theirs["names"]["plural"]),
    ):
        if mine != other:
            yield Difference(f"{key} {name}", mine, other)
    versions = {version["name"]: version for version in theirs["versions"]}
    for name in sorted({*ours["versions"], *versions}):
        place = f"{key} {name}"
        mine, other = ours["versions"].get(name), versions.get(name)
        if mine is None or other is None:
            yield Difference(place, mine and "there", other and "there")
            continue
        if mine["served"] != other["served"]:
            yield Difference(f"{place} served", mine["served"], other["served"])
        if mine["subresources"] != sorted(other.get("subresources", {})):
            yield Difference(f"{place} subresources", mine["subresources"], sorted(other.get("subresources", {})))
        yield from compare_nodes(place, "", mine["schema"], other["schema"]["openAPIV3Schema"])


def compare_nodes(kind: str, path: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[Difference]:
    """The differences of two schema nodes and of what lies below them."""
    for keyword in sorted({*ours, *theirs} - NESTED - IGNORED):
        mine, other = comparable(keyword, ours.get(keyword, ABSENT)), comparable(keyword, theirs.get(keyword, ABSENT))
        if mine != other:
            yield Difference(f"{kind} {path or '.'} {keyword}", mine, other)
    for step, mine, other in children(ours, theirs):
        below = f"{path}{step}" if step.startswith("[") or not path else f"{path}.{step}"
        if mine is None or other is None:
            yield Difference(f"{kind} {below}", mine or ABSENT, other or ABSENT)
        else:
            yield from compare_nodes(kind, below, mine, other)


def children(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Step and both nodes of everything below two nodes."""
    mine, other = ours.get("properties", {}), theirs.get("properties", {})
    for name in sorted({*mine, *other}):
        yield name, mine.get(name), other.get(name)
    for keyword, step in (("items", "[]"), ("additionalProperties", "[*]")):
        if keyword in ours or keyword in theirs:
            yield step, ours.get(keyword), theirs.get(keyword)


def comparable(keyword: str, value: Any) -> Any:
    """A keyword's value without order where order means nothing; rules are written differently, so they are counted."""
    if value == ABSENT:
        return value
    if keyword == "x-kubernetes-validations":
        return f"{len(value)} rules"
    return sorted(value, key=str) if keyword in UNORDERED else value


def short(value: Any) -> str:
    """A value that fits into a line."""
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 100 else text[:97] + "..."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
