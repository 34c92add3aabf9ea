"""What CEL sees of a structural schema: types, names that are escaped, and values that are no plain data.

Source of the facts: k8s.io/apiserver pkg/cel/{common/schemas,escaping}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.lexer import RESERVED
from llmdctl.schema.cel.times import parse_duration, parse_timestamp
from llmdctl.schema.cel.types import ObjectType, Type

Convert = Callable[[Any], Any]

_PARTS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_RESERVED = RESERVED | {"true", "false", "null", "in"}


def escaped(name: str) -> str | None:
    """The name by which an expression reaches a property, None when it can't."""
    if name in _RESERVED:
        return f"__{name}__"
    out = name
    for part, word in _PARTS.items():
        # The underscores first, and only those of the name itself.
        out = out.replace(part, word) if part != "__" else out.replace("__", word)
    return out if out.isidentifier() and out.isascii() else None


def declared_type(schema: Mapping[str, Any], *, root: bool = False) -> Type:
    """The type of `self` where this schema holds."""
    if schema.get("x-kubernetes-int-or-string"):
        return "dyn"
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return ("list", declared_type(items) if isinstance(items, Mapping) else "dyn")
    if kind == "object":
        return _object(schema, root=root)
    if kind == "string":
        return _TEXTS.get(schema.get("format") or "", "string")
    return {"integer": "int", "number": "double", "boolean": "bool"}.get(str(kind), "dyn")


_TEXTS = {"byte": "bytes", "duration": "duration", "date": "timestamp", "date-time": "timestamp"}
_METADATA: Type = (
    "object",
    ObjectType("metadata", {"name": ("name", "string"), "generateName": ("generateName", "string")}),
)


def _object(schema: Mapping[str, Any], *, root: bool) -> Type:
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return ("map", "string", declared_type(values))
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    whole = root or bool(schema.get("x-kubernetes-embedded-resource"))
    if not properties and not whole and (values is True or schema.get("x-kubernetes-preserve-unknown-fields")):
        return "dyn"
    fields: dict[str, tuple[str, Type]] = {}
    for name, child in properties.items():
        word = escaped(name)
        if word is not None and isinstance(child, Mapping):
            fields[word] = (name, declared_type(child))
    if whole:
        fields.update(apiVersion=("apiVersion", "string"), kind=("kind", "string"), metadata=("metadata", _METADATA))
    return ("object", ObjectType("object", fields))


def converter(schema: Mapping[str, Any]) -> Convert | None:
    """What makes data into values for CEL; None where they are the same."""
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        return None
    if kind == "number":
        return lambda value: float(value) if type(value) is int else value
    if kind == "string":
        return _FORMATS.get(schema.get("format") or "")
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        inner = converter(schema["items"])
        return _each(inner) if inner else None
    if kind == "object":
        values = schema.get("additionalProperties")
        if isinstance(values, Mapping):
            inner = converter(values)
            return _every(inner) if inner else None
        found = {
            name: inner
            for name, child in (schema.get("properties") or {}).items()
            if isinstance(child, Mapping) and (inner := converter(child)) is not None
        }
        return _some(found) if found else None
    return None


def _bytes(value: Any) -> Any:
    import base64
    import binascii

    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return value


def _moment(value: Any) -> Any:
    try:
        return parse_timestamp(value.upper() if "T" in value or "t" in value else f"{value}T00:00:00Z")
    except (EvaluationError, TypeError, AttributeError):
        return value


def _span(value: Any) -> Any:
    try:
        return parse_duration(value)
    except (EvaluationError, TypeError, AttributeError):
        return value


_FORMATS: dict[str, Convert] = {"byte": _bytes, "duration": _span, "date": _moment, "date-time": _moment}


def _each(inner: Convert) -> Convert:
    return lambda value: [inner(item) for item in value] if isinstance(value, list) else value


def _every(inner: Convert) -> Convert:
    return lambda value: {key: inner(item) for key, item in value.items()} if isinstance(value, dict) else value


def _some(found: Mapping[str, Convert]) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: found[key](item) if key in found else item for key, item in value.items()}

    return convert
