"""DRA: device claims of pods, the templates that they are made from, and the engines that need the devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Hit, Outcome, Place, Rule, Severity, Unresolved
from llmdctl.manifest.typed import nearest, surely_meant
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import Container, DeviceClaim, DeviceRequest, PodClaim, PodTemplate, View
from llmdctl.view.devices import (
    ACCELERATOR_CLASSES,
    KNOWN_CLASSES,
    NIC_CLASSES,
    claim_uses,
    counts,
    extended,
    is_accelerator_resource,
    pod_claims,
)

_REFERENCE = "k8s.io/kubernetes pkg/controller/resourceclaim"


def check_references(view: View) -> Iterator[Outcome]:
    """DRA001: a pod refers to a claim or a claim template that isn't there."""
    for template in view.templates:
        for claim in pod_claims(template):
            if not claim.target or view.devices.find(template, claim) or view.devices.is_generated(template, claim):
                continue
            yield _missing(view, template, claim)


def _missing(view: View, template: PodTemplate, claim: PodClaim) -> Outcome:
    others = view.devices.names(claim.kind, template)
    title = f"{template.lead}the pods claim devices by the {claim.kind} {claim.target!r}, which the input lacks"
    if not view.complete and not others:
        return Unresolved(claim.place, title)
    close = nearest(claim.target, others)
    return Hit(
        claim.place,
        title,
        fix=f"use {close!r}" if close else f"add a {claim.kind} of that name to the namespace",
        severity=Severity.ERROR if view.complete else Severity.WARNING,
    )


DRA001 = Rule(
    code="DRA001",
    severity=Severity.ERROR,
    title="a pod refers to a device claim that does not exist",
    why="the API server takes the pod, and it stays pending until the claim or its template is there",
    fix="add the object to the pod's namespace, or correct the name",
    references=(_REFERENCE,),
    needs=frozenset({"workloads"}),
    check=check_references,
)


def check_twice(view: View) -> Iterator[Outcome]:
    """DRA003: a container asks for an accelerator by claim and by extended resource."""
    for template in view.templates:
        claims = {claim.name: claim for claim in pod_claims(template)}
        for container in (*template.init_containers, *template.containers) if claims else ():
            own = extended(container)
            if not own:
                continue
            names = [use.name for use in claim_uses(container)]
            for name in names:
                found = view.devices.find(template, claims[name]) if name in claims else None
                given = _given(found)
                plugin = next((item for item in own if item.resource in given), None)
                if found is not None and plugin is not None:
                    yield Hit(
                        plugin.node.place,
                        f"{template.lead}{container.name} asks for {plugin.resource}: {plugin.count}, and claims the "
                        f"same kind of device by {name}",
                        evidence=(
                            seen(f"{found.document.ref} asks for {given[plugin.resource]}", found.devices.place),
                        ),
                    )
                    break


def _given(claim: DeviceClaim | None) -> dict[str, str]:
    """Extended resources of a claim's accelerators, with the class that gives each."""
    if claim is None:
        return {}
    requests = [item for item in claim.requests if item.is_accelerator]
    return {ACCELERATOR_CLASSES[name]: name for item in requests for name in item.classes}


DRA003 = Rule(
    code="DRA003",
    severity=Severity.ERROR,
    title="a container asks for the same accelerator by claim and by extended resource",
    why=(
        "claims and device plugins do not know of each other: the pod needs both, so twice as many devices as it uses, "
        "and on nodes where only one of the two drivers runs it never starts"
    ),
    fix="remove the extended resource from limits and requests, or claim only the network interface",
    references=("llm-d guides, GKE overlays", "Kubernetes dynamic resource allocation"),
    needs=frozenset({"workloads"}),
    # The devices that are there twice are also more than the engine has ranks.
    implies=("PAR001",),
    check=check_twice,
)


def check_requests(view: View) -> Iterator[Outcome]:
    """DRA002: a container names a request that its claim lacks, or no container gets a claim's devices."""
    for template in view.templates:
        claims = pod_claims(template)
        if not claims:
            continue
        containers = (*template.init_containers, *template.containers)
        used = {use.name for container in containers for use in claim_uses(container)}
        for claim in claims:
            if claim.name and claim.name not in used:
                yield Hit(
                    claim.node.place,
                    f"{template.lead}no container uses the pod's claim {claim.name!r}",
                    why="the devices are allocated to the pod, and no container sees them",
                    fix=f"add {claim.name} to resources.claims of the container that needs the devices",
                )
        by_name = {claim.name: claim for claim in claims}
        for container in containers:
            yield from _unknown_requests(view, template, container, by_name)


