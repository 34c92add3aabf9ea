"""Probes and lifecycle hooks.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (validateProbe, validateHandler).
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, is_missing, number, objects, text
from llmdctl.validate.admission.names import header_name, port_name
from llmdctl.validate.admission.violation import Out

CODE = "ADM010"

PROBES = ("startupProbe", "livenessProbe", "readinessProbe")

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
_SECONDS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_RANGE = "must be between 1 and 65535, inclusive"


def check_port(value: object, path: Path, out: Out, code: str) -> None:
    """A port that is a number or the name of a container port; absent counts as 0."""
    if value is None:
        value = 0
    if type(value) is int:
        if not 1 <= value <= 65535:
            out.invalid(path, code, value, _RANGE)
    elif isinstance(value, str):
        reasons = port_name(value)
        if reasons:
            out.each_invalid(path, code, value, reasons)


def check_probe(container: Object, key: str, path: Path, out: Out) -> None:
    """The probe `key` of a container, if it has one."""
    probe = child(container, key)
    if probe is None:
        return
    at = (*path, key)
    check_handler(probe, at, _HANDLERS, out)
    for field in _SECONDS:
        value = probe.get(field)
        if type(value) is int and value < 0:
            out.invalid((*at, field), CODE, value, "must be greater than or equal to 0")
    success = number(probe, "successThreshold")
    if key != "readinessProbe" and success not in (None, 0, 1):
        out.invalid((*at, "successThreshold"), CODE, success, "must be 1")
    grace = number(probe, "terminationGracePeriodSeconds")
    if grace is not None:
        if key == "readinessProbe":
            out.invalid((*at, "terminationGracePeriodSeconds"), CODE, grace, "must not be set for readinessProbes")
        elif grace <= 0:
            out.invalid((*at, "terminationGracePeriodSeconds"), CODE, grace, "must be greater than 0")


def check_handler(holder: Object, path: Path, kinds: tuple[str, ...], out: Out) -> None:
    """Exactly one handler, and its fields."""
    given = [key for key in kinds if holder.get(key) is not None]
    if not given:
        out.required(path, CODE, "must specify a handler type")
    for key in given[1:]:
        out.forbidden((*path, key), CODE, "may not specify more than 1 handler type")
    for key in given:
        handler = child(holder, key)
        if handler is not None:
            _check_one_handler(handler, key, (*path, key), out)


def _check_one_handler(handler: Object, key: str, path: Path, out: Out) -> None:
    if key == "exec":
        if is_missing(handler, "command"):
            out.required((*path, "command"), CODE)
    elif key == "httpGet":
        check_port(handler.get("port"), (*path, "port"), out, CODE)
        scheme = text(handler, "scheme")
        if scheme and scheme not in ("HTTP", "HTTPS"):
            out.unsupported((*path, "scheme"), CODE, scheme, ("HTTP", "HTTPS"))
        if handler.get("httpHeaders"):
            _check_headers(handler, path, out)
    elif key == "tcpSocket":
        check_port(handler.get("port"), (*path, "port"), out, CODE)
    elif key == "grpc":
        port = handler.get("port")
        if port is None or type(port) is int:
            check_port(port, (*path, "port"), out, CODE)
    elif key == "sleep":
        seconds = number(handler, "seconds")
        if seconds is not None and seconds < 0:
            out.invalid(path, CODE, seconds, "must be non-negative and less than terminationGracePeriodSeconds")


def _check_headers(handler: Object, path: Path, out: Out) -> None:
    for index, header in objects(handler, "httpHeaders"):
        name = text(header, "name")
        if name is not None:
            out.each_invalid((*path, "httpHeaders", index, "name"), CODE, name, header_name(name))


def check_lifecycle(container: Object, path: Path, out: Out) -> None:
    """`lifecycle` hooks."""
    lifecycle = child(container, "lifecycle")
    if lifecycle is None:
        return
    for hook in ("postStart", "preStop"):
        handler = child(lifecycle, hook)
        if handler is not None:
            check_handler(handler, (*path, "lifecycle", hook), _HOOKS, out)
