"""Reads the schema of a CRD that somebody brings: a keyword of the wrong type would only fail later, in the walker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TYPES = ("object", "array", "string", "integer", "number", "boolean")


class UnusableSchemaError(ValueError):
    """A schema that the API server would not take either; the text names the place and what is wrong there."""


def read_structural(schema: Any, where: str) -> dict[str, Any]:
    """The schema without nulls, which to the API server are absent, and with every keyword of the right type.

    `where` is the schema's own path, for the text of UnusableSchemaError.
    """
    if not isinstance(schema, Mapping):
        raise UnusableSchemaError(f"{where} must be a map")
    return {key: _keyword(key, value, f"{where}.{key}") for key, value in schema.items() if value is not None}


def _keyword(key: str, value: Any, where: str) -> Any:
    if key == "properties":
        return _named(value, where)
    if key in ("allOf", "anyOf", "oneOf"):
        return _listed(value, where)
    if key in ("items", "not") or (key == "additionalProperties" and not isinstance(value, bool)):
        return read_structural(value, where)
    test, wanted = _SCALARS.get(key, _ANYTHING)
    if not test(value):
        raise UnusableSchemaError(f"{where} must be {wanted}")
    return value


def _named(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise UnusableSchemaError(f"{where} must be a map")
    return {name: read_structural(child, f"{where}.{name}") for name, child in value.items()}


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise UnusableSchemaError(f"{where} must be a list")
    return [read_structural(child, f"{where}[{index}]") for index, child in enumerate(value)]


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_rules(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) and _is_text(item.get("rule")) for item in value)


Test = Callable[[Any], bool]

_ANYTHING: tuple[Test, str] = (lambda _: True, "anything")
_COUNT: tuple[Test, str] = (_is_count, "a whole number that is not negative")
_NUMBER: tuple[Test, str] = (_is_number, "a number")
_TEXT: tuple[Test, str] = (_is_text, "a string")
_FLAG: tuple[Test, str] = (_is_flag, "true or false")
_TEXTS: tuple[Test, str] = (_is_texts, "a list of strings")
_SCALARS: dict[str, tuple[Test, str]] = {
    "type": (lambda value: value in TYPES or value == "", f"one of {', '.join(TYPES)}"),
    **dict.fromkeys(("format", "pattern"), _TEXT),
    **dict.fromkeys(("required", "x-kubernetes-list-map-keys"), _TEXTS),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum", "nullable", "uniqueItems"), _FLAG),
    **dict.fromkeys(("x-kubernetes-int-or-string", "x-kubernetes-embedded-resource"), _FLAG),
    "x-kubernetes-preserve-unknown-fields": _FLAG,
    "x-kubernetes-list-type": (lambda value: value in ("atomic", "set", "map"), "atomic, set or map"),
    "x-kubernetes-validations": (_is_rules, "a list of rules"),
    "enum": (lambda value: isinstance(value, list), "a list"),
}
"""Keyword -> test and what it asks for (JSONSchemaProps of apiextensions.k8s.io/v1)."""
