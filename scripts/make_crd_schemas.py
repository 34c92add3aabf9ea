"""Derives llmdctl/schema/data/crds/ from Go modules and from the hand-written sources in scripts/crds/.

scripts/crds/modules.yaml names the modules, the CRD files in them and the overlays: what releases newer than the
downloadable one add, written by hand. Every other `scripts/crds/<name>.yaml` is one kind, written by hand in the
compact notation that `expand` reads. Descriptions are dropped. Needs `go`.

    python scripts/make_crd_schemas.py
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "scripts/crds"
TARGET = ROOT / "llmdctl/schema/data/crds"
PROSE = {"description", "title", "example", "externalDocs"}
NESTED = {"items", "additionalProperties", "allOf", "anyOf", "oneOf", "not"}
SHARED_FILES = {"modules.yaml", "types.yaml"}
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
INT_OR_STRING = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
SCALARS: dict[str, dict[str, Any]] = {
    **{name: {"type": name} for name in ("string", "boolean", "integer", "number", "object")},
    **{name: {"type": "integer", "format": name} for name in ("int32", "int64")},
    "date-time": {"type": "string", "format": "date-time"},
    "int-or-string": INT_OR_STRING,
    "quantity": {**INT_OR_STRING, "pattern": QUANTITY},
}


def main() -> None:
    """Writes one data file a kind, the index and the provenance."""
    kinds: dict[str, dict[str, Any]] = {}
    provenance: dict[str, dict[str, Any]] = {}
    newer: dict[str, dict[str, str]] = {}
    for data, source, since in [*from_modules(), *from_hand()]:
        key = f"{data['group']}/{data['kind']}"
        assert key not in kinds, key
        kinds[key], provenance[key], newer[key] = data, source, since
    write(kinds, provenance, newer)


Made = tuple[dict[str, Any], dict[str, Any], dict[str, str]]
"""A kind, its provenance, and which fields came with which llm-d release."""


def from_modules() -> Iterator[Made]:
    """Kinds from the CRD files of Go modules."""
    types = read(SOURCES / "types.yaml")
    for entry in read(SOURCES / "modules.yaml"):
        module = download(entry["module"], entry["version"])
        for item in entry["files"]:
            chosen = {"file": item} if isinstance(item, str) else item
            file, overlay = chosen["file"], chosen.get("overlay")
            path = Path(module["Dir"]) / entry["directory"] / file
            data = kind_of(read_crd(path, chosen.get("kind")))
            source = {
                "module": entry["module"],
                "version": entry["version"],
                "sum": module["Sum"],
                "licence": entry["licence"],
                "file": f"{entry['directory']}/{file}",
                "sha256": sha256(path),
                "changes": "descriptions dropped",
            }
            since: dict[str, str] = {}
            if overlay:
                since = apply_overlay(data, read(SOURCES / "overlays" / overlay), types)
                source["overlay"] = f"scripts/crds/overlays/{overlay}"
                source["changes"] += "; the overlay's fields, bounds and rules are written by hand"
            yield data, source, since


def from_hand() -> Iterator[Made]:
    """Kinds from our own sources."""
    types = read(SOURCES / "types.yaml")
    for path in sorted(SOURCES.glob("*.yaml")):
        if path.name in SHARED_FILES:
            continue
        text = read(path)
        versions = {
            name: {
                "served": True,
                "subresources": sorted(version.get("subresources", ())),
                "schema": expand(
                    {"apiVersion": "string", "kind": "string", "metadata": "object", **version["schema"]}, types
                ),
            }
            for name, version in text["versions"].items()
        }
        source = {"source": "written by hand", "file": f"scripts/crds/{path.name}", "describes": text["describes"]}
        identity = {name: text[name] for name in ("group", "kind", "plural", "scope")}
        yield {**identity, "versions": versions}, source, {}


def kind_of(crd: dict[str, Any]) -> dict[str, Any]:
    """Our form of a CustomResourceDefinition."""
    spec = crd["spec"]
    return {
        "group": spec["group"],
        "kind": spec["names"]["kind"],
        "plural": spec["names"]["plural"],
        "scope": spec["scope"],
        "versions": {
            version["name"]: {
                "served": version["served"],
                "subresources": sorted(version.get("subresources", {})),
                "schema": without_prose(version["schema"]["openAPIV3Schema"]),
            }
            for version in spec["versions"]
        },
    }


def without_prose(schema: Any) -> Any:
    """A schema without descriptions. Fields of that name, defaults and rules stay as they are."""
    if isinstance(schema, list):
        return [without_prose(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key in PROSE:
            continue
        if key == "properties":
            out[key] = {name: without_prose(child) for name, child in value.items()}
        else:
            out[key] = without_prose(value) if key in NESTED else value
    return out


def apply_overlay(data: dict[str, Any], steps: list[dict[str, Any]], types: dict[str, Any]) -> dict[str, str]:
    """Adds fields (`add`, compact notation) and sets keywords (`set`) at a path, in every version.

    An overlay that the module has caught up with is an error, so that it gets removed. Returns the path of each field
    of a step with `since` -> the first llm-d release whose prerequisites have it.
    """
    since = {}
    for version in data["versions"].values():
        for step in steps:
            node = at(version["schema"], step["at"])
            for name, child in step.get("add", {}).items():
                assert name not in node["properties"], (
                    f"{data['kind']} has {step['at']}.{name} now: drop it from the overlay"
                )
                node["properties"][name] = expand(child, types)
            for keyword, value in step.get("set", {}).items():
                assert node.get(keyword) != value, (
                    f"{data['kind']} has {keyword} at {step['at']} now: drop it from the overlay"
                )
                node[keyword] = value
    for step in steps:
        since.update({f"{step['at']}.{name}": step["since"] for name in step.get("add", {}) if "since" in step})
    return since


def at(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """The node of a dotted path; `[]` after a name is the list's items."""
    for part in path.split("."):
        schema = schema["properties"][part.removesuffix("[]")]
        if part.endswith("[]"):
            schema = schema["items"]
    return schema


