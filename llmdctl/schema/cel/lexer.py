"""Tokens of CEL. Source of the grammar: github.com/google/cel-spec doc/langdef.md."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from llmdctl.schema.cel.errors import CompileError

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1

RESERVED = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)


class Token(NamedTuple):
    """`kind`: int, uint, double, string, bytes, name, op or end; `value` is the literal's value or the text."""

    kind: str
    value: Any
    position: int


_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\n\f\r]|//[^\n]*)+)
  | (?P<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<hex>0[xX][0-9a-fA-F]+)(?P<hexu>[uU]?)
  | (?P<int>\d+)(?P<intu>[uU]?)
  | (?P<prefix>(?:[rR][bB]?|[bB][rR]?)?)(?P<quote>\"\"\"|'''|"|')
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
_SIMPLE = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_WIDTHS = {"x": 2, "X": 2, "u": 4, "U": 8}


def tokens(text: str) -> list[Token]:
    """The tokens of an expression, ended by one of kind `end`. Raises CompileError."""
    found: list[Token] = []
    index = 0
    while index < len(text):
        match = _TOKEN.match(text, index)
        if match is None:
            raise CompileError(f"Syntax error: token recognition error at: {text[index]!r}", index)
        if match["quote"]:
            token, index = _text(text, match)
            found.append(token)
            continue
        token_or_none = _plain(match)
        if token_or_none is not None:
            found.append(token_or_none)
        index = match.end()
    found.append(Token("end", "<EOF>", len(text)))
    return found


def _plain(match: re.Match[str]) -> Token | None:
    start = match.start()
    if match["space"]:
        return None
    if match["double"]:
        number = float(match["double"])
        if number == float("inf"):
            raise CompileError("Syntax error: invalid double literal", start)
        return Token("double", number, start)
    digits = match["hex"] or match["int"]
    if digits:
        unsigned = bool(match["hexu"] or match["intu"])
        value = int(digits, 16) if match["hex"] else int(digits[:400])
        # One more than the largest is the smallest, once its minus is seen.
        if value > (UINT_MAX if unsigned else INT_MAX + 1) or len(digits) > 400:
            raise CompileError("Syntax error: invalid int literal", start)
        return Token("uint" if unsigned else "int", value, start)
    if match["name"]:
        return Token("name", match["name"], start)
    return Token("op", match["op"], start)


def _text(text: str, match: re.Match[str]) -> tuple[Token, int]:
    quote, prefix = match["quote"], match["prefix"].lower()
    raw, is_bytes, start = "r" in prefix, "b" in prefix, match.start()
    index = match.end()
    parts: list[str | bytes] = []
    while True:
        if index >= len(text) or (len(quote) == 1 and text[index] in "\r\n"):
            raise CompileError("Syntax error: token recognition error: the string does not end", start)
        if text.startswith(quote, index):
            break
        if raw or text[index] != "\\":
            parts.append(text[index])
            index += 1
        else:
            part, index = _escape(text, index, as_bytes=is_bytes)
            parts.append(part)
    end = index + len(quote)
    if is_bytes:
        data = b"".join(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts)
        return Token("bytes", data, start), end
    return Token("string", "".join(str(part) for part in parts), start), end


def _escape(text: str, index: int, *, as_bytes: bool) -> tuple[str | bytes, int]:
    char = text[index + 1 : index + 2]
    if char in _SIMPLE:
        return _SIMPLE[char], index + 2
    if char in _WIDTHS:
        width, base, start = _WIDTHS[char], 16, index + 2
    elif char in ("0", "1", "2", "3"):
        width, base, start = 3, 8, index + 1
    else:
        raise CompileError(f"Syntax error: invalid escape \\{char}", index)
    digits = text[start : start + width]
    allowed = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    if len(digits) != width or any(digit not in allowed for digit in digits):
        raise CompileError(f"Syntax error: invalid escape \\{char}{digits}", index)
    code = int(digits, base)
    if as_bytes and width != 4 and width != 8:
        return bytes([code & 0xFF]), start + width
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise CompileError("Syntax error: invalid unicode code point", index)
    return chr(code), start + width
