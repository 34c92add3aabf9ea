"""What Kubernetes adds: quantities, addresses, URLs, semantic versions and named formats.

Sources: k8s.io/apiserver pkg/cel/library/{quantity,ip,cidr,urls,semverlib,format}.go.
"""

from __future__ import annotations

import ipaddress
import re
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from llmdctl.schema.cel.errors import EvaluationError
from llmdctl.schema.cel.lexer import INT_MAX, INT_MIN
from llmdctl.schema.cel.registry import Functions
from llmdctl.schema.cel.values import NONE, Optional, register_type
from llmdctl.schema.formats import format_test

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


class Quantity:
    """A resource quantity. `wide` says that Go keeps it as a decimal of any size, and then calls it no integer."""

    __slots__ = ("amount", "wide")

    def __init__(self, amount: Fraction, *, wide: bool = False) -> None:
        self.amount = amount
        self.wide = wide

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.amount == other.amount

    def __hash__(self) -> int:
        return hash(self.amount)

    @property
    def is_integer(self) -> bool:
        """True for what fits into 64 bits, as Go keeps it."""
        return not self.wide and self.amount.denominator == 1 and INT_MIN <= self.amount <= INT_MAX

    def plus(self, other: Quantity | int, sign: int = 1) -> Quantity:
        """The sum, or with sign -1 the difference."""
        if not isinstance(other, Quantity):
            other = Quantity(Fraction(other))
        return Quantity(self.amount + sign * other.amount, wide=self.wide or other.wide)


class Ip(NamedTuple):
    """An address."""

    address: IpAddress


class Cidr(NamedTuple):
    """An address with the length of its prefix; host bits may be set."""

    address: IpAddress
    network: IpNetwork


class Url(NamedTuple):
    """A URL with its parts; equal when the text is."""

    text: str
    scheme: str
    host: str
    path: str
    query: str


class Semver(NamedTuple):
    """A semantic version; `order` compares as the specification wants."""

    major: int
    minor: int
    patch: int
    order: tuple[Any, ...]


class Format(NamedTuple):
    """A named format: why a text is not of it, nothing when it is."""

    name: str


for _cls, _tag in (
    (Quantity, "quantity"),
    (Ip, "ip"),
    (Cidr, "cidr"),
    (Url, "url"),
    (Semver, "semver"),
    (Format, "format"),
):
    register_type(_cls, _tag)


def register(functions: Functions) -> None:
    """Adds them all."""
    _quantities(functions)
    _addresses(functions)
    _urls(functions)
    _versions(functions)
    _formats(functions)


