"""What an unquoted YAML scalar means to Kubernetes' tools: the rules of Go's sigs.k8s.io/yaml.

kubectl, Helm and the API server's clients read YAML through that library (YAML 1.1 words, Go's number syntax) and turn
it into JSON. PyYAML reads `1e3`, `0o17`, `1:30` or a date differently, so a file would mean one thing here and another
in the cluster. Each rule below was compared with sigs.k8s.io/yaml 1.6.0; the table is in the tests.
"""

from __future__ import annotations

import base64
import math
import re
from decimal import Decimal

Scalar = str | int | float | bool | None

TAG_PREFIX = "tag:yaml.org,2002:"

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMBER_START = frozenset("0123456789+-.")
_INTEGER = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]*)|([1-9][0-9]{0,18}|1[0-9]{19}))"
)
_INTEGER_BASES = (16, 2, 8, 8, 10)
_SIGNED_BINARY = re.compile(r"0b[-+][01]{1,63}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOTTED = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_INT64 = 2**63
_UINT64 = 2**64
_EXACT = 2**53


class ScalarError(ValueError):
    """A scalar that its tag or JSON does not allow."""


def resolve(text: str) -> Scalar:
    """The value of a plain (unquoted, untagged) scalar. Infinity and NaN come back as floats, though JSON has none."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if text[0] == ".":
        return _float_or_text(text, text) if _DOTTED.fullmatch(text) else text
    digits = text.replace("_", "") if "_" in text else text
    number = _integer(digits)
    if number is not None:
        return number
    if _SIGNED_BINARY.fullmatch(digits):
        return int(digits[2:], 2)
    return _float_or_text(digits, text) if _FLOAT.fullmatch(digits) else text


def _integer(digits: str) -> int | None:
    match = _INTEGER.fullmatch(digits)
    if match is None:
        return None
    sign, *groups = match.groups()
    body, base = next((group, base) for group, base in zip(groups, _INTEGER_BASES, strict=True) if group is not None)
    number = int(body or "0", base)
    if sign == "-":
        return -number if number <= _INT64 else None
    return number if number < (_INT64 if sign else _UINT64) else None


def _float_or_text(digits: str, text: str) -> Scalar:
    value = float(digits)
    return text if math.isinf(value) else as_json_number(value)


def as_json_number(value: float) -> int | float:
    """The number that Go's JSON writes for a float: a whole one has no point, so decoders read it as an integer."""
    if not value.is_integer() or not -_INT64 < value < _INT64:
        return value
    return int(value) if abs(value) < _EXACT else int(Decimal(repr(value)))


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar that carries an explicit tag. Raises ScalarError when the text does not fit the tag."""
    name = tag.removeprefix(TAG_PREFIX)
    if name == "binary":
        return _decode_binary(text)
    if name not in ("int", "float", "bool", "null"):
        return text
    value = resolve(text)
    fits = {
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, int | float) and not isinstance(value, bool),
        "bool": isinstance(value, bool),
        "null": value is None,
    }
    if not fits[name]:
        raise ScalarError(f"{text[:60]!r} does not fit its tag !!{name}")
    return value


def _decode_binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except ValueError as error:
        raise ScalarError(f"!!binary value is not base64: {error}") from error


def key_text(value: Scalar) -> str:
    """The JSON key that Go makes of a scalar key. Raises ScalarError for null, which Go refuses as a key.

    A key that is a fraction is written as Python writes it; Go shortens it to 32 bits. No Kubernetes field has one.
    """
    if isinstance(value, str):
        return value
    if value is None:
        raise ScalarError("a mapping key is empty (null)")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