def _unknown_requests(
    view: View, template: PodTemplate, container: Container, claims: dict[str, PodClaim]
) -> Iterator[Outcome]:
    for use in claim_uses(container):
        claim = claims.get(use.name)
        found = view.devices.find(template, claim) if claim and use.request else None
        if found is None:
            continue
        names = [item.name for item in found.requests]
        if use.request not in names:
            yield Hit(
                use.node.at("request").place,
                f"{template.lead}{container.name} uses the request {use.request!r}, which {found.document.ref} lacks",
                fix=f"use one of: {', '.join(names) or 'none is there'}",
            )


DRA002 = Rule(
    code="DRA002",
    severity=Severity.ERROR,
    title="a claim's devices do not reach a container",
    why="the API server does not compare containers with the claim: the container starts without the device, or never",
    fix="name the pod's claim, and a request that the claim has, in resources.claims of the container",
    references=("Kubernetes API: ResourceRequirements.claims",),
    needs=frozenset({"workloads"}),
    check=check_requests,
)


def check_constraints(view: View) -> Iterator[Outcome]:
    """DRA004: a constraint that compares nothing, or an attribute that one of the drivers doesn't publish."""
    for claim in view.devices.claims:
        requests = {item.name: item for item in claim.requests if item.name}
        for constraint in claim.devices.at("constraints").items():
            attribute = constraint.at("matchAttribute")
            if not attribute.text():
                continue
            listed = constraint.at("requests").strings() or []
            bound = [requests[name] for name in _bases(listed) if name in requests] if listed else [*requests.values()]
            if not bound:
                continue
            domain = attribute.text().partition("/")[0]
            lacking = next((item for item in bound if _lacks(item, domain)), None)
            if lacking is not None:
                yield Hit(
                    attribute.place,
                    f"devices of {', '.join(lacking.classes)} have no attribute {attribute.text()}",
                    evidence=(seen(f"request {lacking.name} asks for {', '.join(lacking.classes)}", lacking.place),),
                )
            elif len(bound) == 1 and bound[0].count == 1:
                yield Hit(
                    constraint.place,
                    f"the constraint compares the one device of request {bound[0].name} with no other",
                    why="a constraint binds devices to each other; with one device it changes nothing",
                    fix="name the other request too, or remove the constraint",
                    severity=Severity.WARNING,
                )


def _bases(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name.partition("/")[0] for name in names))


_STANDARD = "resource.kubernetes.io"
_DOMAINS = {
    "gpu.nvidia.com": "gpu.nvidia.com",
    "mig.nvidia.com": "gpu.nvidia.com",
    "gpu.amd.com": "gpu.amd.com",
    "gpu.intel.com": "gpu.intel.com",
    "mrdma.google.com": "dra.net",
    "netdev.google.com": "dra.net",
    "dranet": "dra.net",
    "dranet.net": "dra.net",
    "dranet-rdma": "dra.net",
    "rdma-dranet": "dra.net",
}
# Attributes of clouds that DRANET publishes under their own domains.
_ALSO = {"dra.net": ("gce.dra.net", "oke.dra.net", "azure.dra.net", "alibaba.dra.net")}


def _lacks(request: DeviceRequest, domain: str) -> bool:
    """True when the drivers of all classes of a request are known, and publish nothing under a domain."""
    own = [_DOMAINS.get(name) for name in request.classes]
    if not own or domain == _STANDARD or domain not in {*_DOMAINS.values(), *_ALSO["dra.net"]}:
        return False
    return all(item is not None and item != domain and domain not in _ALSO.get(item, ()) for item in own)


DRA004 = Rule(
    code="DRA004",
    severity=Severity.ERROR,
    title="a constraint of a claim can not be met, or changes nothing",
    why="a device without the attribute is never chosen: the pod stays pending for ever",
    fix="align on an attribute that both drivers publish: resource.kubernetes.io/pcieRoot",
    references=("llm-d guides, GKE DRANET", "k8s.io/dynamic-resource-allocation structured"),
    check=check_constraints,
)


def check_pairing(view: View) -> Iterator[Outcome]:
    """DRA005: a claim of an accelerator and a network interface that may sit far from each other."""
    for claim in view.devices.claims:
        accelerators = [item for item in claim.requests if item.is_accelerator]
        nics = [item for item in claim.requests if item.all_in(NIC_CLASSES)]
        if not accelerators or not nics or any(True for _ in claim.devices.at("constraints").items()):
            continue
        yield Hit(
            claim.devices.place,
            f"the claim asks for {accelerators[0].classes[0]} and {nics[0].classes[0]}, and nothing ties them together",
        )


DRA005 = Rule(
    code="DRA005",
    severity=Severity.WARNING,
    title="an accelerator and its network interface are claimed without a constraint",
    why=(
        "any interface of the node may be chosen: memory is then moved across the CPU's interconnect, which is several "
        "times slower, or refused by the fabric"
    ),
    fix="add constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}] to the claim's devices",
    references=("llm-d guides, GKE DRANET",),
    check=check_pairing,
)