_QUANTITY = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i|[numkMGTPE]|)|[eE]([+-]?\d{1,4}))", re.ASCII)
_LARGEST = Fraction(INT_MAX)
_SUFFIXES = {
    "": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": Fraction(10**3),
    **{letter: Fraction(10 ** (3 * power)) for power, letter in enumerate("MGTPE", 2)},
    **{f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", 1)},
}  # fmt: skip


def parse_quantity(text: str) -> Quantity | None:
    """A quantity, None for text that is none. As in Go, digits may be missing, which means 0."""
    found = _QUANTITY.fullmatch(text)
    if found is None or not text or len(text) > 400:
        return None
    scale = Fraction(10) ** int(found[5]) if found[5] else _SUFFIXES[found[4] or ""]
    amount = Fraction(int(f"{found[2]}{found[3] or ''}" or 0), 10 ** len(found[3] or "")) * scale
    if (found[4] or "").endswith("i"):
        amount = min(amount, _LARGEST)
    amount = Fraction(ceil(amount * 10**9), 10**9)
    return Quantity(-amount if found[1] == "-" else amount, wide=_is_wide(found))


def _is_wide(found: re.Match[str]) -> bool:
    """True when Go parses the text into a decimal of any size: apimachinery's pkg/api/resource/quantity.go."""
    whole, fraction, suffix = found[2].lstrip("0") or "0", found[3] or "", found[4] or ""
    if suffix.endswith("i"):
        power = 10 * ("KMGTPE".index(suffix[0]) + 1)
        return bool(fraction) or 15 - len(whole) - int(power * 3 / 10) - 1 < 0
    return 18 - len(whole) - len(fraction) < 0


def _quantity(text: str) -> Quantity:
    found = parse_quantity(text)
    if found is None:
        raise EvaluationError("quantities must match the regular expression of resource quantities")
    return found


def _as_integer(value: Quantity) -> int:
    if not value.is_integer:
        raise EvaluationError("cannot convert value to integer")
    return int(value.amount)


def _quantities(functions: Functions) -> None:
    add, method = functions.add, functions.method
    add("quantity", "(string) -> quantity", _quantity)
    add("isQuantity", "(string) -> bool", lambda text: parse_quantity(text) is not None)
    add("sign", "(quantity) -> int", lambda value: (value.amount > 0) - (value.amount < 0))
    method(
        "isInteger",
        "(quantity) -> bool",
        lambda value: value.is_integer,
    )
    method("asInteger", "(quantity) -> int", _as_integer)
    method("asApproximateFloat", "(quantity) -> double", lambda value: float(value.amount))
    method("isGreaterThan", "(quantity, quantity) -> bool", lambda left, right: left.amount > right.amount)
    method("isLessThan", "(quantity, quantity) -> bool", lambda left, right: left.amount < right.amount)
    method(
        "compareTo",
        "(quantity, quantity) -> int",
        lambda left, right: (left.amount > right.amount) - (left.amount < right.amount),
    )
    for kind in ("quantity", "int"):
        method("add", f"(quantity, {kind}) -> quantity", lambda left, right: left.plus(right))
        method("sub", f"(quantity, {kind}) -> quantity", lambda left, right: left.plus(right, -1))


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


def parse_ip(text: str) -> Ip | None:
    """An address as Kubernetes takes it: no zone, no IPv4 inside IPv6, no leading zeros."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped is not None or "%" in text):
        return None
    return Ip(address)


def _ip(text: str) -> Ip:
    found = parse_ip(text)
    if found is None:
        raise EvaluationError(f"IP Address {text[:60]!r} parse error during conversion from string")
    return found


def parse_cidr(text: str) -> Cidr | None:
    """An address with the length of its prefix."""
    address, slash, length = text.partition("/")
    found = parse_ip(address)
    if found is None or not slash or not length.isdecimal() or (len(length) > 1 and length[0] == "0"):
        return None
    try:
        return Cidr(found.address, ipaddress.ip_network(f"{address}/{length}", strict=False))
    except ValueError:
        return None


def _cidr(text: str) -> Cidr:
    found = parse_cidr(text)
    if found is None:
        raise EvaluationError(f"network address parse error during conversion from string: {text[:60]!r}")
    return found


def _holds_ip(outer: Cidr, inner: Ip) -> bool:
    return inner.address.version == outer.network.version and inner.address in outer.network


def _holds_cidr(outer: Cidr, inner: Cidr) -> bool:
    return (
        inner.network.version == outer.network.version
        and inner.address in outer.network
        and inner.network.prefixlen >= outer.network.prefixlen
    )


def _is_global_unicast(value: Ip) -> bool:
    address = value.address
    last = isinstance(address, ipaddress.IPv4Address) and int(address) == 2**32 - 1
    return not (address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local or last)


def _addresses(functions: Functions) -> None:
    add, method = functions.add, functions.method
    add("ip", "(string) -> ip", _ip)
    add("isIP", "(string) -> bool", lambda text: parse_ip(text) is not None)
    add("ip.isCanonical", "(string) -> bool", lambda text: str(_ip(text).address) == text)
    add("string", "(ip) -> string", lambda value: str(value.address))
    method("family", "(ip) -> int", lambda value: value.address.version)
    method("isUnspecified", "(ip) -> bool", lambda value: value.address.is_unspecified)
    method("isLoopback", "(ip) -> bool", lambda value: value.address.is_loopback)
    method("isLinkLocalMulticast", "(ip) -> bool", _is_link_local_multicast)
    method("isLinkLocalUnicast", "(ip) -> bool", lambda value: value.address.is_link_local)
    method("isGlobalUnicast", "(ip) -> bool", _is_global_unicast)
    add("cidr", "(string) -> cidr", _cidr)
    add("isCIDR", "(string) -> bool", lambda text: parse_cidr(text) is not None)
    add("string", "(cidr) -> string", lambda value: f"{value.address}/{value.network.prefixlen}")
    method("containsIP", "(cidr, string) -> bool", lambda outer, text: _holds_ip(outer, _ip(text)))
    method("containsIP", "(cidr, ip) -> bool", _holds_ip)
    method("containsCIDR", "(cidr, string) -> bool", lambda outer, text: _holds_cidr(outer, _cidr(text)))
    method("containsCIDR", "(cidr, cidr) -> bool", _holds_cidr)
    method("ip", "(cidr) -> ip", lambda value: Ip(value.address))
    method("masked", "(cidr) -> cidr", lambda value: Cidr(value.network.network_address, value.network))
    method("prefixLength", "(cidr) -> int", lambda value: value.network.prefixlen)


def _is_link_local_multicast(value: Ip) -> bool:
    if isinstance(value.address, ipaddress.IPv4Address):
        return value.address in ipaddress.IPv4Network("224.0.0.0/24")
    return int(value.address) >> 112 & 0xFF0F == 0xFF02


def parse_url(text: str) -> Url | None:
    """An absolute URL or an absolute path, as Go's url.ParseRequestURI and then url.Parse take it."""
    test = format_test("uri")
    if test is None or not test(text) or (text.startswith("//") and not test(f"x:{text}")):
        return None
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest, _, query = text[found.end() if found else 0 :].partition("#")[0].partition("?")
    if not rest.startswith("/"):
        return Url(text, scheme, "", "", query)
    authority = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
    return Url(text, scheme, authority.rpartition("@")[2], rest.replace(" ", "%20"), query)


def _url(text: str) -> Url:
    found = parse_url(text)
    if found is None:
        raise EvaluationError(f"URL parse error during conversion from string: {text[:60]!r}")
    return found


def _host_name(value: Url) -> str:
    if value.host.startswith("["):
        return value.host.partition("]")[0][1:]
    return value.host.partition(":")[0]


def _port(value: Url) -> str:
    return value.host.rpartition("]")[2].partition(":")[2]


def _urls(functions: Functions) -> None:
    add, method = functions.add, functions.method
    add("url", "(string) -> url", _url)
    add("isURL", "(string) -> bool", lambda text: parse_url(text) is not None)
    method("getScheme", "(url) -> string", lambda value: value.scheme)
    method("getHost", "(url) -> string", lambda value: value.host)
    method("getHostname", "(url) -> string", _host_name)
    method("getPort", "(url) -> string", _port)
    method("getEscapedPath", "(url) -> string", lambda value: value.path)
    method(
        "getQuery",
        "(url) -> map<string, list<string>>",
        lambda value: parse_qs(value.query, keep_blank_values=True),
    )


_NUMBER = r"(?:0|[1-9]\d{0,18})"
_SEMVER = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?", re.ASCII)


def parse_semver(text: str, *, normalise: bool = False) -> Semver | None:
    """A semantic version; `normalise` takes a leading v, missing parts and leading zeros."""
    if normalise:
        text = _normal(text)
    found = _SEMVER.fullmatch(text)
    if found is None or any(not part for group in found.groups()[3:] if group for part in group.split(".")):
        return None
    pre = found[4].split(".") if found[4] else []
    if any(part.isdecimal() and len(part) > 1 and part[0] == "0" for part in pre):
        return None
    # Numbers come before words, and any pre-release before the release.
    marks = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in pre)
    numbers = int(found[1]), int(found[2]), int(found[3])
    return Semver(*numbers, (*numbers, 0 if pre else 1, marks))


