"""ConfigMap and Secret.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidateConfigMap, ValidateSecret).
"""

from __future__ import annotations

import base64
import binascii
import json

from llmdctl.findings import MapKey
from llmdctl.validate.admission.access import Object, child, text
from llmdctl.validate.admission.names import config_key
from llmdctl.validate.admission.violation import Out

CODE = "ADM016"

LIMIT = 1024 * 1024
"""Bytes of all values together."""

_ACCOUNT_TOKEN = "kubernetes.io/service-account-token"  # noqa: S105 - a type's name
_ACCOUNT_NAME = "kubernetes.io/service-account.name"
_REQUIRED_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def check_config_map(obj: Object, out: Out) -> None:
    """A ConfigMap: keys, and the size of all values."""
    data = child(obj, "data") or {}
    binary = child(obj, "binaryData") or {}
    size = 0
    for key, value in data.items():
        if isinstance(key, str):
            out.each_invalid(("data", MapKey(key)), CODE, key, config_key(key))
            if key in binary:
                out.invalid(("data", MapKey(key)), CODE, key, "duplicate of key present in binaryData")
        size += len(value.encode(errors="surrogatepass")) if isinstance(value, str) else 0
    for key, value in binary.items():
        if isinstance(key, str):
            out.each_invalid(("binaryData", MapKey(key)), CODE, key, config_key(key))
        size += len(value) * 3 // 4 if isinstance(value, str) else 0
    if size > LIMIT:
        out.too_long((), CODE, LIMIT)


def check_secret(obj: Object, out: Out) -> None:
    """A Secret: keys, size, base64, and what its type asks for."""
    data = child(obj, "data") or {}
    strings = child(obj, "stringData") or {}
    decoded = {key: _decode(key, value, out) for key, value in data.items() if isinstance(key, str)}
    for key, value in strings.items():
        if isinstance(key, str) and isinstance(value, str):
            decoded[key] = value.encode(errors="surrogatepass")
    for key in decoded:
        out.each_invalid(("data", MapKey(key)), CODE, key, config_key(key))
    if sum(len(value) for value in decoded.values()) > LIMIT:
        out.too_long(("data",), CODE, LIMIT)
    _check_type(obj, decoded, out)


def _decode(key: str, value: object, out: Out) -> bytes:
    if not isinstance(value, str):
        return b""
    try:
        return base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        out.invalid(("data", MapKey(key)), CODE, "<redacted>", "illegal base64 data")
        return b""


def _check_type(obj: Object, decoded: dict[str, bytes], out: Out) -> None:
    kind = text(obj, "type")
    if not kind:
        return
    for key in _REQUIRED_KEYS.get(kind, ()):
        if key not in decoded:
            out.required(("data", MapKey(key)), CODE)
        elif key.startswith(".docker") and not _is_json(decoded[key]):
            out.invalid(("data", MapKey(key)), CODE, "<secret contents redacted>", "must be JSON")
    if kind == "kubernetes.io/basic-auth" and not decoded.keys() & {"username", "password"}:
        out.required(("data", MapKey("username")), CODE)
        out.required(("data", MapKey("password")), CODE)
    if kind == _ACCOUNT_TOKEN:
        annotations = child(child(obj, "metadata") or {}, "annotations") or {}
        if not annotations.get(_ACCOUNT_NAME):
            out.required(("metadata", "annotations", MapKey(_ACCOUNT_NAME)), CODE)


def _is_json(value: bytes) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True