def expand(node: Any, types: dict[str, Any]) -> dict[str, Any]:
    """A structural schema from the compact notation.

    A string names a scalar or an entry of types.yaml; a list with one item is a list of that; `{$is: type, ...}`,
    `{$list: item, ...}` and `{$map: value, ...}` take further keywords of the schema beside it; any other mapping is an
    object: its keys are fields, `!` at the end marks a required one, keys that start with `$` are keywords.
    """
    if isinstance(node, str):
        return dict(SCALARS[node]) if node in SCALARS else expand(types[node], types)
    if isinstance(node, list):
        (item,) = node
        return {"type": "array", "items": expand(item, types)}
    keywords = {key: value for key, value in node.items() if key not in ("$is", "$list", "$map")}
    if "$is" in node:
        return {**expand(node["$is"], types), **keywords}
    if "$list" in node:
        return {"type": "array", "items": expand(node["$list"], types), **keywords}
    if "$map" in node:
        return {"type": "object", "additionalProperties": expand(node["$map"], types), **keywords}
    return expand_object(node, types)


def expand_object(node: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object's fields."""
    fields = {key: value for key, value in node.items() if not key.startswith("$")}
    out: dict[str, Any] = {"type": "object"}
    out["properties"] = {key.removesuffix("!"): expand(value, types) for key, value in fields.items()}
    needed = sorted(key.removesuffix("!") for key in fields if key.endswith("!"))
    if needed:
        out["required"] = needed
    out.update({key[1:]: value for key, value in node.items() if key.startswith("$")})
    return out


def write(
    kinds: dict[str, dict[str, Any]], provenance: dict[str, dict[str, Any]], newer: dict[str, dict[str, str]]
) -> None:
    """Writes all files and removes those of kinds that are gone."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for old in TARGET.glob("*.json.gz"):
        old.unlink()
    index: dict[str, dict[str, Any]] = {}
    for key, data in sorted(kinds.items()):
        name = f"{data['group']}_{data['plural']}.json.gz"
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        (TARGET / name).write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
        index[key] = {"file": name, **({"since": newer[key]} if newer[key] else {})}
    (TARGET / "index.json").write_text(json.dumps(index, indent=2) + "\n")
    record = {"script": "scripts/make_crd_schemas.py", "kinds": dict(sorted(provenance.items()))}
    (TARGET / "crds.provenance.json").write_text(json.dumps(record, indent=2) + "\n")


def download(module: str, version: str) -> dict[str, Any]:
    """What `go mod download -json` says of a module: `Dir`, and `Sum` as go.sum records it."""
    with tempfile.TemporaryDirectory() as empty:
        command = ["go", "mod", "download", "-json", f"{module}@{version}"]
        done = subprocess.run(command, cwd=empty, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def read(path: Path) -> Any:
    """The only YAML document of a file."""
    return yaml.load(path.read_bytes(), yaml.CSafeLoader)


def read_crd(path: Path, kind: str | None) -> Any:
    """The CRD in a file, or the one of this kind in a file that holds several."""
    if kind is None:
        return read(path)
    documents = yaml.load_all(path.read_bytes(), yaml.CSafeLoader)
    return next(crd for crd in documents if crd["spec"]["names"]["kind"] == kind)


def sha256(path: Path) -> str:
    """The file's digest."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
