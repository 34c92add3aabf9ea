"""Edits for what the server layers find, where only one way to mend it makes sense."""

from __future__ import annotations

from typing import Any

from llmdctl.findings import Edit, Op, Path
from llmdctl.manifest.document import Document
from llmdctl.schema import KindSchema, SchemaStore, Unserved, Violation


def edits_for(document: Document, violation: Violation, schema: KindSchema) -> tuple[Edit, ...]:
    """The edits that mend a violation of the schema, or none."""
    at = document.place(*violation.path)
    value = value_at(document.object, violation.path)
    match violation.kind:
        case "unknown" if violation.certain:
            parent = value_at(document.object, violation.path[:-1])
            if isinstance(parent, dict) and violation.suggestion not in parent and _fits(document, violation, schema):
                return (Edit(Op.RENAME, at, violation.suggestion),)
        case "enum" if violation.certain:
            return (Edit(Op.REPLACE, at, violation.suggestion),)
        case "type" if violation.suggestion:
            return _retyped(at, value, violation.suggestion)
        case "format" | "pattern" if violation.suggestion and isinstance(value, str):
            # 16GB and 16gi can only be 16G and 16Gi; a b might stand for bits.
            if _is_same_quantity(value, violation.suggestion):
                return (Edit(Op.REPLACE, at, violation.suggestion),)
        case "duplicate":
            return _repeated(document, violation.path)
    return ()


def _fits(document: Document, violation: Violation, schema: KindSchema) -> bool:
    """True when the value of a misspelt field has the type that the right field wants."""
    path = (*violation.path[:-1], violation.suggestion)
    renamed = _renamed(document.object, violation.path, violation.suggestion)
    found = schema.check(renamed).violations
    return not any(other.kind in ("type", "null") and other.path == path for other in found)


def _renamed(value: Any, path: Path, name: str) -> Any:
    """A copy, as deep as the path, with its last key under another name."""
    step = path[0]
    if isinstance(value, list):
        return [_renamed(item, path[1:], name) if index == step else item for index, item in enumerate(value)]
    if len(path) == 1:
        return {name if key == step else key: item for key, item in value.items()}
    return {key: _renamed(item, path[1:], name) if key == step else item for key, item in value.items()}


def _retyped(at: Any, value: Any, text: str) -> tuple[Edit, ...]:
    if isinstance(value, str):
        if text in ("true", "false"):
            return (Edit(Op.REPLACE, at, text == "true", value),)
        return (Edit(Op.REPLACE, at, int(text), value),) if str(int(text)) == value else ()
    if value is True or value is False or isinstance(value, int):
        # `yes` and 0o17 are read as true and 15: what was meant by them is not certain.
        plain = text.strip('"')
        return (Edit(Op.REPLACE, at, plain, plain),)
    return ()


def _is_same_quantity(value: str, suggestion: str) -> bool:
    return value.replace(" ", "").removesuffix("B").casefold() == suggestion.casefold()


def _repeated(document: Document, path: Path) -> tuple[Edit, ...]:
    """Removes an item that an earlier one equals in all its fields."""
    items, index = value_at(document.object, path[:-1]), path[-1] if path else None
    if isinstance(items, list) and isinstance(index, int) and 0 <= index < len(items):
        item = items[index]
        if any(type(other) is type(item) and other == item for other in items[:index]):
            return (Edit(Op.REMOVE, document.place(*path)),)
    return ()


def edits_for_version(document: Document, unserved: Unserved, store: SchemaStore) -> tuple[Edit, ...]:
    """Another version of the kind, when it is the only one and the object fits it as it is."""
    if len(unserved.versions) != 1 or not isinstance(document.object, dict):
        return ()
    version = unserved.versions[0]
    if unserved.kind == "PodDisruptionBudget" and not value_at(document.object, ("spec", "selector")):
        # An empty selector matched no pod in policy/v1beta1, and matches all in policy/v1.
        return ()
    schema = store.lookup(version, unserved.kind)
    if not isinstance(schema, KindSchema) or schema.check({**document.object, "apiVersion": version}).violations:
        return ()
    return (Edit(Op.REPLACE, document.place("apiVersion"), version),)


def edits_for_labels(document: Document, path: Path) -> tuple[Edit, ...]:
    """The labels that a selector names and the pod template lacks; none when the two contradict each other."""
    labels = value_at(document.object, path)
    selector = value_at(document.object, ("spec", "selector"))
    if not isinstance(selector, dict) or selector.get("matchExpressions") or not isinstance(labels, dict):
        return ()
    wanted = selector.get("matchLabels")
    if not isinstance(wanted, dict) or any(labels.get(key, value) != value for key, value in wanted.items()):
        return ()
    missing = {key: value for key, value in wanted.items() if key not in labels}
    return tuple(Edit(Op.ADD, document.place(*path, key), value) for key, value in missing.items())


def value_at(value: Any, path: Path) -> Any:
    """The value at a path of plain data, None when there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value
