"""Functions of strings: the standard ones, the extension of version 2, regular expressions and `format`.

Sources: github.com/google/cel-go ext/strings.go, k8s.io/apiserver pkg/cel/library/regex.go.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.registry import Functions
from llmdctl.schema.cel.standard import show_double
from llmdctl.schema.cel.times import format_duration, format_timestamp
from llmdctl.schema.cel.values import tag_of
from llmdctl.schema.patterns import Pattern, compile_re2


def register(functions: Functions) -> None:
    """Adds them all."""
    method = functions.method
    method("startsWith", "(string, string) -> bool", lambda text, start: text.startswith(start), work=True)
    method("endsWith", "(string, string) -> bool", lambda text, end: text.endswith(end), work=True)
    method("contains", "(string, string) -> bool", lambda text, part: part in text, work=True)
    method("matches", "(string, string) -> bool", _matches, work=True)
    functions.add("matches", "(string, string) -> bool", _matches, work=True)
    method("find", "(string, string) -> string", _find, work=True)
    method("findAll", "(string, string) -> list<string>", _find_all, work=True)
    method("findAll", "(string, string, int) -> list<string>", _find_all, work=True)
    method("charAt", "(string, int) -> string", _char_at)
    for name, search in (("indexOf", _index_of), ("lastIndexOf", _last_index_of)):
        method(name, "(string, string) -> int", search, work=True)
        method(name, "(string, string, int) -> int", search, work=True)
    method("join", "(list<string>) -> string", _join, work=True)
    method("join", "(list<string>, string) -> string", _join, work=True)
    method("lowerAscii", "(string) -> string", lambda text: text.translate(_LOWER), work=True)
    method("upperAscii", "(string) -> string", lambda text: text.translate(_UPPER), work=True)
    method("replace", "(string, string, string) -> string", _replace, work=True)
    method("replace", "(string, string, string, int) -> string", _replace, work=True)
    method("split", "(string, string) -> list<string>", _split, work=True)
    method("split", "(string, string, int) -> list<string>", _split, work=True)
    method("substring", "(string, int) -> string", _substring, work=True)
    method("substring", "(string, int, int) -> string", _substring, work=True)
    method("trim", "(string) -> string", lambda text: text.strip(_SPACE), work=True)
    functions.add("strings.quote", "(string) -> string", _quote, work=True)
    method("format", "(string, list<dyn>) -> string", _format, work=True)


_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go calls white space."""
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def _pattern(text: str) -> Pattern:
    found = compile_re2(text)
    if found is None:
        raise EvaluationError(f"error parsing regexp: {text[:60]!r}")
    return found


