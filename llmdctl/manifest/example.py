"""The right form of a map or list, for those who wrote another: from a field's own examples, else from its type."""

from __future__ import annotations

import dataclasses
import json
import re
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, Union, cast, get_args, get_origin

from llmdctl.manifest.typed import fields_of, is_required

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_NO_TEXT = re.compile(r"y|n|yes|no|on|off|true|false|null", re.IGNORECASE)


def example_of(kind: Any, metadata: Mapping[str, Any], given: Any = None) -> Any:
    """Plain data of type `kind` as a writer may have meant it; None where the type does not tell.

    A single `given` text becomes the item of a list of texts.
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return example_of(next(arg for arg in args if arg is not type(None)), metadata, given)
    if origin in (list, tuple) and args[0] is str and isinstance(given, str) and given:
        return [given]
    if metadata.get("examples"):
        return metadata["examples"][0]
    if origin is Literal:
        return args[0]
    if origin in (list, tuple):
        item = example_of(args[0], {})
        return None if item is None else [item]
    if origin is dict:
        value = example_of(args[1], {})
        return None if value is None else {"name": value}
    if dataclasses.is_dataclass(kind):
        return _object(cast(type, kind))
    return _scalar(kind, metadata)


def _object(cls: type) -> dict[str, Any] | None:
    """The required fields, or the first one where none is."""
    known = fields_of(cls)
    wanted = [key for key, (field, _) in known.items() if is_required(field)] or list(known)[:1]
    values = {key: example_of(known[key][1], known[key][0].metadata) for key in wanted}
    return None if None in values.values() else values


def _scalar(kind: Any, metadata: Mapping[str, Any]) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind)).value
    if kind is str:
        return None if metadata.get("pattern") else "text"
    return {bool: True, int: metadata.get("minimum") or 1, float: 1.5}.get(kind)


def flow(value: Any) -> str:
    """Plain data as one line of YAML: `{name: a, values: [1, "2"]}`."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _NO_TEXT.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)
