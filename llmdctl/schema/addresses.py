"""String formats that name something on a network, as Go's net, net/url and net/mail read them."""

from __future__ import annotations

import re

_WIDE = r"[^\x00-\x7F]"
_LETTER = rf"(?:[A-Za-z0-9]|{_WIDE})"
_HOSTNAME = (
    rf"{_LETTER}(?:-?{_LETTER}{{0,62}})?|"
    rf"(?:{_LETTER}(?:(?:-|{_LETTER}){{0,61}}{_LETTER})?\.)+(?:[A-Za-z]|{_WIDE}){{2,63}}"
)
_SCHEME = r"[A-Za-z][-+.A-Za-z0-9]*"
_USER = r"(?:[-A-Za-z0-9._:~!$&'()*+,;=@]|%[0-9A-Fa-f]{2})*"
_HOST = rf"(?:[-A-Za-z0-9._~!$&'()*+,;=<>\"]|%[89A-Fa-f][0-9A-Fa-f]|{_WIDE})*|\[[0-9A-Fa-f:.]*(?:%25[^\]]*)?\]"
_AUTHORITY = rf"(?:{_USER}@)?(?:{_HOST})(?::[0-9]*)?"
_DOT_ATOM = r"[^\s@.()<>,;:\\\"\[\]]+(?:\.[^\s@.()<>,;:\\\"\[\]]+)*"
_MAC = r"(?i:[0-9a-f]{2}(?:(?P<by>[:-])[0-9a-f]{2})(?:(?P=by)[0-9a-f]{2}){%d})"
_DOTTED_MAC = r"(?i:[0-9a-f]{4}(?:\.[0-9a-f]{4}){%d})"
_BARE_MAC = r"(?i:[0-9a-f]{%d})"


def is_hostname(text: str) -> bool:
    """A single label without inner dashes, or labels that end in a domain of letters (kube-openapi, strfmt)."""
    if len(text.encode(errors="replace")) > 255 or re.fullmatch(_HOSTNAME, text) is None:
        return False
    return all(len(label.encode(errors="replace")) <= 63 for label in text.split("."))


def is_uri(text: str) -> bool:
    """What url.ParseRequestURI takes: an absolute URI or an absolute path."""
    if text == "*":
        return True
    if re.search(r"[\x00-\x1F\x7F]", text):
        return False
    scheme = re.match(rf"{_SCHEME}:", text)
    rest = text[scheme.end() :] if scheme else text
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return scheme is not None
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        if re.fullmatch(_AUTHORITY, authority) is None:
            return False
        host = authority.rpartition("@")[2]
        if host.startswith("[") and not is_ipv6(host[1 : host.rfind("]")].partition("%25")[0]):
            return False
        rest = slash + path
    return re.search(r"%(?![0-9A-Fa-f]{2})", rest) is None


def is_email(text: str) -> bool:
    """What mail.ParseAddress takes. Names, comments and quotes around an address are not looked into."""
    bare = text.strip()
    if re.search(r'[<("]', bare):
        return "@" in bare
    return re.fullmatch(rf"{_DOT_ATOM}@(?:{_DOT_ATOM}|\[[^\]\s]*\])", bare) is not None


def is_ipv4(text: str) -> bool:
    """An address with dots; zeros in front are let pass, as in netutils.ParseIPSloppy."""
    return "." in text and _parses(text)


def is_ipv6(text: str) -> bool:
    """An address with colons, without a zone."""
    return ":" in text and _parses(text)


def is_cidr(text: str) -> bool:
    """An address and the length of its prefix."""
    address, slash, length = text.partition("/")
    if not slash or not re.fullmatch(r"[0-9]{1,9}", length) or not _parses(address):
        return False
    return int(length) <= (128 if ":" in address else 32)


def is_mac(text: str) -> bool:
    """An address of 6, 8 or 20 bytes, in pairs, in dotted groups of four, or without separators."""
    forms = [form % size for form, sizes in _MAC_FORMS for size in sizes]
    return any(re.fullmatch(form, text) for form in forms)


_MAC_FORMS = ((_MAC, (4, 6, 18)), (_DOTTED_MAC, (2, 3, 9)), (_BARE_MAC, (12, 16, 40)))


def _parses(text: str) -> bool:
    import ipaddress

    if "%" in text:
        return False
    try:
        ipaddress.ip_address(re.sub(r"(?<![0-9A-Fa-f:.])0+(?=[0-9]+\.)|(?<=\.)0+(?=[0-9])", "", text))
    except ValueError:
        return False
    return True
