"""PodDisruptionBudget and NetworkPolicy.

Source of the facts: k8s.io/kubernetes pkg/apis/policy/validation and pkg/apis/networking/validation.
"""

from __future__ import annotations

import ipaddress

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, number, objects, strings, struct, text
from llmdctl.validate.admission.metadata import check_selector
from llmdctl.validate.admission.names import cidr
from llmdctl.validate.admission.ports import PROTOCOLS
from llmdctl.validate.admission.probes import check_port
from llmdctl.validate.admission.violation import Out
from llmdctl.validate.admission.workloads import check_int_or_percent

BUDGET = "ADM024"
NETWORK = "ADM025"


def check_budget(obj: Object, out: Out) -> None:
    """A PodDisruptionBudget."""
    spec = struct(obj, "spec")
    if not spec:
        return
    for key in ("minAvailable", "maxUnavailable"):
        check_int_or_percent(spec.get(key), ("spec", key), out, BUDGET, ceiling=100)
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        detail = "minAvailable and maxUnavailable cannot be both set"
        out.invalid(("spec",), BUDGET, spec, detail)
    selector = child(spec, "selector")
    if selector:
        check_selector(selector, ("spec", "selector"), out)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if isinstance(policy, str) and policy not in ("AlwaysAllow", "IfHealthyBudget"):
        at = ("spec", "unhealthyPodEvictionPolicy")
        out.unsupported(at, BUDGET, policy, ("AlwaysAllow", "IfHealthyBudget"))


def check_network_policy(obj: Object, out: Out) -> None:
    """A NetworkPolicy."""
    spec = struct(obj, "spec")
    if not spec:
        return
    selector = child(spec, "podSelector")
    if selector:
        check_selector(selector, ("spec", "podSelector"), out)
    for side, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in objects(spec, side):
            _check_rule(rule, peers, ("spec", side, index), out)
    kinds = list(strings(spec, "policyTypes"))
    if len(kinds) > 2:
        detail = "may not specify more than two policyTypes"
        out.invalid(("spec", "policyTypes"), NETWORK, spec["policyTypes"], detail)
        return
    for index, kind in kinds:
        if kind not in ("Egress", "Ingress"):
            out.unsupported(("spec", "policyTypes", index), NETWORK, kind, ("Egress", "Ingress"))


def _check_rule(rule: Object, peers: str, path: Path, out: Out) -> None:
    for index, port in objects(rule, "ports"):
        _check_port(port, (*path, "ports", index), out)
    for index, peer in objects(rule, peers):
        _check_peer(peer, (*path, peers, index), out)


def _check_port(port: Object, path: Path, out: Out) -> None:
    protocol = port.get("protocol")
    if isinstance(protocol, str) and protocol not in PROTOCOLS:
        out.unsupported((*path, "protocol"), NETWORK, protocol, PROTOCOLS)
    value = port.get("port")
    if value is not None:
        check_port(value, (*path, "port"), out, NETWORK)
    end = number(port, "endPort")
    if end is None:
        return
    if type(value) is int:
        if end < value:
            out.invalid((*path, "endPort"), NETWORK, end, "must be greater than or equal to `port`")
        check_port(end, (*path, "endPort"), out, NETWORK)
    elif value is None:
        out.required((*path, "port"), NETWORK, "must be specified when endPort is specified")
    elif isinstance(value, str):
        out.invalid((*path, "port"), NETWORK, value, "must be an integer when endPort is specified")


def _check_peer(peer: Object, path: Path, out: Out) -> None:
    given = [key for key in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(key) is not None]
    if not given:
        out.required(path, NETWORK, "must specify a peer")
    elif "ipBlock" in given and len(given) > 1:
        out.forbidden(path, NETWORK, "may not specify both ipBlock and another peer")
    for key in ("podSelector", "namespaceSelector"):
        selector = child(peer, key)
        if selector:
            check_selector(selector, (*path, key), out)
    block = child(peer, "ipBlock")
    if block is not None:
        _check_block(block, (*path, "ipBlock"), out)


def _check_block(block: Object, path: Path, out: Out) -> None:
    whole = text(block, "cidr")
    if whole is None:
        return
    if whole == "":
        out.required((*path, "cidr"), NETWORK)
        return
    reasons = cidr(whole)
    out.each_invalid((*path, "cidr"), NETWORK, whole, reasons)
    for index, part in strings(block, "except"):
        at = (*path, "except", index)
        inner = cidr(part)
        out.each_invalid(at, NETWORK, part, inner)
        if not inner and not reasons and not _is_inside(part, whole):
            out.invalid(at, NETWORK, part, f"must be a strict subset of `cidr`: {whole}")


def _is_inside(part: str, whole: str) -> bool:
    inner, outer = ipaddress.ip_network(part, strict=False), ipaddress.ip_network(whole, strict=False)
    if isinstance(inner, ipaddress.IPv4Network) and isinstance(outer, ipaddress.IPv4Network):
        return inner.subnet_of(outer) and inner != outer
    if isinstance(inner, ipaddress.IPv6Network) and isinstance(outer, ipaddress.IPv6Network):
        return inner.subnet_of(outer) and inner != outer
    return False
