"""Ingress.

Source of the facts: k8s.io/kubernetes pkg/apis/networking/validation/validation.go (ValidateIngressCreate), v1.36.3.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, is_missing, number, objects, strings, struct, text
from llmdctl.validate.admission.names import (
    Reasons,
    dns_1035_label,
    dns_label,
    dns_subdomain,
    ip_address,
    path_segment,
    port_name,
)
from llmdctl.validate.admission.violation import Out

CODE = "ADM029"

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_THE_END = ("/..", "/.")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"


def check_ingress(obj: Object, out: Out) -> None:
    """An Ingress."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    path: Path = ("spec",)
    backend = child(spec, "defaultBackend")
    if is_missing(spec, "rules") and spec.get("defaultBackend") is None:
        out.invalid(path, CODE, spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    if backend is not None:
        _check_backend(backend, (*path, "defaultBackend"), out)
    for index, rule in objects(spec, "rules"):
        _check_rule(rule, (*path, "rules", index), out)
    for index, tls in objects(spec, "tls"):
        _check_tls(tls, (*path, "tls", index), out)
    name = spec.get("ingressClassName")
    if isinstance(name, str):
        out.each_invalid((*path, "ingressClassName"), CODE, name, dns_subdomain(name))
        old = (child(child(obj, "metadata") or {}, "annotations") or {}).get(_CLASS_ANNOTATION)
        if isinstance(old, str) and old != name:
            detail = "must match `ingressClassName` when both are specified"
            out.invalid(("annotations", _CLASS_ANNOTATION), CODE, old, detail)


def _host(value: str) -> Reasons:
    if "*" not in value:
        return dns_subdomain(value)
    if value.startswith("*.") and not dns_subdomain(value[2:]):
        return ()
    return ("a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain",)


def _check_tls(tls: Object, path: Path, out: Out) -> None:
    for index, host in strings(tls, "hosts"):
        out.each_invalid((*path, "hosts", index), CODE, host, _host(host))
    secret = text(tls, "secretName")
    if secret:
        out.each_invalid((*path, "secretName"), CODE, secret, dns_subdomain(secret))


def _check_rule(rule: Object, path: Path, out: Out) -> None:
    host = text(rule, "host")
    if host:
        if not ip_address(host):
            out.invalid((*path, "host"), CODE, host, "must be a DNS name, not an IP address")
        out.each_invalid((*path, "host"), CODE, host, _host(host))
    http = child(rule, "http")
    if http is None:
        return
    if is_missing(http, "paths"):
        out.required((*path, "http", "paths"), CODE)
    for index, item in objects(http, "paths"):
        _check_path(item, (*path, "http", "paths", index), out)


def _check_path(item: Object, path: Path, out: Out) -> None:
    kind, value = item.get("pathType"), text(item, "path")
    if kind is None:
        out.required((*path, "pathType"), CODE, "pathType must be specified")
        return
    at = (*path, "path")
    if isinstance(kind, str) and kind not in _PATH_TYPES:
        out.unsupported((*path, "pathType"), CODE, kind, _PATH_TYPES)
    elif value is not None and not value.startswith("/") and (value or kind != "ImplementationSpecific"):
        out.invalid(at, CODE, value, "must be an absolute path")
    elif value and kind in ("Exact", "Prefix"):
        for part in _NOT_IN_PATHS:
            if part in value:
                out.invalid(at, CODE, value, f"must not contain '{part}'")
        for part in _NOT_AT_THE_END:
            if value.endswith(part):
                out.invalid(at, CODE, value, f"cannot end with '{part}'")
    backend = struct(item, "backend")
    if backend is not None:
        _check_backend(backend, (*path, "backend"), out)


def _check_backend(backend: Object, path: Path, out: Out) -> None:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        out.invalid(path, CODE, "", "cannot set both resource and service backends")
    elif service is None and resource is None:
        out.invalid(path, CODE, "", "resource or service backend is required")
    elif isinstance(service, dict):
        _check_service(service, path, out)
    elif isinstance(resource, dict):
        _check_resource(resource, (*path, "resource"), out)


def _check_service(service: Object, path: Path, out: Out) -> None:
    name = text(service, "name")
    at = (*path, "service", "name")
    if name == "":
        out.required(at, CODE)
    elif name is not None:
        # Names that start with a digit are taken where Services may have them.
        out.each_invalid(at, CODE, name, dns_label(name) if out.minor >= 36 else dns_1035_label(name))
    port = struct(service, "port")
    if port is None:
        return
    port_text, port_number = text(port, "name"), number(port, "number")
    if port_text and port_number:
        out.invalid(path, CODE, "", "cannot set both port name & port number")
    elif port_text:
        out.each_invalid((*path, "service", "port", "name"), CODE, port_text, port_name(port_text))
    elif port_number:
        if not 1 <= port_number <= 65535:
            detail = "must be between 1 and 65535, inclusive"
            out.invalid((*path, "service", "port", "number"), CODE, port_number, detail)
    elif port_text is not None and (port.get("number") is None or port_number is not None):
        out.required(path, CODE, "port name or number is required")


def _check_resource(resource: Object, path: Path, out: Out) -> None:
    group = resource.get("apiGroup")
    if isinstance(group, str):
        out.each_invalid((*path, "apiGroup"), CODE, group, dns_subdomain(group))
    for key in ("kind", "name"):
        value = text(resource, key)
        if value == "":
            out.required((*path, key), CODE)
        elif value is not None:
            out.each_invalid((*path, key), CODE, value, path_segment(value))
