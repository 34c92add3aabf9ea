"""Writing YAML: deterministic, in kubectl's layout, and read back equal by every YAML 1.1 and 1.2 parser."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_PLAIN = re.compile(r"[A-Za-z/_][\w./@+=,()<>~^$%&*!|;\[\]{}'\"\\-]*(?::[\w./@+=,()<>~^$%&*!|;-]+)*", re.ASCII)
_PLAIN_WITH_SPACES = re.compile(r"(?:[^\s:#]|:(?=\S)|(?<=\S)#|(?<=\S) (?=[^\s#]))+")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`=<~.")
_DASHES = re.compile(r"--?[A-Za-z][\w./@+=,:-]*(?<!:)", re.ASCII)
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][-+0-9a-fA-FxXoO_.:tTzZpP ]*")
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "nan", "inf", "infinity")
_RESERVED = frozenset((*_WORDS, *(sign + word for sign in ("-", "+", ".", "-.", "+.") for word in ("inf", "nan"))))
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\xa0\xad\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LONG_KEY = 120
_SHORT_ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def emit_yaml(data: Any) -> str:
    """One YAML document of plain data (dict with str keys, list, str, int, float, bool, None).

    Insertion order is kept, nothing is folded, no anchors. Raises TypeError for any other type.
    """
    out: list[str] = []
    if isinstance(data, Mapping) and data:
        _emit_map(data, "", out)
    elif isinstance(data, list | tuple) and data:
        _emit_list(data, "", out)
    else:
        out.append(_value(data, "  "))
    return "\n".join(out) + "\n"


def emit_documents(documents: Iterable[Any]) -> str:
    """Several documents in one stream, separated by `---`."""
    return "---\n".join(emit_yaml(document) for document in documents)


def _emit_map(data: Mapping[str, Any], indent: str, out: list[str], first: str | None = None) -> None:
    """Appends the lines of a non-empty mapping; `first` begins its first line (`- ` for a mapping in a list)."""
    prefix = indent if first is None else first
    for key, value in data.items():
        start = prefix + _key(key, indent)
        prefix = indent
        if value.__class__ is str:
            out.append(f"{start}: {_text(value, indent + '  ')}")
        elif isinstance(value, Mapping) and value:
            out.append(f"{start}:")
            _emit_map(value, indent + "  ", out)
        elif isinstance(value, list | tuple) and value:
            out.append(f"{start}:")
            _emit_list(value, indent, out)
        else:
            out.append(f"{start}: {_value(value, indent + '  ')}")


def _emit_list(data: list[Any] | tuple[Any, ...], indent: str, out: list[str], first: str | None = None) -> None:
    prefix = indent if first is None else first
    inner = indent + "  "
    for item in data:
        start = f"{prefix}- "
        prefix = indent
        if isinstance(item, Mapping) and item:
            _emit_map(item, inner, out, start)
        elif isinstance(item, list | tuple) and item:
            _emit_list(item, inner, out, start)
        else:
            out.append(start + _value(item, inner))


def _key(key: Any, indent: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a mapping key must be a str, not {type(key).__name__}")
    text = _one_line(key)
    # A simple key ends within 1024 characters; an escape writes up to ten for one.
    return text if len(text) < _LONG_KEY else f"? {text}\n{indent}"


def _value(value: Any, indent: str) -> str:
    """A scalar or an empty container; `indent` is where a block below it would stand."""
    if isinstance(value, str):
        return _text(value, indent)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"can't write {type(value).__name__} as YAML")


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise TypeError(f"JSON, and so Kubernetes, has no number {value}")
    text = repr(float(value))
    # Without a point, YAML 1.1 parsers take an exponent for text.
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _text(text: str, indent: str) -> str:
    if "\n" in text and _fits_block(text):
        return _block(text, indent)
    return _one_line(text)


def _fits_block(text: str) -> bool:
    """True when a literal block keeps the text exactly: no odd characters, no blank at the edges of a line."""
    if _UNPRINTABLE.search(text.replace("\n", "").replace("\t", "")):
        return False
    lines = text.split("\n")
    body = [line for line in lines if line]
    # The first line sets the block's indentation.
    return bool(body) and body[0][0] not in " \t" and not any(line[-1] in " \t" or line[0] == "\t" for line in body)


def _block(text: str, indent: str) -> str:
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    head = ("|-", "|", "|+")[min(trailing, 2)]
    lines = body.split("\n") + [""] * max(trailing - 1, 0)
    return "\n".join((head, *(indent + line if line else "" for line in lines)))


@lru_cache(maxsize=16384)
def _one_line(text: str) -> str:
    if is_plain(text):
        return str(text)
    if _UNPRINTABLE.search(text):
        return _escaped(text)
    if ('"' in text or "\\" in text) and "'" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_plain(text: str) -> bool:
    """True when YAML of either version reads the text back as this text without quotes."""
    if not text or text.casefold() in _RESERVED or _NUMBER_LIKE.fullmatch(text):
        return False
    if _PLAIN.fullmatch(text) or _DASHES.fullmatch(text):
        return True
    if text[0] in _INDICATORS or text[-1] == ":" or not text.isprintable() or _UNPRINTABLE.search(text):
        return False
    return "{{" not in text and _PLAIN_WITH_SPACES.fullmatch(text) is not None


def _escaped(text: str) -> str:
    out = json.dumps(text, ensure_ascii=False)[1:-1]
    return '"' + _UNPRINTABLE.sub(lambda match: _escape(match[0]), out) + '"'


def _escape(character: str) -> str:
    return _SHORT_ESCAPES.get(character, f"\\u{ord(character):04X}")