def _normal(text: str) -> str:
    core, mark, rest = text.removeprefix("v"), "", ""
    for index, char in enumerate(core):
        if char in "-+":
            core, mark, rest = core[:index], char, core[index + 1 :]
            break
    if mark and core.count(".") < 2:
        return ""
    parts = [str(int(part)) if part.isdecimal() and part.isascii() else part for part in core.split(".")]
    return ".".join([*parts, "0", "0"][: max(3, len(parts))]) + mark + rest


def _semver(text: str, normalise: bool = False) -> Semver:
    found = parse_semver(text, normalise=normalise)
    if found is None:
        raise EvaluationError(f"not a semantic version: {text[:60]!r}")
    return found


def _versions(functions: Functions) -> None:
    add, method = functions.add, functions.method
    add("semver", "(string) -> semver", _semver, since=33)
    add("semver", "(string, bool) -> semver", _semver, since=33)
    add("isSemver", "(string) -> bool", lambda text: parse_semver(text) is not None, since=33)
    add(
        "isSemver",
        "(string, bool) -> bool",
        lambda text, normal: parse_semver(text, normalise=normal) is not None,
        since=33,
    )
    for part in ("major", "minor", "patch"):
        method(part, "(semver) -> int", lambda value, part=part: getattr(value, part))
    method("isGreaterThan", "(semver, semver) -> bool", lambda left, right: left.order > right.order)
    method("isLessThan", "(semver, semver) -> bool", lambda left, right: left.order < right.order)
    method(
        "compareTo",
        "(semver, semver) -> int",
        lambda left, right: (left.order > right.order) - (left.order < right.order),
    )


