"""Strict loading of plain data into dataclasses, and their JSON Schema: one declaration serves both.

A field may be bool, int, float, str, Any, an Enum, Literal, another dataclass, or list/dict/tuple/Optional of these.
The field name in a file is the Python name in camelCase (or metadata `key`). Unknown keys are errors with a suggestion.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from llmdctl.findings import Path, format_path
from llmdctl.findings.frozen import frozen

T = TypeVar("T")


@frozen
class Problem:
    """One fault in the data: where (path from its root), what, and what to do.

    `example` is plain data of the right form, where a map or a list was wanted and something else stands.
    """

    path: Path
    what: str
    fix: str = ""
    example: Any = None

    def __str__(self) -> str:
        where = format_path(self.path)
        return f"{where}: {self.what}" if where else self.what


class TypedError(Exception):
    """Data that does not fit its type; `problems` holds every fault found."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def doc(
    text: str,
    *,
    key: str = "",
    pattern: str = "",
    minimum: int | None = None,
    maximum: int | None = None,
    max_length: int | None = None,
    examples: Iterable[Any] = (),
) -> dict[str, Any]:
    """Metadata for `dataclasses.field`: the meaning of a field and its bounds, for messages and JSON Schema."""
    return {
        "doc": text,
        "key": key,
        "pattern": pattern,
        "minimum": minimum,
        "maximum": maximum,
        "max_length": max_length,
        "examples": tuple(examples),
    }


def nearest(word: str, known: Iterable[str]) -> str:
    """The known name closest to `word`, or "" when none is close."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.65)
    if close:
        return close[0]
    folded = {name.casefold(): name for name in names}
    return folded.get(word.casefold(), "")


def surely_meant(word: str, known: Iterable[str]) -> str:
    """The known name that `word` can only mean, or "".

    It differs by case, or by one letter (wrong, missing, too many, or two swapped) from this name alone; longer words
    may differ by more when every other name differs by much more. Digits are never taken for a slip.
    """
    digits = re.findall(r"\d", word)
    names = [name for name in dict.fromkeys(known) if re.findall(r"\d", name) == digits]
    for near in (
        [name for name in names if name.casefold() == word.casefold()],
        [name for name in names if len(word) > 2 and _is_one_slip(word, name)],
    ):
        if near:
            return near[0] if len(near) == 1 else ""
    close = difflib.get_close_matches(word, names, n=2, cutoff=0.65)
    ratios = [difflib.SequenceMatcher(None, name, word).ratio() for name in close]
    return close[0] if ratios and ratios[0] >= 0.85 and (len(ratios) == 1 or ratios[0] - ratios[1] > 0.1) else ""


def _is_one_slip(left: str, right: str) -> bool:
    """True for one letter wrong, missing or too many, or two neighbours swapped."""
    if abs(len(left) - len(right)) > 1 or left == right:
        return False
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    left, right = left[start:], right[start:]
    if left[1:] == right[1:] or left[1:] == right or left == right[1:]:
        return True
    return left[:2] == right[:2][::-1] and left[2:] == right[2:]


def key_of(field: dataclasses.Field[Any]) -> str:
    """The name of a field in files: camelCase."""
    explicit = field.metadata.get("key")
    if explicit:
        return str(explicit)
    head, *rest = field.name.split("_")
    return head + "".join(part.capitalize() for part in rest)


@cache
def fields_of(cls: type) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    """File key -> (field, resolved type) of a dataclass."""
    hints = typing.get_type_hints(cls)
    return {key_of(field): (field, hints[field.name]) for field in dataclasses.fields(cls)}


def load(cls: type[T], data: Any, path: Path = ()) -> T:
    """Builds a `cls` from plain data. Raises TypedError with every fault."""
    problems: list[Problem] = []
    value = _convert(cls, data, path, {}, problems)
    if problems:
        raise TypedError(problems)
    return typing.cast(T, value)


def faults(kind: Any, data: Any, path: Path = (), metadata: Mapping[str, Any] | None = None) -> list[Problem]:
    """What keeps plain data from being of type `kind` (any type a field may have), with a field's bounds."""
    problems: list[Problem] = []
    _convert(kind, data, path, metadata or {}, problems)
    return problems


