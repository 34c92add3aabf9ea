"""Pod specs and pod templates.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidatePodSpec,
ValidatePodTemplateSpec).
"""

from __future__ import annotations

from collections.abc import Iterable

from llmdctl.findings import MapKey, Path
from llmdctl.validate.admission.access import EMPTY, Object, child, is_missing, number, objects, strings, struct, text
from llmdctl.validate.admission.containers import PodScope, check_containers
from llmdctl.validate.admission.metadata import check_annotations, check_labels
from llmdctl.validate.admission.names import dns_label, dns_subdomain, ip_address, qualified_name
from llmdctl.validate.admission.quantities import check_quantity
from llmdctl.validate.admission.resources import check_pod_claims, check_pod_resources
from llmdctl.validate.admission.scheduling import check_scheduling
from llmdctl.validate.admission.security import check_pod_security
from llmdctl.validate.admission.violation import Out
from llmdctl.validate.admission.volumes import check_volumes

CODE = "ADM028"
RESTART = "ADM011"

_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_DNS_POLICIES = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_SUBDOMAINS = ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName")
_LABELS = ("hostname", "subdomain")


def check_pod(obj: Object, out: Out) -> None:
    """A Pod."""
    spec = struct(obj, "spec")
    if spec is not None:
        check_pod_spec(spec, ("spec",), out)


def check_template_metadata(template: Object, path: Path, out: Out) -> None:
    """Labels and annotations of a pod template, at the paths that the server gives: without `metadata`."""
    metadata = child(template, "metadata")
    if metadata:
        check_labels(metadata, "labels", (*path, "labels"), out)
        check_annotations(metadata, (*path, "annotations"), out)


def check_pod_spec(spec: Object, path: Path, out: Out, *, claim_templates: Iterable[str] = ()) -> None:
    """A pod spec; `claim_templates` are volumes that a controller adds (volumeClaimTemplates)."""
    volumes = check_volumes(spec, path, out)
    if volumes is not None:
        volumes.update(claim_templates)
    claims = check_pod_claims(spec, path, out)
    scope = PodScope(volumes, claims, spec.get("hostNetwork") is True)
    check_containers(spec, path, scope, out)
    check_scheduling(spec, path, out)
    check_pod_security(spec, path, out)
    check_pod_resources(spec, path, out)
    _check_policies(spec, path, out)
    _check_names(spec, path, out)
    _check_numbers(spec, path, out)
    _check_lists(spec, path, out)
    overhead = child(spec, "overhead")
    for name, value in (overhead or EMPTY).items():
        check_quantity(value, (*path, "overhead", MapKey(name)), out)


def _check_policies(spec: Object, path: Path, out: Out) -> None:
    restart = text(spec, "restartPolicy")
    if restart and restart not in _RESTART_POLICIES:
        out.unsupported((*path, "restartPolicy"), RESTART, restart, _RESTART_POLICIES)
    dns = text(spec, "dnsPolicy")
    if dns and dns not in _DNS_POLICIES:
        out.unsupported((*path, "dnsPolicy"), CODE, dns, _DNS_POLICIES)
    config = child(spec, "dnsConfig")
    if dns == "None":
        if config is None:
            detail = "must provide `dnsConfig` when `dnsPolicy` is None"
            if spec.get("dnsConfig") is None:
                out.required((*path, "dnsConfig"), CODE, detail)
        elif is_missing(config, "nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            out.required((*path, "dnsConfig", "nameservers"), CODE, detail)
    if config is not None:
        for index, server in strings(config, "nameservers"):
            out.each_invalid((*path, "dnsConfig", "nameservers", index), CODE, server, ip_address(server))
    preemption = text(spec, "preemptionPolicy")
    if preemption and preemption not in ("Never", "PreemptLowerPriority"):
        out.unsupported((*path, "preemptionPolicy"), CODE, preemption, ("Never", "PreemptLowerPriority"))


def _check_names(spec: Object, path: Path, out: Out) -> None:
    for key in _SUBDOMAINS:
        value = spec.get(key)
        if value and isinstance(value, str):
            for reason in dns_subdomain(value):
                out.invalid((*path, key), CODE, value, reason)
    for key in _LABELS:
        value = spec.get(key)
        if value and isinstance(value, str):
            for reason in dns_label(value):
                out.invalid((*path, key), CODE, value, reason)


def _check_numbers(spec: Object, path: Path, out: Out) -> None:
    grace = number(spec, "terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        # A negative grace period is turned into one second when the object is read.
        return
    deadline = number(spec, "activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= 2**31 - 1:
        out.invalid((*path, "activeDeadlineSeconds"), CODE, deadline, f"must be between 1 and {2**31 - 1}, inclusive")


def _check_lists(spec: Object, path: Path, out: Out) -> None:
    for index, alias in objects(spec, "hostAliases"):
        address = text(alias, "ip")
        if address is not None:
            out.each_invalid((*path, "hostAliases", index, "ip"), CODE, address, ip_address(address))
        for position, name in strings(alias, "hostnames"):
            out.each_invalid((*path, "hostAliases", index, "hostnames", position), CODE, name, dns_subdomain(name))
    for index, gate in objects(spec, "readinessGates"):
        kind = text(gate, "conditionType")
        if kind is not None:
            out.each_invalid((*path, "readinessGates", index, "conditionType"), CODE, kind, qualified_name(kind))
    seen: set[str] = set()
    for index, gate in objects(spec, "schedulingGates"):
        gate_name = text(gate, "name")
        if gate_name is None:
            continue
        out.each_invalid((*path, "schedulingGates", index), CODE, gate_name, qualified_name(gate_name))
        if gate_name in seen:
            out.duplicate((*path, "schedulingGates", index), CODE, gate_name)
        seen.add(gate_name)