_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_QUALIFIED = r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_RULES: dict[str, tuple[str, int]] = {
    "dns1123Label": (_LABEL, 63),
    "dns1123Subdomain": (rf"{_LABEL}(?:\.{_LABEL})*", 253),
    "dns1035Label": (r"[a-z](?:[-a-z0-9]*[a-z0-9])?", 63),
    "dns1123LabelPrefix": (rf"{_LABEL}-?", 63),
    "dns1123SubdomainPrefix": (rf"{_LABEL}(?:\.{_LABEL})*[-.]?", 253),
    "dns1035LabelPrefix": (r"[a-z](?:[-a-z0-9]*[a-z0-9])?-?", 63),
    "labelValue": (rf"(?:{_QUALIFIED})?", 63),
}
_OF_SCHEMAS = ("uri", "uuid", "byte", "date", "datetime")
_NAMES = (*_RULES, *_OF_SCHEMAS, "qualifiedName")


def _faults(kind: Format, text: str) -> Optional:
    if kind.name in _OF_SCHEMAS:
        test = format_test(kind.name)
        return NONE if test is None or test(text) else Optional(True, [f"invalid {kind.name}"])
    if kind.name == "qualifiedName":
        prefix, slash, name = text.rpartition("/")
        sound = re.fullmatch(_QUALIFIED, name, re.ASCII) and len(name) <= 63
        if slash:
            pattern, most = _RULES["dns1123Subdomain"]
            sound = sound and re.fullmatch(pattern, prefix, re.ASCII) and len(prefix) <= most
        return NONE if sound else Optional(True, ["must be a qualified name"])
    pattern, most = _RULES[kind.name]
    # The length first: a text that is short can't keep a pattern busy.
    if len(text) > most:
        return Optional(True, [f"must be no more than {most} characters"])
    return NONE if re.fullmatch(pattern, text, re.ASCII) else Optional(True, [f"must be a valid {kind.name}"])


def _formats(functions: Functions) -> None:
    for name in _NAMES:
        functions.add(f"format.{name}", "() -> format", lambda name=name: Format(name), since=31)
    functions.add(
        "format.named", "(string) -> optional<format>",
        lambda name: Optional(True, Format(name)) if name in _NAMES else NONE, since=31,
    )  # fmt: skip
    functions.method("validate", "(format, string) -> optional<list<string>>", _faults, since=31, work=True)
