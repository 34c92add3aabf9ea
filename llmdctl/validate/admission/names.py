"""Syntax of names, keys and values: each function returns the reasons why a text is refused, empty when it is fine.

Source of the facts: k8s.io/apimachinery pkg/util/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

Reasons = tuple[str, ...]

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_ENV_NAME = re.compile(r"[ -<>-~]+")
_PORT_CHARS = re.compile(r"[-a-z0-9]+")
_PERCENT = re.compile(r"[0-9]+%")
_HEADER = re.compile(r"[-A-Za-z0-9]+")


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"


@lru_cache(maxsize=8192)
def dns_label(value: str) -> Reasons:
    """RFC 1123 label, at most 63 bytes."""
    out: list[str] = []
    if len(value) > 63:
        out.append(_too_long(63))
    if not _LABEL.fullmatch(value):
        out.append(
            "a lowercase RFC 1123 label has only lower case letters, digits and '-', and starts and ends with a letter "
            f"or digit (regex used for validation is '{_LABEL.pattern}')"
        )
    return tuple(out)


@lru_cache(maxsize=2048)
def dns_1035_label(value: str) -> Reasons:
    """RFC 1035 label: as RFC 1123, but a letter comes first."""
    out: list[str] = []
    if len(value) > 63:
        out.append(_too_long(63))
    if not _LABEL_1035.fullmatch(value):
        out.append(
            "a DNS-1035 label has only lower case letters, digits and '-', starts with a letter and ends with a letter "
            f"or digit (regex used for validation is '{_LABEL_1035.pattern}')"
        )
    return tuple(out)


@lru_cache(maxsize=8192)
def dns_subdomain(value: str) -> Reasons:
    """RFC 1123 subdomain, at most 253 bytes."""
    out: list[str] = []
    if len(value) > 253:
        out.append(_too_long(253))
    if not _SUBDOMAIN.fullmatch(value):
        out.append(
            "a lowercase RFC 1123 subdomain has only lower case letters, digits, '-' and '.', and starts and ends with "
            f"a letter or digit (regex used for validation is '{_SUBDOMAIN.pattern}')"
        )
    return tuple(out)


@lru_cache(maxsize=1024)
def path_segment(value: str) -> Reasons:
    """A name that can stand in a URL path, as RBAC objects have it."""
    if value in (".", ".."):
        return (f"may not be '{value}'",)
    return tuple(f"may not contain '{char}'" for char in ("/", "%") if char in value)


@lru_cache(maxsize=8192)
def qualified_name(value: str) -> Reasons:
    """A key of labels, annotations, taints or resources: `[subdomain/]name`."""
    prefix, slash, name = value.rpartition("/")
    out: list[str] = []
    if "/" in prefix:
        return ("a qualified name is a name of up to 63 characters with an optional DNS subdomain prefix and one '/'",)
    if slash and not prefix:
        out.append("prefix part must be non-empty")
    elif slash:
        out.extend(f"prefix part {reason}" for reason in dns_subdomain(prefix))
    if not name:
        out.append("name part must be non-empty")
    elif len(name) > 63:
        out.append(f"name part {_too_long(63)}")
    if not _QUALIFIED.fullmatch(name):
        out.append(
            "name part has only letters, digits, '-', '_' and '.', and starts and ends with a letter or digit "
            f"(regex used for validation is '{_QUALIFIED.pattern}')"
        )
    return tuple(out)


@lru_cache(maxsize=8192)
def label_value(value: str) -> Reasons:
    """The value of a label: empty or as the name part of a key, at most 63 bytes."""
    out: list[str] = []
    if len(value) > 63:
        out.append(_too_long(63))
    if not _LABEL_VALUE.fullmatch(value):
        out.append(
            "a valid label is empty or has only letters, digits, '-', '_' and '.', and starts and ends with a letter "
            f"or digit (regex used for validation is '{_LABEL_VALUE.pattern}')"
        )
    return tuple(out)


@lru_cache(maxsize=2048)
def config_key(value: str) -> Reasons:
    """A key of a ConfigMap or Secret."""
    out: list[str] = []
    if len(value) > 253:
        out.append(_too_long(253))
    if not _CONFIG_KEY.fullmatch(value):
        out.append(
            "a valid config key has only letters, digits, '-', '_' and '.' "
            f"(regex used for validation is '{_CONFIG_KEY.pattern}')"
        )
    if value == "." or value == ".." or value.startswith(".."):
        out.append("must not be '.' and must not start with '..'")
    return tuple(out)


@lru_cache(maxsize=4096)
def env_name(value: str) -> Reasons:
    """The name of an environment variable, by the rule that holds from Kubernetes 1.32 on."""
    if _ENV_NAME.fullmatch(value):
        return ()
    return ("an environment variable name has only printable ASCII characters other than '='",)


@lru_cache(maxsize=2048)
def port_name(value: str) -> Reasons:
    """An IANA service name: the name of a container port."""
    out: list[str] = []
    if len(value) > 15:
        out.append("must be no more than 15 characters")
    if not _PORT_CHARS.fullmatch(value):
        out.append("must contain only lower case letters (a-z), digits (0-9) and hyphens (-)")
    if not re.search("[a-z]", value):
        out.append("must contain at least one letter (a-z)")
    if "--" in value:
        out.append("must not contain consecutive hyphens")
    if value and (value[0] == "-" or value[-1] == "-"):
        out.append("must not begin or end with a hyphen")
    return tuple(out)


@lru_cache(maxsize=512)
def c_identifier(value: str) -> Reasons:
    """An identifier of the C language."""
    if _C_IDENTIFIER.fullmatch(value):
        return ()
    return (
        "a C identifier starts with a letter or '_' and goes on with letters, digits or '_' "
        f"(regex used for validation is '{_C_IDENTIFIER.pattern}')",
    )


def percent(value: str) -> Reasons:
    """A percentage such as `25%`."""
    if _PERCENT.fullmatch(value):
        return ()
    return (
        "a valid percent string is a number followed by '%' "
        f"(e.g. '1%' or '93%', regex used for validation is '{_PERCENT.pattern}')",
    )


def header_name(value: str) -> Reasons:
    """The name of an HTTP header."""
    if _HEADER.fullmatch(value):
        return ()
    return (f"a valid HTTP header has only letters, digits and '-' (regex used for validation is '{_HEADER.pattern}')",)


def ip_address(value: str) -> Reasons:
    """An IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return ("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",)
    return ()


def cidr(value: str) -> Reasons:
    """An address range with a prefix length."""
    wrong = ("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",)
    if "/" not in value:
        return wrong
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return wrong
    return ()
