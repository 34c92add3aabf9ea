"""Functions of strings: the standard ones, the extension of version 2, regular expressions and `format`.

Sources: github.com/google/cel-go ext/strings.go, k8s.io/apiserver pkg/cel/library/regex.go.
"""

from __future__ import annotations

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
    method("trim", "(string) -> string", lambda text: text.strip(), work=True)
    functions.add("strings.quote", "(string) -> string", _quote, work=True)
    method("format", "(string, list<dyn>) -> string", _format, work=True)


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
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part))


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


def _format(template: str, values: list[Any]) -> str:
    out: list[str] = []
    index, used = 0, 0
    while index < len(template):
        char = template[index]
        index += 1
        if char != "%":
            out.append(char)
            continue
        if template[index : index + 1] == "%":
            out.append("%")
            index += 1
            continue
        precision = ""
        if template[index : index + 1] == ".":
            index += 1
            while template[index : index + 1].isdecimal():
                precision += template[index]
                index += 1
        verb = template[index : index + 1]
        index += 1
        if not verb:
            raise EvaluationError("could not parse formatting clause: unexpected end of string")
        if used >= len(values):
            raise EvaluationError(f"index {used} out of range")
        out.append(_clause(verb, values[used], min(int(precision[:4]), 1000) if precision else None))
        used += 1
    return "".join(out)


def _clause(verb: str, value: Any, precision: int | None) -> str:
    tag = tag_of(value)
    if verb == "s":
        return _shown(value, tag)
    if verb == "d" and tag in ("int", "uint"):
        return str(int(value))
    if verb == "d" and tag == "double" and value != value:
        return "NaN"
    if verb in ("f", "e") and tag in ("int", "uint", "double"):
        return f"{float(value):.{6 if precision is None else precision}{verb}}"
    if verb == "b" and tag in ("int", "uint", "bool"):
        return f"{int(value):b}"
    if verb == "o" and tag in ("int", "uint"):
        return f"{int(value):o}"
    if verb in ("x", "X"):
        if tag in ("int", "uint"):
            return f"{int(value):{verb}}"
        if tag in ("string", "bytes"):
            data = value.encode("utf-8", "surrogatepass") if tag == "string" else value
            return str(data.hex().upper() if verb == "X" else data.hex())
    raise EvaluationError(f"error during formatting: no formatting of {tag} with %{verb}")


def _shown(value: Any, tag: str) -> str:
    if tag == "string":
        return str(value)
    if tag == "bytes":
        return bytes(value).decode("utf-8", "replace")
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
        return "[" + ", ".join(_shown(item, tag_of(item)) for item in value) + "]"
    if tag == "map":
        pairs = sorted((_shown(key, tag_of(key)), _shown(item, tag_of(item))) for key, item in value.items())
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    if tag in ("int", "uint"):
        return str(int(value))
    return str(getattr(value, "name", value))
