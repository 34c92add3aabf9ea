"""Derives llmdctl/schema/data/builtin/ from the PyPI package kubernetes-validate.

Descriptions are dropped; the rest is written in the dialect of CRDs (closed objects, null meaning absent), so that one
walker reads both. A file holds the definitions of one API group, each once for the minors that share it.

    python scripts/make_builtin_schemas.py
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MINORS = ("1.33", "1.34", "1.35", "1.36", "1.37")
TARGET = Path(__file__).resolve().parent.parent / "llmdctl/schema/data/builtin"
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
OPEN = {"FieldsV1", "RawExtension", "Patch", "JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool"}
OPEN |= {"JSONSchemaPropsOrStringArray"}
KEPT = {"format", "required", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"}
IDENTITY = ("apiVersion", "kind")
ZERO_PASSES = {
    "io.k8s.api.core.v1.HTTPHeader": {"value"},
    "io.k8s.api.core.v1.Sysctl": {"value"},
    "io.k8s.api.core.v1.LimitRangeSpec": {"limits"},
    "io.k8s.api.core.v1.SleepAction": {"seconds"},
    "io.k8s.api.batch.v1.PodFailurePolicy": {"rules"},
    "io.k8s.api.core.v1.PreferredSchedulingTerm": {"preference"},
    "io.k8s.api.core.v1.ISCSIVolumeSource": {"lun"},
    "io.k8s.api.core.v1.ISCSIPersistentVolumeSource": {"lun"},
    "io.k8s.api.storage.v1.CSIDriver": {"spec"},
}
"""Fields that OpenAPI requires, but whose Go zero value passes validation, so that leaving them out is accepted."""


def main(target: Path = TARGET) -> None:
    """Writes the data files and their provenance."""
    from kubernetes_validate import __file__ as package_file

    base = Path(package_file).parent / "kubernetes-json-schema"
    definitions: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    kinds: dict[str, dict[str, Any]] = {}
    pools: dict[str, dict[str, Any]] = {}
    needed: dict[str, set[str]] = {}
    inputs = {}
    for minor in MINORS:
        source = base / f"v{minor}.0-local-strict" / "_definitions.json"
        inputs[f"{source.parent.name}/{source.name}"] = hashlib.sha256(source.read_bytes()).hexdigest()
        pool = json.loads(source.read_text())["$defs"]
        wanted = dict(top_level(pool))
        for key, name in wanted.items():
            kinds.setdefault(key, {"definition": name, "minors": []})["minors"].append(minor)
        pools[minor] = pool
        needed[minor] = reachable(pool, [*wanted.values(), OBJECT_META])
    for minor in MINORS:
        for name in sorted(needed[minor]):
            schema = relaxed(name, definition(name, pools[minor][name]), pools)
            definitions[name][dump(schema)].append(minor)
    write(target, kinds, definitions, inputs)


def top_level(pool: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """`group/version/Kind` and definition of every kind that is an object of its own (not a list, not options)."""
    for name, schema in pool.items():
        kinds = schema.get("x-kubernetes-group-version-kind", [])
        metadata = schema.get("properties", {}).get("metadata", {})
        if len(kinds) == 1 and metadata.get("$ref", "").endswith(OBJECT_META):
            kind = kinds[0]
            prefix = f"{kind['group']}/" if kind["group"] else ""
            yield f"{prefix}{kind['version']}/{kind['kind']}", name


def reachable(pool: dict[str, Any], roots: list[str]) -> set[str]:
    """The definitions that the roots need."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(references(pool[name]))
    return found


def references(schema: Any) -> Iterator[str]:
    """Every definition that a schema names."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def definition(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """One definition in the dialect of CRDs."""
    short = name.rpartition(".")[2]
    if short in OPEN:
        return {"x-kubernetes-preserve-unknown-fields": True}
    if short == "IntOrString":
        return {"x-kubernetes-int-or-string": True}
    if short == "Quantity":
        return {"format": "quantity"}
    out = convert(schema)
    if "x-kubernetes-group-version-kind" in schema:
        # The identity was looked up already; null and absence are the reader's business.
        for key in IDENTITY:
            if key in out.get("properties", {}):
                out["properties"][key] = {"type": "string"}
    if out["type"] == "object" and "additionalProperties" not in out:
        out.setdefault("properties", {})
    return out


def relaxed(name: str, schema: dict[str, Any], pools: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The schema without requirements that no server enforces.

    Upstream marked many fields as required that Go validation accepts when absent, and corrected that in later minors
    (`spec` of DRA kinds, `apiGroup` of a roleRef, `podSelector`): the newest minor that has the field decides.
    """
    if "required" not in schema:
        return schema
    latest = next(pools[minor][name] for minor in reversed(MINORS) if name in pools[minor])
    optional = {key for key in latest.get("properties", {}) if key not in latest.get("required", [])}
    kept = [key for key in schema["required"] if key not in optional | ZERO_PASSES.get(name, set())]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return {**rest, "required": kept} if kept else rest


def convert(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema node without descriptions; `type` is a single name, references carry only the definition's name."""
    if "$ref" in schema:
        return {"$ref": schema["$ref"].rpartition("/")[2]}
    kinds = schema.get("type", [])
    names = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
    assert len(names) == 1, schema
    out: dict[str, Any] = {"type": names[0]}
    out.update({key: value for key, value in schema.items() if key in KEPT})
    if "properties" in schema:
        out["properties"] = {key: convert(value) for key, value in sorted(schema["properties"].items())}
    if "items" in schema:
        out["items"] = convert(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = convert(schema["additionalProperties"])
    return out


def chunk_of(name: str) -> str:
    """The file of a definition: its API group, or `meta` for what all groups share."""
    parts = name.split(".")
    if parts[:3] == ["io", "k8s", "api"]:
        return parts[3]
    return "meta" if parts[2] == "apimachinery" else parts[2]


def dump(value: Any) -> str:
    """JSON that is equal for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def write(
    target: Path, kinds: dict[str, Any], definitions: dict[str, dict[str, list[str]]], inputs: dict[str, str]
) -> None:
    """Writes index, chunks and provenance, and removes chunks of groups that are gone."""
    chunks: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for name, variants in definitions.items():
        chunks[chunk_of(name)][name] = {",".join(minors): json.loads(text) for text, minors in variants.items()}
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.json.gz"):
        old.unlink()
    for chunk, content in {**chunks, "index": kinds}.items():
        packed = gzip.compress(dump(content).encode(), compresslevel=9, mtime=0)
        (target / f"{chunk}.json.gz").write_bytes(packed)
    provenance = {
        "package": "kubernetes-validate",
        "version": importlib.metadata.version("kubernetes-validate"),
        "registry": "PyPI",
        "licence": "Apache-2.0",
        "script": "scripts/make_builtin_schemas.py",
        "inputs": dict(sorted(inputs.items())),
        "changes": "descriptions dropped, written as structural schemas, definitions shared between minors, "
        "requirements dropped that the newest minor dropped or that no server enforces",
    }
    (target / "builtin.provenance.json").write_text(json.dumps(provenance, indent=2) + "\n")


if __name__ == "__main__":
    main()