def _matches(text: str, pattern: str) -> bool:
    return _pattern(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    found = _pattern(pattern).search(text)
    return found if found is not None else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = _pattern(pattern).findall(text)
    return found if limit < 0 else found[:limit]


def _char_at(text: str, position: int) -> str:
    if not 0 <= position <= len(text):
        raise EvaluationError(f"index out of range: {position}")
    return text[position : position + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start) if start < len(text) else -1


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if not part:
        return len(text) if start is None else start
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def _join(items: list[Any], separator: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise EvaluationError("no such overload: join")
    return separator.join(items)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        parts = list(text)
        return parts if limit < 0 or len(parts) <= limit else [*parts[: limit - 1], "".join(parts[limit - 1 :])]
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if not 0 <= start <= last <= len(text):
        raise EvaluationError(f"invalid substring range. start: {start}, end: {last}")
    return text[start:last]


_QUOTED = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


def clauses(template: str) -> Iterator[tuple[str, str, int | None]]:
    """Text, verb and precision of each part of a template; the last verb may be empty. Raises EvaluationError."""
    index, text = 0, ""
    while (mark := template.find("%", index)) >= 0:
        text += template[index:mark]
        if template[mark + 1 : mark + 2] == "%":
            text, index = f"{text}%", mark + 2
            continue
        found = _CLAUSE.match(template, mark + 1)
        if found is None:
            raise EvaluationError("could not parse formatting clause" if template[mark + 1 :] else _UNEXPECTED_END)
        yield text, found[2], min(int(found[1][1:5]), 1000) if found[1] else None
        text, index = "", found.end()
    yield text + template[index:], "", None


def _format(template: str, values: list[Any]) -> str:
    out: list[str] = []
    for used, (text, verb, precision) in enumerate(clauses(template)):
        out.append(text)
        if verb and used >= len(values):
            raise EvaluationError(f"index {used} out of range")
        if verb:
            out.append(_clause(verb, values[used], precision))
    return "".join(out)


_CLAUSE = re.compile(r"(\.\d+)?([sdfebxXo])", re.ASCII)
_UNEXPECTED_END = "unexpected end of string"
_SHOWABLE = frozenset(
    ["list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"]
)
TAKES: dict[str, frozenset[str]] = {
    "s": _SHOWABLE,
    "d": frozenset({"int", "uint"}),
    "f": frozenset({"double", "string"}),
    "e": frozenset({"double", "string"}),
    "b": frozenset({"int", "uint", "bool"}),
    "x": frozenset({"int", "uint", "string", "bytes"}),
    "X": frozenset({"int", "uint", "string", "bytes"}),
    "o": frozenset({"int", "uint"}),
}
"""Verb of a template -> the types that it formats."""
_SUPERSCRIPT = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_NAMED_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _clause(verb: str, value: Any, precision: int | None) -> str:
    tag = tag_of(value)
    if tag not in TAKES[verb] or (verb in "fe" and tag == "string" and value not in _NAMED_NUMBERS):
        raise EvaluationError(f"error during formatting: no formatting of {tag} with %{verb}")
    if verb == "s":
        return _shown(value, tag)
    if verb in "fe":
        return _number(verb, _NAMED_NUMBERS[value] if tag == "string" else value, precision)
    if tag in ("string", "bytes"):
        data = value.encode("utf-8", "surrogatepass") if tag == "string" else value
        return str(data.hex().upper() if verb == "X" else data.hex())
    return format(int(value), verb)


def _number(verb: str, value: float, precision: int | None) -> str:
    """A double in the way of American English, which is what cel-go asks for."""
    if math.isnan(value) or math.isinf(value):
        found = "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    elif verb == "f":
        return f"{value or 0.0:,.{6 if precision is None else precision}f}"
    else:
        mantissa, _, exponent = f"{value or 0.0:.6e}".partition("e")
        found = f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPT)}"
    # To cel-go the precision of %e is a width.
    return found.rjust(precision or 0) if verb == "e" else found


def _shown(value: Any, tag: str) -> str:
    if tag == "string":
        return str(value)
    if tag == "bytes":
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            raise EvaluationError("error during formatting: invalid UTF-8 in bytes") from None
    if tag == "null":
        return "null"
    if tag == "bool":
        return "true" if value else "false"
    if tag == "double":
        return show_double(value)
    if tag == "timestamp":
        return format_timestamp(value)
    if tag == "duration":
        return format_duration(value)
    if tag == "list":
        return "[" + ", ".join(map(_inside, value)) + "]"
    if tag == "map":
        pairs = sorted((_key(key), _inside(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"
    if tag in ("int", "uint"):
        return str(int(value))
    return str(value.name)


def _key(value: Any) -> str:
    tag = tag_of(value)
    if tag not in ("string", "bool", "int", "uint"):
        raise EvaluationError(f"error during formatting: no formatting function for map key of type {tag}")
    return _inside(value)


def _inside(value: Any) -> str:
    """A value in a list or map, as CEL would write it."""
    tag = tag_of(value)
    if tag not in _SHOWABLE:
        raise EvaluationError(f"error during formatting: no formatting function for {tag}")
    if tag == "double":
        return f"{value:.6f}" if math.isfinite(value) else f'"{show_double(value)}"'
    text = _shown(value, tag)
    if tag in ("timestamp", "duration"):
        return f"{tag}({_quote(text)})"
    return f"b{_quote(text)}" if tag == "bytes" else _quote(text) if tag == "string" else text
