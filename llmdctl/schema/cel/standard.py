"""CEL's standard functions and operators. Source: github.com/google/cel-spec doc/langdef.md."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.lexer import INT_MAX, INT_MIN, UINT_MAX
from llmdctl.schema.cel.registry import Functions
from llmdctl.schema.cel.times import format_duration, format_timestamp, parse_duration, parse_timestamp
from llmdctl.schema.cel.values import (
    SECOND,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    checked_int,
    checked_uint,
    contains,
    equal,
    index,
    tag_of,
)

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_FLOAT = re.compile(
    r"[+-]?(?:\d+(?:_\d+)*(?:\.\d*(?:_\d+)*)?(?:e[+-]?\d+)?|\.\d+(?:_\d+)*(?:e[+-]?\d+)?|inf|infinity|nan)",
    re.ASCII | re.IGNORECASE,
)


def register(functions: Functions) -> None:
    """Adds operators, conversions and size."""
    _equality(functions)
    _arithmetic(functions)
    _order(functions)
    _conversions(functions)
    for kind in ("string", "bytes", "list<A>", "map<A, B>"):
        functions.add("size", f"({kind}) -> int", len)
        functions.method("size", f"({kind}) -> int", len)
    functions.add("@in", "(A, list<A>) -> bool", lambda item, items: contains(items, item), work=True)
    functions.add("@in", "(A, map<A, B>) -> bool", lambda key, mapping: contains(mapping, key))
    functions.add("_[_]", "(list<A>, int) -> A", index)
    functions.add("_[_]", "(map<A, B>, A) -> B", index)
    functions.add("!_", "(bool) -> bool", lambda value: not value)


def _equality(functions: Functions) -> None:
    functions.add("_==_", "(A, A) -> bool", equal, work=True)
    functions.add("_!=_", "(A, A) -> bool", lambda left, right: not equal(left, right), work=True)


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return checked_int(quotient if (left < 0) == (right < 0) else -quotient)


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    return left - right * _divide(left, right)


def _divide_unsigned(left: int, right: int) -> Uint:
    if right == 0:
        raise EvaluationError("division by zero")
    return Uint(int(left) // int(right))


def _remainder_unsigned(left: int, right: int) -> Uint:
    if right == 0:
        raise EvaluationError("modulus by zero")
    return Uint(int(left) % int(right))


def _divide_doubles(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right


def _span(value: int) -> Duration:
    return Duration(checked_int(value))


def _moment(value: int) -> Timestamp:
    if not -62135596800 * SECOND <= value < 253402300800 * SECOND:
        raise EvaluationError("timestamp overflow")
    return Timestamp(value)


def _arithmetic(functions: Functions) -> None:
    add = functions.add
    add("_+_", "(int, int) -> int", lambda left, right: checked_int(left + right))
    add("_-_", "(int, int) -> int", lambda left, right: checked_int(left - right))
    add("_*_", "(int, int) -> int", lambda left, right: checked_int(left * right))
    add("_/_", "(int, int) -> int", _divide)
    add("_%_", "(int, int) -> int", _remainder)
    add("-_", "(int) -> int", lambda value: checked_int(-value))
    add("_+_", "(uint, uint) -> uint", lambda left, right: checked_uint(int(left) + int(right)))
    add("_-_", "(uint, uint) -> uint", lambda left, right: checked_uint(int(left) - int(right)))
    add("_*_", "(uint, uint) -> uint", lambda left, right: checked_uint(int(left) * int(right)))
    add("_/_", "(uint, uint) -> uint", _divide_unsigned)
    add("_%_", "(uint, uint) -> uint", _remainder_unsigned)
    add("_+_", "(double, double) -> double", lambda left, right: left + right)
    add("_-_", "(double, double) -> double", lambda left, right: left - right)
    add("_*_", "(double, double) -> double", lambda left, right: left * right)
    add("_/_", "(double, double) -> double", _divide_doubles)
    add("-_", "(double) -> double", lambda value: -value)
    add("_+_", "(string, string) -> string", lambda left, right: left + right, work=True)
    add("_+_", "(bytes, bytes) -> bytes", lambda left, right: left + right, work=True)
    add("_+_", "(list<A>, list<A>) -> list<A>", lambda left, right: [*left, *right], work=True)
    add("_+_", "(timestamp, duration) -> timestamp", lambda moment, span: _moment(moment[0] + span[0]))
    add("_+_", "(duration, timestamp) -> timestamp", lambda span, moment: _moment(moment[0] + span[0]))
    add("_+_", "(duration, duration) -> duration", lambda left, right: _span(left[0] + right[0]))
    add("_-_", "(timestamp, timestamp) -> duration", lambda left, right: _span(left[0] - right[0]))
    add("_-_", "(timestamp, duration) -> timestamp", lambda moment, span: _moment(moment[0] - span[0]))
    add("_-_", "(duration, duration) -> duration", lambda left, right: _span(left[0] - right[0]))


def _order(functions: Functions) -> None:
    numbers = ("int", "uint", "double")
    pairs = [(left, right) for left in numbers for right in numbers]
    pairs += [(kind, kind) for kind in ("string", "bytes", "bool", "timestamp", "duration")]
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "_<_": lambda left, right: left < right,
        "_<=_": lambda left, right: left <= right,
        "_>_": lambda left, right: left > right,
        "_>=_": lambda left, right: left >= right,
    }
    for name, test in tests.items():
        for left, right in pairs:
            run = _ordered(test) if "double" in (left, right) else test
            functions.add(name, f"({left}, {right}) -> bool", run, work=left in ("string", "bytes"))


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def run(left: float, right: float) -> bool:
        if math.isnan(left) or math.isnan(right):
            raise EvaluationError("NaN values cannot be ordered")
        return test(left, right)

    return run


def _to_int(value: float | str) -> int:
    if isinstance(value, str):
        if _INTEGER.fullmatch(value) is None:
            raise EvaluationError(f"strconv.ParseInt: parsing {value[:60]!r}: invalid syntax")
        return checked_int(int(value[:30]))
    if not math.isfinite(value) or not INT_MIN < value < INT_MAX:
        raise EvaluationError("integer overflow")
    return int(value)


def _to_uint(value: float | str) -> Uint:
    if isinstance(value, str):
        if not value.isdecimal() or not value.isascii():
            raise EvaluationError(f"strconv.ParseUint: parsing {value[:60]!r}: invalid syntax")
        return checked_uint(int(value[:30]))
    if not math.isfinite(value) or not 0 <= value <= UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return checked_uint(int(value))


def _to_double(value: str) -> float:
    if _FLOAT.fullmatch(value) is None:
        raise EvaluationError(f"strconv.ParseFloat: parsing {value[:60]!r}: invalid syntax")
    found = float(value)
    if math.isinf(found) and "i" not in value.lower():
        raise EvaluationError(f"strconv.ParseFloat: parsing {value[:60]!r}: value out of range")
    return found


_TRUE, _FALSE = ("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False")


def _to_bool(value: str) -> bool:
    if value in _TRUE or value in _FALSE:
        return value in _TRUE
    raise EvaluationError(f"strconv.ParseBool: parsing {value[:60]!r}: invalid syntax")


def show_double(value: float) -> str:
    """A double as `string()` writes it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    mantissa, mark, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    power = len(whole) - 1 + int(exponent or 0) if whole != "0" else len(fraction.lstrip("0")) - len(fraction) - 1
    digits = digits.rstrip("0")
    # Go's %g: the shortest digits, with an exponent from six digits before the point on.
    if -4 <= power < 6:
        return repr(value).removesuffix(".0") if not mark else f"{value:.{len(digits) - 1 - power}f}"
    point = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{'-' if value < 0 else ''}{digits[0]}{point}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _from_bytes(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _conversions(functions: Functions) -> None:
    add = functions.add
    for kind in ("int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration"):
        add(kind, f"({kind}) -> {kind}", lambda value: value)
    add("int", "(uint) -> int", lambda value: checked_int(int(value)))
    add("int", "(double) -> int", _to_int)
    add("int", "(string) -> int", _to_int)
    add("int", "(timestamp) -> int", lambda value: value[0] // SECOND)
    add("int", "(duration) -> int", lambda value: value[0])
    add("uint", "(int) -> uint", lambda value: checked_uint(value))
    add("uint", "(double) -> uint", _to_uint)
    add("uint", "(string) -> uint", _to_uint)
    add("double", "(int) -> double", float)
    add("double", "(uint) -> double", float)
    add("double", "(string) -> double", _to_double)
    add("bool", "(string) -> bool", _to_bool)
    add("bytes", "(string) -> bytes", lambda value: value.encode("utf-8", "surrogatepass"))
    add("string", "(int) -> string", str)
    add("string", "(uint) -> string", lambda value: str(int(value)))
    add("string", "(double) -> string", show_double)
    add("string", "(bool) -> string", lambda value: "true" if value else "false")
    add("string", "(bytes) -> string", _from_bytes)
    add("string", "(timestamp) -> string", format_timestamp)
    add("string", "(duration) -> string", format_duration)
    add("timestamp", "(string) -> timestamp", parse_timestamp)
    add("timestamp", "(int) -> timestamp", lambda value: _moment(value * SECOND))
    add("duration", "(string) -> duration", parse_duration)
    add("dyn", "(A) -> dyn", lambda value: value)
    add("type", "(A) -> type", lambda value: TypeValue(_type_name(value)))


def _type_name(value: Any) -> str:
    tag = tag_of(value)
    return _TYPE_NAMES.get(tag, tag)


_TYPE_NAMES = {
    "null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration",
    "optional": "optional_type", "quantity": "kubernetes.Quantity", "url": "kubernetes.URL",
    "ip": "net.IP", "cidr": "net.CIDR", "semver": "kubernetes.Semver", "format": "kubernetes.NamedFormat",
}  # fmt: skip