def dump(value: Any) -> Any:
    """The plain data of a dataclass tree; fields that equal their default are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out = {}
        for key, (field, _) in fields_of(type(value)).items():
            item = getattr(value, field.name)
            if not _is_default(field, item):
                out[key] = dump(item)
        return out
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: dump(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [dump(item) for item in value]
    return value


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value == field.default)
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    return False


def _convert(kind: Any, data: Any, path: Path, meta: Mapping[str, Any], problems: list[Problem]) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return data
    if origin in (Union, types.UnionType):
        return _convert_union(get_args(kind), data, path, meta, problems)
    if origin is Literal:
        return _convert_choice(get_args(kind), data, path, problems)
    if origin in (list, tuple):
        return _convert_list(kind, origin, data, path, meta, problems)
    if origin is dict:
        return _convert_map(kind, data, path, meta, problems)
    if isinstance(kind, type) and issubclass(kind, Enum):
        chosen = _convert_choice([member.value for member in kind], data, path, problems)
        return None if chosen is None else kind(chosen)
    if dataclasses.is_dataclass(kind):
        return _convert_object(typing.cast(type, kind), data, path, meta, problems)
    return _convert_scalar(kind, data, path, meta, problems)


def _convert_union(
    members: tuple[Any, ...], data: Any, path: Path, meta: Mapping[str, Any], problems: list[Problem]
) -> Any:
    if data is None and type(None) in members:
        return None
    choices = [member for member in members if member is not type(None)]
    if len(choices) == 1:
        return _convert(choices[0], data, path, meta, problems)
    attempts: list[list[Problem]] = []
    for choice in choices:
        attempt: list[Problem] = []
        value = _convert(choice, data, path, meta, attempt)
        if not attempt:
            return value
        attempts.append(attempt)
    # The alternative that got deepest is the one the writer meant.
    problems.extend(max(attempts, key=lambda attempt: max(len(problem.path) for problem in attempt)))
    return None


def _convert_choice(choices: Iterable[Any], data: Any, path: Path, problems: list[Problem]) -> Any:
    allowed = list(choices)
    if any(data == choice and type(data) is type(choice) for choice in allowed):
        return data
    names = ", ".join(str(choice) for choice in allowed)
    close = nearest(data, (str(choice) for choice in allowed)) if isinstance(data, str) else ""
    problems.append(
        Problem(
            path,
            f"{_show(data) or _kind_name(data)} is not one of: {names}",
            f"did you mean {close!r}?" if close else "",
        )
    )
    return None


def _other_shape(what: str, kind: Any, data: Any, path: Path, meta: Mapping[str, Any]) -> Problem:
    """Something else than the map or list that was wanted."""
    # Only for faulty input, so that good input does not pay for the import.
    from llmdctl.manifest.example import example_of, flow

    example = example_of(kind, meta, data)
    key = f"{path[-1]}: " if path and isinstance(path[-1], str) else ""
    fix = f"write it as in `{key}{flow(example)}`" if example is not None else ""
    return Problem(path, f"expected {what}, got {_kind_name(data)}", fix, example)


def _convert_list(
    kind: Any, origin: Any, data: Any, path: Path, meta: Mapping[str, Any], problems: list[Problem]
) -> Any:
    if not isinstance(data, list | tuple):
        problems.append(_other_shape("a list", kind, data, path, meta))
        return None
    item_type = get_args(kind)[0]
    items = [_convert(item_type, item, (*path, index), {}, problems) for index, item in enumerate(data)]
    return tuple(items) if origin is tuple else items


def _convert_map(kind: Any, data: Any, path: Path, meta: Mapping[str, Any], problems: list[Problem]) -> Any:
    if not isinstance(data, Mapping):
        problems.append(_other_shape("a map", kind, data, path, meta))
        return None
    item_type = get_args(kind)[1]
    out = {}
    for key, item in data.items():
        if not isinstance(key, str):
            problems.append(Problem(path, f"key {_show(key)} is not a string", "put it in quotes"))
            continue
        out[key] = _convert(item_type, item, (*path, key), {}, problems)
    return out


def _convert_object(cls: type, data: Any, path: Path, meta: Mapping[str, Any], problems: list[Problem]) -> Any:
    if not isinstance(data, Mapping):
        problems.append(_other_shape("a map", cls, data, path, meta))
        return None
    known = fields_of(cls)
    values: dict[str, Any] = {}
    for key, item in data.items():
        if key not in known:
            close = nearest(str(key), known)
            fix = f"did you mean {close!r}?" if close else "known fields: " + ", ".join(known)
            problems.append(Problem((*path, str(key)), f"unknown field {str(key)!r}", fix))
            continue
        field, kind = known[key]
        if item is None and not is_required(field):
            continue
        values[field.name] = _convert(kind, item, (*path, key), field.metadata, problems)
    for key, (field, _) in known.items():
        if is_required(field) and key not in data:
            problems.append(Problem(path, f"field {key!r} is missing"))
            values[field.name] = None
    if problems:
        return None
    return cls(**values)


def is_required(field: dataclasses.Field[Any]) -> bool:
    """True for a field without a default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _convert_scalar(kind: Any, data: Any, path: Path, meta: Mapping[str, Any], problems: list[Problem]) -> Any:
    fits: dict[Any, Callable[[Any], bool]] = {
        bool: lambda value: isinstance(value, bool),
        int: lambda value: isinstance(value, int) and not isinstance(value, bool),
        float: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        str: lambda value: isinstance(value, str),
    }
    if not fits[kind](data):
        fix = "put it in quotes" if kind is str and isinstance(data, bool | int | float) else ""
        problems.append(
            Problem(path, f"expected {_TYPE_NAMES[kind]}, got {_kind_name(data)} {_show(data)}".rstrip(), fix)
        )
        return None
    _check_bounds(data, path, meta, problems)
    return data


