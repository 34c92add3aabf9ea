"""Edits for what the server layers find, where only one way to mend it makes sense."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from llmdctl.findings import Edit, Op, Path, Place
from llmdctl.manifest.document import Document
from llmdctl.schema import KindSchema, SchemaStore, Unserved, Violation


def edits_for(document: Document, violation: Violation, schema: KindSchema) -> tuple[Edit, ...]:
    """The edits that mend a violation of the schema, or none."""
    if violation.kind == "duplicate":
        return _repeated(document, violation.path)
    edit = _edit(document, violation)
    return (edit,) if edit is not None and _fits(document, edit, schema) else ()


def _edit(document: Document, violation: Violation) -> Edit | None:
    at = document.place(*violation.path)
    value = value_at(document.object, violation.path)
    match violation.kind:
        case "unknown" if violation.certain:
            parent = value_at(document.object, violation.path[:-1])
            if isinstance(parent, dict) and violation.suggestion not in parent:
                return Edit(Op.RENAME, at, violation.suggestion)
        case "enum" if violation.certain:
            return Edit(Op.REPLACE, at, violation.suggestion)
        case "type" if violation.suggestion:
            return _retyped(at, value, violation.suggestion)
        case "format" | "pattern" if violation.suggestion and isinstance(value, str):
            # 16GB and 16gi can only be 16G and 16Gi; a b might stand for bits.
            if _is_same_quantity(value, violation.suggestion):
                return Edit(Op.REPLACE, at, violation.suggestion)
    return None


def _fits(document: Document, edit: Edit, schema: KindSchema) -> bool:
    """True when the schema takes what the edit makes: a right field of a wrong type was perhaps not meant."""
    path = edit.at.path
    if edit.op is Op.RENAME:
        place: Path = (*path[:-1], edit.value)
        candidate = _changed(document.object, path, lambda parent, key: _with_name(parent, key, edit.value))
        kinds: tuple[str, ...] = ("type", "null")
    else:
        place = path
        candidate = _changed(document.object, path, lambda parent, key: _with_value(parent, key, edit.value))
        kinds = ()
    found = (other for other in schema.check(candidate).violations if other.path == place)
    return not any(not kinds or other.kind in kinds for other in found)


def _changed(value: Any, path: Path, change: Callable[[Any, str | int], Any]) -> Any:
    """A copy, as deep as the path, with the map or list that holds its last step changed."""
    step = path[0]
    if len(path) == 1:
        return change(value, step)
    inner = _changed(value[step], path[1:], change)
    return _with_value(value, step, inner)


def _with_value(parent: Any, key: str | int, value: Any) -> Any:
    if isinstance(parent, list):
        return [value if index == key else item for index, item in enumerate(parent)]
    return {**parent, key: value}


def _with_name(parent: Any, key: str | int, name: str) -> Any:
    return {name if old == key else old: item for old, item in parent.items()}


_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def _retyped(at: Place, value: Any, text: str) -> Edit | None:
    if isinstance(value, str):
        if text in ("true", "false"):
            return Edit(Op.REPLACE, at, text == "true", value)
        is_number = _WHOLE.fullmatch(value) is not None and str(int(value)) == value
        return Edit(Op.REPLACE, at, int(value), value) if is_number else None
    if isinstance(value, int):
        # `yes` and 0o17 are read as true and 15: what was meant by them is not certain.
        plain = text.strip('"')
        return Edit(Op.REPLACE, at, plain, plain)
    return None


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
