"""String formats that the API server knows (kube-openapi's default registry); it ignores every other name."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from llmdctl.schema.addresses import is_cidr, is_email, is_hostname, is_ipv4, is_ipv6, is_mac, is_uri

QUANTITY = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?\Z", re.ASCII)
"""What resource.Quantity parses (apimachinery, api/resource/quantity.go)."""

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""What controller-gen writes for a quantity of a custom kind."""

_UUID = r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_DATE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:[.,]\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_DURATION = re.compile(r"[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_COUNTED = re.compile(r"[0-9]+\s*([A-Za-zµ]+)", re.ASCII)
_UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_LONG_UNITS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"


def _matches(pattern: str) -> Callable[[str], bool]:
    # Most runs see one or two of these formats, so patterns are compiled when they are first asked for.
    return lambda text: re.fullmatch(pattern, text, re.ASCII) is not None


def is_date_time(text: str) -> bool:
    """RFC 3339, as Go's time.Parse reads it."""
    found = _DATE_TIME.fullmatch(text)
    if not found:
        return False
    hours, minutes = (0, 0) if found[3] in "zZ" else (int(found[3][1:3]), int(found[3][4:]))
    return _parses(f"{found[1]}T{found[2]}") and hours <= 24 and minutes <= 60


def is_base64(text: str) -> bool:
    """Standard base64 with padding; line breaks are skipped, as Go's decoder does."""
    import base64
    import binascii

    try:
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_byte(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9+/]+=*", text) is not None and is_base64(text)


def _parses(text: str) -> bool:
    # Go has a year 0, a leap year.
    try:
        datetime.fromisoformat(re.sub("^0000", "2000", text))
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII) is not None and _parses(text)


def _is_duration(text: str) -> bool:
    """What Go's time.ParseDuration takes, or any text with a number and a unit of time in it."""
    if _DURATION.fullmatch(text):
        return True
    units = [unit.lower() for unit in _COUNTED.findall(text)]
    return any(unit in _UNITS or unit.startswith(_LONG_UNITS) for unit in units)


def _is_long_name(text: str) -> bool:
    return len(text) <= 253 and re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})*", text, re.ASCII) is not None


def _is_short_name(text: str) -> bool:
    return len(text) <= 63 and re.fullmatch(_LABEL, text, re.ASCII) is not None


def _digits(text: str) -> str:
    return re.sub(r"[\s-]", "", text)


def _is_isbn10(text: str) -> bool:
    bare = _digits(text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", bare):
        return False
    values = [10 if char == "X" else int(char) for char in bare]
    return sum(value * weight for value, weight in zip(values, range(10, 0, -1), strict=True)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    bare = _digits(text)
    if not re.fullmatch(r"[0-9]{13}", bare):
        return False
    return sum(int(char) * (3 if index % 2 else 1) for index, char in enumerate(bare)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    bare = re.sub(r"\D", "", text)
    if not re.fullmatch(r"[0-9]{12,19}", bare):
        return False
    doubled = [int(char) * (2 if index % 2 else 1) for index, char in enumerate(reversed(bare))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


_COLOUR_PART = r"\s*(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*"

FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(r"(?i)[0-9a-f]{24}"),
    "uri": is_uri,
    "email": is_email,
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "cidr": is_cidr,
    "mac": is_mac,
    "uuid": _matches(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _matches(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _matches(_UUID % ("4", "[89ab]")),
    "uuid5": _matches(_UUID % ("5", "[89ab]")),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _matches(r"\d{3}[- ]\d{2}[- ]\d{4}"),
    "hexcolor": _matches(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(rf"rgb\({_COLOUR_PART},{_COLOUR_PART},{_COLOUR_PART}\)"),
    "byte": _is_byte,
    "date": _is_date,
    "datetime": is_date_time,
    "duration": _is_duration,
    "k8sshortname": _is_short_name,
    "k8slongname": _is_long_name,
}
"""Tests by format name without hyphens, as the server looks them up. `password` accepts all text."""


def format_test(name: str) -> Callable[[str], bool] | None:
    """The test of a string format, or None where the server accepts everything."""
    return FORMATS.get(name.replace("-", ""))


def known_format(name: str, kind: str) -> str:
    """The name itself when the server knows a format of that name for the type `kind`; else ""."""
    if kind == "string":
        return name if format_test(name) or name == "password" else ""
    return name if name in _NUMBERS.get(kind, ()) else ""


_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}
