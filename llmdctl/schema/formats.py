"""String formats that the API server knows (kube-openapi's default registry); it ignores every other name."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import datetime

QUANTITY = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?\Z", re.ASCII)
"""What resource.Quantity parses (apimachinery, api/resource/quantity.go)."""

_UUID = r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_DATE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:[.,]\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_DURATION = re.compile(r"[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_WORDY_DURATION = re.compile(
    r"\d+\s*(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|"
    r"m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)",
    re.ASCII,
)
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def is_date_time(text: str) -> bool:
    """RFC 3339, as Go's time.Parse reads it."""
    found = _DATE_TIME.fullmatch(text)
    if not found:
        return False
    zone = "+00:00" if found[3] in "zZ" else found[3]
    return _parses(f"{found[1]}T{found[2]}{zone}")


def is_base64(text: str) -> bool:
    """Standard base64 with padding; line breaks are skipped, as Go's decoder does."""
    import base64
    import binascii

    try:
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _parses(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII) is not None and _parses(text)


def _is_ip(version: int) -> Callable[[str], bool]:
    def test(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version
        except ValueError:
            return False

    return test


def _is_cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text and text.rpartition("/")[2].isdigit()


def _is_uri(text: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    # Go's url.ParseRequestURI: absolute, or an absolute path.
    return bool(parts.scheme) or text.startswith("/")


def _is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    return bool(at and local and domain) and not re.search(r"\s", text)


def _is_hostname(text: str) -> bool:
    labels = text.removesuffix(".").split(".")
    return len(text) <= 255 and all(
        re.fullmatch(r"[A-Za-z0-9_](?:[-A-Za-z0-9_]{0,61}[A-Za-z0-9_])?", label, re.ASCII) for label in labels
    )


def _is_duration(text: str) -> bool:
    return _DURATION.fullmatch(text) is not None or _WORDY_DURATION.fullmatch(text.strip()) is not None


def _is_long_name(text: str) -> bool:
    return len(text) <= 253 and re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})*", text, re.ASCII) is not None


def _is_short_name(text: str) -> bool:
    return len(text) <= 63 and re.fullmatch(_LABEL, text, re.ASCII) is not None


_ISBN10 = _matches(r"(?:[0-9]{9}X|[0-9]{10})")
_ISBN13 = _matches(r"[0-9]{13}")


def _isbn(text: str, test: Callable[[str], bool]) -> bool:
    return test(re.sub(r"[\s-]", "", text))


FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(r"(?i)[0-9a-f]{24}"),
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ip(4),
    "ipv6": _is_ip(6),
    "cidr": _is_cidr,
    "mac": _matches(r"(?i)(?:[0-9a-f]{2}[:-]){5,19}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,9}[0-9a-f]{4}"),
    "uuid": _matches(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _matches(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _matches(_UUID % ("4", "[89ab]")),
    "uuid5": _matches(_UUID % ("5", "[89ab]")),
    "isbn": lambda text: _isbn(text, lambda bare: _ISBN10(bare) or _ISBN13(bare)),
    "isbn10": lambda text: _isbn(text, _ISBN10),
    "isbn13": lambda text: _isbn(text, _ISBN13),
    "creditcard": lambda text: re.fullmatch(r"[0-9]{12,19}", re.sub(r"\D", "", text)) is not None,
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _matches(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(r"rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)"),
    "byte": is_base64,
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
