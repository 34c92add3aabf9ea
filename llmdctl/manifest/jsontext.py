"""JSON input, read as kubectl reads it: by a JSON reader when the text begins with a brace."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from llmdctl.manifest.raw import MAX_DEPTH, RawDocument

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_UINT64 = 2**64
_INT64 = 2**63


class _NotPlainJsonError(Exception):
    pass


def read_json(data: bytes) -> list[RawDocument] | None:
    """The values of JSON text (one, or several one after the other).

    None when it is not plain JSON, names a key twice or is nested too deeply: the YAML reader, which knows positions,
    then says what is wrong, or reads it.
    """
    if not data.lstrip(b" \t\r\n").startswith(b"{"):
        return None
    try:
        return _decode_all(data.decode("utf-8"))
    except (ValueError, RecursionError, _NotPlainJsonError):
        return None


def _decode_all(text: str) -> list[RawDocument]:
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_refuse
    )
    documents: list[RawDocument] = []
    position = _skip_space(text, 0)
    while position < len(text):
        value, end = decoder.raw_decode(text, position)
        if _SURROGATE.search(text, position, end):
            json.dumps(value, ensure_ascii=False).encode()  # fails for half a pair, which is no character
        _check_depth(value)
        line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
        documents.append(RawDocument(value, line, column, len(documents)))
        position = _skip_space(text, end)
    return documents


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _NotPlainJsonError
    return out


def _integer(digits: str) -> int | float:
    if len(digits) < 19:
        return int(digits)
    value = int(digits) if len(digits) < 21 else None
    return value if value is not None and -_INT64 <= value < _UINT64 else _float(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _NotPlainJsonError
    return value


def _refuse(_: str) -> Any:
    raise _NotPlainJsonError


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        containers = [node for node in level if isinstance(node, dict | list)]
        if not containers:
            return
        level = [child for node in containers for child in (node.values() if isinstance(node, dict) else node)]
    raise _NotPlainJsonError