def check_classes(view: View) -> Iterator[Outcome]:
    """DRA006: a device class that nobody is known to install."""
    for claim in view.devices.claims:
        for request in claim.requests:
            for name in request.classes:
                if not name or name in KNOWN_CLASSES or name in view.devices.classes:
                    continue
                close = surely_meant(name, [*view.devices.classes, *KNOWN_CLASSES])
                title = f"request {request.name} asks for the device class {name!r}"
                if not close:
                    yield Unresolved(request.place, title)
                    continue
                yield Hit(_class_place(request, name), f"{title}; the usual name is {close!r}", fix=f"use {close!r}")


def _class_place(request: DeviceRequest, name: str) -> Place:
    for option in (request.node.at("exactly"), *request.node.at("firstAvailable").items(), request.node):
        found = option.at("deviceClassName")
        if found.text() == name:
            return found.place
    return request.place


DRA006 = Rule(
    code="DRA006",
    severity=Severity.WARNING,
    title="a device class is named almost like a known one",
    why="device classes are made by drivers: a claim of a class that no driver made leaves its pods pending",
    fix="use the class that the driver installs; `kubectl get deviceclasses` lists them",
    references=("NVIDIA, AMD, Intel and DRANET driver charts",),
    check=check_classes,
)


def check_shared(view: View) -> Iterator[Outcome]:
    """DRA007: one ResourceClaim for many pods, each of which means to have devices of its own."""
    for template in view.templates:
        pods = (template.workload.replicas or 1) * (template.workload.group_size or 1)
        if pods < 2 or not template.engines:
            continue
        for claim in pod_claims(template):
            found = view.devices.find(template, claim) if claim.claim else None
            if found is not None and any(item.is_accelerator for item in found.requests):
                yield Hit(
                    claim.place,
                    f"{template.lead}{pods} pods share the ResourceClaim {claim.claim!r}, and with it its accelerators",
                    evidence=(seen(f"the claim asks for {_what(found)}", found.devices.place),),
                )


def _what(claim: DeviceClaim) -> str:
    return ", ".join(f"{item.count or 'all'} x {'/'.join(item.classes)}" for item in claim.requests)


DRA007 = Rule(
    code="DRA007",
    severity=Severity.ERROR,
    title="several engines share the accelerators of one claim",
    why=(
        "a ResourceClaim is allocated once, on one node: all pods that name it run there with the same devices, and "
        "the second engine finds their memory taken"
    ),
    fix="make it a ResourceClaimTemplate, and name it in resourceClaimTemplateName: each pod then gets its own claim",
    references=(_REFERENCE,),
    needs=frozenset({"engines"}),
    check=check_shared,
)

_TAINT = "nvidia.com/gpu"
_GKE = "cloud.google.com/"


def check_tolerations(view: View) -> Iterator[Outcome]:
    """DRA008: GPUs of tainted nodes by claim, without the toleration that an extended resource brings."""
    for template in view.templates:
        claims = pod_claims(template)
        if not claims or any(is_accelerator_resource(key) for item in template.containers for key in counts(item)):
            continue
        found = [item for claim in claims if (item := view.devices.find(template, claim)) is not None]
        classes = {name for item in found for request in item.requests for name in request.classes}
        if "gpu.nvidia.com" not in classes or not _is_gke(template, classes) or _tolerates(template):
            continue
        yield Hit(
            template.at("spec", "tolerations"),
            f"{template.lead}the pods claim GPUs of GKE nodes and do not tolerate their taint {_TAINT}",
        )


def _is_gke(template: PodTemplate, classes: set[str]) -> bool:
    selector = template.node.at("spec", "nodeSelector").texts()
    return "mrdma.google.com" in classes or any(key.startswith(_GKE) for key in selector)


def _tolerates(template: PodTemplate) -> bool:
    for item in template.node.at("spec", "tolerations").items():
        if item.at("key").text() in ("", _TAINT) and item.at("effect").text() in ("", "NoSchedule"):
            return True
    return False


DRA008 = Rule(
    code="DRA008",
    severity=Severity.ERROR,
    title="pods that claim GPUs do not tolerate the taint of GPU nodes",
    why=(
        "GKE taints its GPU nodes, and adds the toleration only to pods that ask for the extended resource: with "
        "claims the pods stay pending"
    ),
    fix="add tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]",
    references=("llm-d guides/wide-ep, GKE overlay", "Kubernetes ExtendedResourceToleration"),
    needs=frozenset({"workloads"}),
    check=check_tolerations,
)

DRA_RULES: Iterable[Rule] = (DRA001, DRA002, DRA003, DRA004, DRA005, DRA006, DRA007, DRA008)
