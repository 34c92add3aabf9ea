"""Ports of containers.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (validateContainerPorts).
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, number, objects, text
from llmdctl.validate.admission.names import port_name
from llmdctl.validate.admission.violation import Out

CODE = "ADM005"

PROTOCOLS = ("SCTP", "TCP", "UDP")
RANGE = "must be between 1 and 65535, inclusive"

HostPorts = set[tuple[str, str, int]]
"""What of the host's ports is taken by this pod: address, protocol, number."""


def check_ports(container: Object, path: Path, taken: HostPorts, host_network: bool, out: Out) -> None:
    """`ports` of a container. `taken` gathers host ports over the containers of a pod."""
    if not container.get("ports"):
        return
    names: set[str] = set()
    for index, port in objects(container, "ports"):
        at = (*path, "ports", index)
        name = text(port, "name")
        if name:
            reasons = port_name(name)
            if reasons:
                out.each_invalid((*at, "name"), CODE, name, reasons)
            elif name in names:
                out.duplicate((*at, "name"), CODE, name)
            names.add(name)
        _check_numbers(port, at, taken, host_network, out)
        protocol = text(port, "protocol")
        if protocol and protocol not in PROTOCOLS:
            out.unsupported((*at, "protocol"), CODE, protocol, PROTOCOLS)


def _check_numbers(port: Object, path: Path, taken: HostPorts, host_network: bool, out: Out) -> None:
    value = port.get("containerPort")
    if value is None or value == 0:
        out.required((*path, "containerPort"), CODE)
    elif type(value) is int and not 1 <= value <= 65535:
        out.invalid((*path, "containerPort"), CODE, value, RANGE)
    host = number(port, "hostPort")
    if not host:
        return
    if not 1 <= host <= 65535:
        out.invalid((*path, "hostPort"), CODE, host, RANGE)
    if host_network and type(value) is int and value != host:
        out.invalid((*path, "containerPort"), CODE, value, "must match `hostPort` when `hostNetwork` is true")
    key = (text(port, "hostIP") or "", text(port, "protocol") or "TCP", host)
    if key in taken:
        out.duplicate((*path, "hostPort"), CODE, "/".join(map(str, key)))
    taken.add(key)
