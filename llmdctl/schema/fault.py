"""What the walker finds: faults with a growing path, and the violations that leave this package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmdctl.findings import Path, format_path
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.typed import nearest, surely_meant

HERE = "\0"
"""Stands for the path of a fault inside its text, until the walk back to the root has completed that path."""


@frozen
class Violation:
    """One way in which an object does not fit its schema.

    `kind` is one of unknown, type, required, enum, pattern, range, length, duplicate, format, null, schema. `message`
    is worded as the API server words it, `summary` names only the last step of the path and reads well alone,
    `suggestion` is a name or value that was probably meant, or ""; `certain` when nothing else can be meant.
    """

    path: Path
    kind: str
    message: str
    suggestion: str = ""
    summary: str = ""
    certain: bool = False


class Fault:
    """A violation under construction: `steps` grows from the inside out, so that a sound object costs nothing."""

    __slots__ = ("certain", "kind", "message", "steps", "suggestion", "summary")

    def __init__(self, kind: str, message: str, summary: str, *steps: str | int, suggestion: str = "") -> None:
        self.kind = kind
        self.message = message
        self.summary = summary
        self.steps: list[str | int] = list(steps)
        self.suggestion = suggestion
        self.certain = False

    def done(self) -> Violation:
        """The violation, with its path in reading order and written into the texts."""
        path = tuple(reversed(self.steps))
        dotted = format_path(path)
        return Violation(
            path,
            self.kind,
            self.message.replace(HERE, dotted),
            self.suggestion,
            self.summary.replace(HERE, short_name(path)),
            self.certain,
        )


def short_name(path: Path) -> str:
    """The last named step of a path with the list positions after it: `containers[0]`; "the object" at the root."""
    for index in range(len(path) - 1, -1, -1):
        if isinstance(path[index], str):
            # A key of a free map is named by itself, not as `[key]`.
            return format_path((str(path[index]), *path[index + 1 :]))
    return format_path(path) or "the object"


def unknown(key: str, known: Iterable[str]) -> Fault:
    """A field that the schema does not have."""
    names = list(known)
    close = nearest(key, names)
    hint = f'; did you mean "{close}"?' if close else ""
    fault = Fault("unknown", f'unknown field "{HERE}"', f"unknown field {show(key)}{hint}", key, suggestion=close)
    fault.certain = bool(close) and surely_meant(key, names) == close
    return fault


def wrong_type(value: Any, expected: str, named: str = "") -> Fault:
    """A value of another JSON type. `expected` is what the server calls the type: `integer`, `integer,string`.

    Of a schema with a format (`named`) the server compares Go's formats first, and has none for booleans and maps.
    """
    actual = type_name(value)
    by_format = bool(named) and type(value) in _GO_FORMATS
    wanted, given = (named, _GO_FORMATS[type(value)]) if by_format else (expected, actual)
    message = f'Invalid value: "{given}": {HERE} in body must be of type {wanted}: "{given}"'
    article = _ARTICLES.get(expected, f"a {expected}")
    shown = f" ({show(value)})" if isinstance(value, str | int | float) else ""
    summary = f"{HERE} must be {article}, not {_ARTICLES.get(actual, actual)}{shown}"
    suggestion = _respelt(value, expected)
    return Fault("type", message, summary, suggestion=suggestion)


def wrong_format(value: Any, message: str, wanted: str, kind: str = "format") -> Fault:
    """A value of the right type that is not of the named format."""
    return Fault(kind, message, f"{HERE} must be {wanted}, not {show(value)}")


def required(key: str) -> Fault:
    """A field that must be there."""
    return Fault("required", "Required value", f"required field {HERE} is missing", key)


def unsupported(value: Any, allowed: Iterable[Any]) -> Fault:
    """A value outside the enumeration."""
    values = list(allowed)
    listed = ", ".join(show(item) for item in values)
    close = nearest(value, [item for item in values if isinstance(item, str)]) if isinstance(value, str) else ""
    hint = f"; did you mean {show(close)}?" if close else ""
    fault = Fault(
        "enum",
        f"Unsupported value: {show(value)}: supported values: {listed}",
        f"{HERE} cannot be {show(value)}{hint or ': it is one of ' + listed}",
        suggestion=close,
    )
    texts = [item for item in values if isinstance(item, str)]
    fault.certain = bool(close) and len(texts) == len(values) and surely_meant(str(value), texts) == close
    return fault


def should(kind: str, value: Any, what: str) -> Fault:
    """A bound or pattern that is not kept; `what` follows "in body should"."""
    return Fault(kind, f"Invalid value: {show(value)}: {HERE} in body should {what}", f"{HERE} should {what}")


def too_long(size: int, limit: int) -> Fault:
    """Text with more characters than allowed. The server says bytes, and counts characters."""
    message = f"Too long: may not be more than {limit} byte{'' if limit == 1 else 's'}"
    return Fault("length", message, f"{HERE} may have at most {limit} characters, not {size}")


def too_many(size: int, limit: int, what: str) -> Fault:
    """A list with more items, or a map with more fields, than allowed. The server calls both items."""
    message = f"Too many: {size}: must have at most {limit} item{'' if limit == 1 else 's'}"
    return Fault("length", message, f"{HERE} may have at most {limit} {what}, not {size}")


def duplicate(index: int, shown: str) -> Fault:
    """An item of a set or map list that is there twice."""
    return Fault("duplicate", f"Duplicate value: {shown}", f"{HERE} is a duplicate: {shown}", index)


def junctor(what: str) -> Fault:
    """A combination of schemas that is not kept."""
    return Fault("schema", f'Invalid value: "": "{HERE}" {what}', f"{HERE} {what}")


def type_name(value: Any) -> str:
    """The server's name for the JSON type of a value."""
    return _TYPES.get(type(value), "object")


def show(value: Any) -> str:
    """A value as compact JSON, cut at 80 characters."""
    import json

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def _respelt(value: Any, expected: str) -> str:
    if expected == "string" and isinstance(value, bool | int | float):
        return f'"{show(value)}"'
    if expected == "integer" and isinstance(value, str) and value.strip("-").isdigit():
        return value
    if expected == "boolean" and isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower()
    return ""


_TYPES = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_GO_FORMATS = {bool: "", dict: "", int: "int64", float: "float64"}
_ARTICLES = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "a list",
    "object": "a map",
    "integer,string": "an integer or a string",
    "number,string": "a quantity",
}
