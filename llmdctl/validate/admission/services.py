"""Service.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidateService).
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, is_missing, number, objects, strings, struct, text
from llmdctl.validate.admission.metadata import check_labels
from llmdctl.validate.admission.names import cidr, dns_label, dns_subdomain, ip_address, qualified_name
from llmdctl.validate.admission.ports import PROTOCOLS, RANGE
from llmdctl.validate.admission.probes import check_port
from llmdctl.validate.admission.violation import Out

CODE = "ADM015"

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_EXTERNAL = ("LoadBalancer", "NodePort")
_DAY = 86400


def check_service(obj: Object, out: Out) -> None:
    """A Service."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    kind = text(spec, "type")
    if kind is None:
        return
    kind = kind or "ClusterIP"
    if kind not in _TYPES:
        out.unsupported(("spec", "type"), CODE, kind, _TYPES)
    headless = spec.get("clusterIP") == "None"
    if is_missing(spec, "ports") and not headless and kind != "ExternalName":
        out.required(("spec", "ports"), CODE)
    _check_type(spec, kind, headless, out)
    _check_ports(spec, kind, out)
    check_labels(spec, "selector", ("spec", "selector"), out)
    _check_affinity(spec, out)
    _check_addresses(spec, out)
    _check_policies(spec, kind, out)


def _check_type(spec: Object, kind: str, headless: bool, out: Out) -> None:
    if kind == "LoadBalancer" and headless:
        out.invalid(("spec", "clusterIPs", 0), CODE, "None", "may not be set to 'None' for LoadBalancer services")
    elif kind == "NodePort" and headless:
        out.invalid(("spec", "clusterIPs", 0), CODE, "None", "may not be set to 'None' for NodePort services")
    elif kind == "ExternalName":
        name = text(spec, "externalName")
        if name:
            trimmed = name.rstrip(".") if not name.endswith("..") else name
            out.each_invalid(("spec", "externalName"), CODE, name, dns_subdomain(trimmed))
        elif name == "":
            out.required(("spec", "externalName"), CODE)
        if spec.get("clusterIP"):
            out.forbidden(("spec", "clusterIPs"), CODE, "may not be set for ExternalName services")


def _check_ports(spec: Object, kind: str, out: Out) -> None:
    names: set[str] = set()
    taken: set[tuple[str, int]] = set()
    node_taken: set[tuple[str, int]] = set()
    needs_name = isinstance(spec.get("ports"), list) and len(spec["ports"]) > 1
    for index, port in objects(spec, "ports"):
        at: Path = ("spec", "ports", index)
        name = text(port, "name")
        if name:
            out.each_invalid((*at, "name"), CODE, name, dns_label(name))
            if name in names:
                out.duplicate((*at, "name"), CODE, name)
            names.add(name)
        elif name == "" and needs_name:
            out.required((*at, "name"), CODE)
        _check_port_numbers(port, at, out)
        protocol = text(port, "protocol")
        if protocol and protocol not in PROTOCOLS:
            out.unsupported((*at, "protocol"), CODE, protocol, PROTOCOLS)
        scheme = port.get("appProtocol")
        if isinstance(scheme, str):
            out.each_invalid((*at, "appProtocol"), CODE, scheme, qualified_name(scheme))
        _check_unique(port, at, protocol or "TCP", taken, node_taken, out)
        if number(port, "nodePort") and kind not in _EXTERNAL:
            out.forbidden((*at, "nodePort"), CODE, f"may not be used when `type` is '{kind}'")


def _check_port_numbers(port: Object, path: Path, out: Out) -> None:
    value = 0 if port.get("port") is None else number(port, "port")
    if value is not None and not 1 <= value <= 65535:
        out.invalid((*path, "port"), CODE, value, RANGE)
    target = port.get("targetPort")
    if target in (None, 0, "") and not isinstance(target, bool):
        # An absent target is the port itself, with whatever is wrong with it.
        target = value
    if target is not None:
        check_port(target, (*path, "targetPort"), out, CODE)


def _check_unique(
    port: Object, path: Path, protocol: str, taken: set[tuple[str, int]], node_taken: set[tuple[str, int]], out: Out
) -> None:
    value, node = number(port, "port"), number(port, "nodePort")
    if value:
        if (protocol, value) in taken:
            out.duplicate(path, CODE, {"protocol": protocol, "port": value})
        taken.add((protocol, value))
    if node:
        if (protocol, node) in node_taken:
            out.duplicate((*path, "nodePort"), CODE, node)
        node_taken.add((protocol, node))


def _check_affinity(spec: Object, out: Out) -> None:
    affinity = text(spec, "sessionAffinity")
    if affinity and affinity not in ("ClientIP", "None"):
        out.unsupported(("spec", "sessionAffinity"), CODE, affinity, ("ClientIP", "None"))
    config = child(spec, "sessionAffinityConfig")
    if config is None:
        return
    if affinity in ("", "None"):
        # The server's defaulting drops the settings before anything judges them.
        return
    seconds = number(child(config, "clientIP") or {}, "timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= _DAY:
        at = ("spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds")
        out.invalid(at, CODE, seconds, f"must be greater than 0 and less than {_DAY}")


def _check_addresses(spec: Object, out: Out) -> None:
    address = text(spec, "clusterIP")
    if address and address != "None":
        out.each_invalid(("spec", "clusterIPs", 0), CODE, address, ip_address(address))
    for index, item in strings(spec, "externalIPs"):
        out.each_invalid(("spec", "externalIPs", index), CODE, item, ip_address(item))
    for index, item in strings(spec, "loadBalancerSourceRanges"):
        out.each_invalid(("spec", "loadBalancerSourceRanges", index), CODE, item, cidr(item.strip()))
    for index, item in strings(spec, "ipFamilies"):
        if item not in ("IPv4", "IPv6"):
            out.unsupported(("spec", "ipFamilies", index), CODE, item, ("IPv4", "IPv6"))


def _check_policies(spec: Object, kind: str, out: Out) -> None:
    families = text(spec, "ipFamilyPolicy")
    choices = ("PreferDualStack", "RequireDualStack", "SingleStack")
    if families and families not in choices:
        out.unsupported(("spec", "ipFamilyPolicy"), CODE, families, choices)
    external = text(spec, "externalTrafficPolicy")
    if external:
        if kind not in _EXTERNAL and not spec.get("externalIPs"):
            detail = "may only be set for externally-accessible services"
            out.invalid(("spec", "externalTrafficPolicy"), CODE, external, detail)
        elif external not in ("Cluster", "Local"):
            out.unsupported(("spec", "externalTrafficPolicy"), CODE, external, ("Cluster", "Local"))
    internal = text(spec, "internalTrafficPolicy")
    if internal and internal not in ("Cluster", "Local"):
        out.unsupported(("spec", "internalTrafficPolicy"), CODE, internal, ("Cluster", "Local"))
    distribution = text(spec, "trafficDistribution")
    spread = ("PreferClose", "PreferSameNode", "PreferSameZone") if out.minor >= 34 else ("PreferClose",)
    if distribution and distribution not in spread:
        out.unsupported(("spec", "trafficDistribution"), CODE, distribution, spread)