def _check_bounds(value: Any, path: Path, meta: Mapping[str, Any], problems: list[Problem]) -> None:
    minimum, maximum = meta.get("minimum"), meta.get("maximum")
    if minimum is not None and value < minimum:
        problems.append(Problem(path, f"{value} is less than {minimum}", f"use {minimum} or more"))
    if maximum is not None and value > maximum:
        problems.append(Problem(path, f"{value} is more than {maximum}", f"use {maximum} or less"))
    if not isinstance(value, str):
        return
    if meta.get("max_length") and len(value) > meta["max_length"]:
        problems.append(Problem(path, f"longer than {meta['max_length']} characters", "shorten it"))
    if meta.get("pattern") and not re.fullmatch(meta["pattern"], value):
        known = [_show(example) for example in meta.get("examples", ())]
        fix = f"write it as in {' or '.join(known)}" if known else "write it in that form"
        problems.append(Problem(path, f"{_show(value)} does not match {meta['pattern']}", fix))


_TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
_JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _kind_name(data: Any) -> str:
    names = {type(None): "nothing", bool: "the boolean", str: "the string", list: "a list", dict: "a map"}
    if isinstance(data, Mapping):
        return "a map"
    return names.get(type(data), "the number")


def _show(data: Any) -> str:
    if data is None or isinstance(data, list | Mapping):
        return ""
    text = repr(data) if isinstance(data, str) else str(data).lower() if isinstance(data, bool) else str(data)
    return text if len(text) <= 60 else text[:57] + "..."


def json_schema(cls: type, *, identifier: str, title: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a dataclass: closed objects, descriptions from `doc`."""
    definitions: dict[str, Any] = {}
    root = _schema_of(cls, {}, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": identifier,
        "title": title,
        **root,
        "$defs": definitions,
    }


def _schema_of(kind: Any, meta: Mapping[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    schema = _bare_schema(kind, definitions)
    if meta.get("doc"):
        schema = {**schema, "description": meta["doc"]}
    for ours, theirs in (("pattern", "pattern"), ("minimum", "minimum"), ("maximum", "maximum")):
        if meta.get(ours) not in (None, ""):
            value = f"^(?:{meta[ours]})$" if ours == "pattern" else meta[ours]
            schema[theirs] = value
    if meta.get("max_length"):
        schema["maxLength"] = meta["max_length"]
    if meta.get("examples"):
        schema["examples"] = list(meta["examples"])
    return schema


def _bare_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if origin in (Union, types.UnionType):
        members = [_bare_schema(arg, definitions) for arg in args if arg is not type(None)]
        if type(None) in args:
            members.append({"type": "null"})
        return {"anyOf": members}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (list, tuple):
        return {"type": "array", "items": _bare_schema(args[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _bare_schema(args[1], definitions)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if dataclasses.is_dataclass(kind):
        name = typing.cast(type, kind).__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object_schema(typing.cast(type, kind), definitions)
        return {"$ref": f"#/$defs/{name}"}
    return {"type": _JSON_TYPES[kind]}


def _object_schema(cls: type, definitions: dict[str, Any]) -> dict[str, Any]:
    known = fields_of(cls)
    properties = {}
    for key, (field, kind) in known.items():
        schema = _schema_of(kind, field.metadata, definitions)
        if not is_required(field) and "anyOf" not in schema:
            # An explicit null means "as if absent", as in Kubernetes.
            described = {k: schema.pop(k) for k in ("description",) if k in schema}
            schema = {"anyOf": [schema, {"type": "null"}], **described} if schema else described
        properties[key] = schema
    required = [key for key, (field, _) in known.items() if is_required(field)]
    out: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    if required:
        out["required"] = required
    return out
