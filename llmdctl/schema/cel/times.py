"""Timestamps and durations. Source: github.com/google/cel-spec doc/langdef.md; durations are written as in Go."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from llmdctl.schema.cel.errors import EvaluationError, UnsupportedError
from llmdctl.schema.cel.registry import Functions
from llmdctl.schema.cel.values import SECOND, Duration, Timestamp, checked_int

_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_SHIFT = re.compile(r"([+-]?)(\d{1,5}):(\d{1,5})", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_timestamp(text: str) -> Timestamp:
    """A timestamp of RFC 3339, with what Go's parser lets pass: one digit of an hour, a comma, a shift of a day."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise EvaluationError(f"parsing time {text[:60]!r} as RFC 3339: invalid")
    try:
        year, month, day, hour, minute, second = (int(found[index]) for index in range(1, 7))
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _offset(found[8])
    except (ValueError, OverflowError):
        raise EvaluationError(f"parsing time {text[:60]!r} as RFC 3339: invalid") from None
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    return Timestamp(seconds * SECOND + int((found[7] or "0").ljust(9, "0")))


def _offset(text: str) -> timedelta:
    found = _SHIFT.fullmatch(text)
    if found is None:
        return timedelta()
    hours, minutes = int(found[2]), int(found[3])
    if hours > 24 or minutes > 60:
        raise ValueError(text)
    return timedelta(hours=hours, minutes=minutes) * (-1 if found[1] == "-" else 1)


def parse_duration(text: str) -> Duration:
    """A duration as Go writes it: `1h30m`, `-1.5s`."""
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return Duration(0)
    total, index = 0, 0
    while index < len(rest):
        part = _DURATION_PART.match(rest, index)
        if part is None:
            break
        whole, _, fraction = part[1].partition(".")
        unit = _UNITS[part[2]]
        total += int(whole[:20] or "0") * unit + (
            int(fraction[:18]) * unit // 10 ** len(fraction[:18]) if fraction else 0
        )
        index = part.end()
    if not rest or index < len(rest):
        raise EvaluationError(f"time: invalid duration {text[:60]!r}")
    return Duration(checked_int(sign * total))


def format_duration(value: Duration) -> str:
    """A duration in seconds, as CEL writes it."""
    seconds, rest = divmod(abs(value.nanoseconds), SECOND)
    # Through a double, as in cel-go: long durations lose their last digits.
    shown = f"{Decimal(repr(seconds + rest / SECOND)):f}".removesuffix(".0")
    return f"{'-' if value.nanoseconds < 0 else ''}{shown}s"


def format_timestamp(value: Timestamp) -> str:
    """A timestamp of RFC 3339 in UTC."""
    seconds, rest = divmod(value.nanoseconds, SECOND)
    moment = _EPOCH + timedelta(seconds=seconds)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def _local(value: Timestamp, zone: str = "") -> datetime:
    moment = _EPOCH + timedelta(seconds=value.nanoseconds // SECOND)
    if not zone or zone == "UTC":
        return moment
    found = _SHIFT.fullmatch(zone)
    try:
        if found is not None:
            minutes = int(found[2]) * 60 + int(found[3])
            return moment + timedelta(minutes=-minutes if found[1] == "-" else minutes)
        from zoneinfo import ZoneInfo

        return moment.astimezone(ZoneInfo(zone))
    except OverflowError:
        raise UnsupportedError("a time in the year 0 or 10000 of a time zone can't be judged") from None
    except (ValueError, KeyError, OSError):
        raise EvaluationError(f"unknown time zone {zone[:60]}") from None


def register(functions: Functions) -> None:
    """Adds the accessors."""
    fields: dict[str, Any] = {
        "getFullYear": lambda moment: moment.year,
        "getMonth": lambda moment: moment.month - 1,
        "getDayOfMonth": lambda moment: moment.day - 1,
        "getDate": lambda moment: moment.day,
        "getDayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
        "getDayOfWeek": lambda moment: (moment.weekday() + 1) % 7,
        "getHours": lambda moment: moment.hour,
        "getMinutes": lambda moment: moment.minute,
        "getSeconds": lambda moment: moment.second,
    }
    for name, read in fields.items():
        functions.method(name, "(timestamp) -> int", lambda value, read=read: read(_local(value)))
        functions.method(name, "(timestamp, string) -> int", lambda value, zone, read=read: read(_local(value, zone)))
    functions.method("getMilliseconds", "(timestamp) -> int", lambda value: value[0] % SECOND // 10**6)
    functions.method("getMilliseconds", "(timestamp, string) -> int", lambda value, _: value[0] % SECOND // 10**6)
    for name, unit in (("getHours", 3600 * SECOND), ("getMinutes", 60 * SECOND), ("getSeconds", SECOND)):
        functions.method(name, "(duration) -> int", lambda value, unit=unit: _towards_zero(value[0], unit))
    functions.method(
        "getMilliseconds", "(duration) -> int", lambda value: abs(value[0]) // 10**6 * (1 if value[0] > 0 else -1)
    )


def _towards_zero(value: int, unit: int) -> int:
    whole, rest = divmod(abs(value), unit)
    # Go adds the rest as a double, which may round up where a span is long.
    found = int(whole + rest / unit)
    return found if value >= 0 else -found
