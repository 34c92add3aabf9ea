"""LBL and PRT: names that must exist, and ports that the other side must have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Check, Hit, Outcome, Place, Rule, Severity, Unresolved
from llmdctl.manifest.typed import nearest
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import PodTemplate, View
from llmdctl.view.node import Node

GRPC_PORT = 9002
_EVERYWHERE = frozenset({"kube-root-ca.crt", "openshift-service-ca.crt"})
"""ConfigMaps that controllers put into every namespace."""


def _missing(view: View, kind: str, name: str, namespace: str, place: Place, what: str) -> Iterator[Outcome]:
    """A reference by name to an object that the input lacks, as the open world has it."""
    known = view.by_name(kind)
    if known.named(name, namespace):
        return
    present = known.names(namespace)
    whole = view.is_whole(namespace)
    title = f"{what} {kind} {name}, which does not exist" if whole else f"{what} {kind} {name}, not in the input"
    close = nearest(name, present)
    fix = f"did you mean {close}?" if close else "create it, or name one that exists"
    if whole:
        yield Hit(place, title, fix=fix)
    elif present:
        yield Hit(place, title, fix=fix, severity=Severity.WARNING)
    else:
        yield Unresolved(place, title)


def check_accounts(view: View) -> Iterator[Outcome]:
    """LBL010: pods run under a ServiceAccount that isn't there."""
    for template in view.templates:
        node = template.node.at("spec", "serviceAccountName")
        name = node.text()
        if name and name != "default":
            yield from _missing(
                view, "ServiceAccount", name, template.namespace, node.place, f"{template.lead}pods run as"
            )


def check_config_maps(view: View) -> Iterator[Outcome]:
    """LBL011: pods use a ConfigMap, or a key of one, that isn't there."""
    for template in view.templates:
        for node, name_field in _config_references(template):
            name = node.at(name_field).text()
            if not name or name in _EVERYWHERE or node.at("optional").truth() is True:
                continue
            data = view.config_map(template.namespace, name)
            place = node.at(name_field).place
            if data is None:
                yield from _missing(view, "ConfigMap", name, template.namespace, place, f"{template.lead}pods use")
                continue
            keys = [item.at("key") for item in node.at("items").items()]
            keys += [node.at("key")] if node.at("key").exists else []
            known = _keys(data)
            for key in keys:
                if key.text() and key.text() not in known:
                    close = nearest(key.text(), sorted(known))
                    yield Hit(
                        key.place, f"{template.lead}ConfigMap {name} has no key {key.text()}",
                        fix=f"did you mean {close}?" if close else f"it has {', '.join(sorted(known)) or 'none'}",
                    )  # fmt: skip


def _keys(data: Node) -> set[str]:
    """The keys of a ConfigMap, given its `data`."""
    binary = data.document.object.get("binaryData")
    return {*data.texts(), *(binary if isinstance(binary, dict) else ())}


def _config_references(template: PodTemplate) -> Iterator[tuple[Node, str]]:
    for volume in template.node.at("spec", "volumes").items():
        if volume.at("configMap").exists:
            yield volume.at("configMap"), "name"
        for source in volume.at("projected", "sources").items():
            if source.at("configMap").exists:
                yield source.at("configMap"), "name"
    for container in (*template.init_containers, *template.containers):
        for item in container.node.at("env").items():
            reference = item.at("valueFrom", "configMapKeyRef")
            if reference.exists:
                yield reference, "name"
        for item in container.node.at("envFrom").items():
            if item.at("configMapRef").exists:
                yield item.at("configMapRef"), "name"


def check_picker_file(view: View) -> Iterator[Outcome]:
    """LBL012: the endpoint picker reads a file that its ConfigMap doesn't hold."""
    for epp in view.epps:
        flag = epp.flags.get("config-file")
        folder, _, file = (flag.value or "" if flag else "").rpartition("/")
        if flag is None or not folder or epp.config_node is not None:
            continue
        for mount in epp.container.node.at("volumeMounts").items():
            if mount.at("mountPath").text().rstrip("/") != folder:
                continue
            for volume in epp.template.node.at("spec", "volumes").items():
                name = volume.at("configMap", "name").text()
                if (
                    volume.at("name").text() != mount.at("name").text()
                    or not name
                    or volume.at("configMap", "items").exists
                ):
                    continue
                data = view.config_map(epp.template.namespace, name)
                if data is not None:
                    known = sorted(_keys(data))
                    if file in known:
                        continue
                    close = nearest(file, known)
                    fix = f"did you mean {folder}/{close}?" if close else f"it has {', '.join(known) or 'none'}"
                    yield Hit(flag.place, f"the picker reads {file}, which ConfigMap {name} does not hold", fix=fix)


def check_volume_claims(view: View) -> Iterator[Outcome]:
    """LBL016: pods mount a PersistentVolumeClaim that isn't there."""
    for template in view.templates:
        for volume in template.node.at("spec", "volumes").items():
            node = volume.at("persistentVolumeClaim", "claimName")
            if node.text() and view.of_kind("PersistentVolumeClaim"):
                claims = "PersistentVolumeClaim"
                yield from _missing(
                    view, claims, node.text(), template.namespace, node.place, f"{template.lead}pods mount"
                )


def check_pool_names(view: View) -> Iterator[Outcome]:
    """LBL013: the endpoint picker serves a pool that isn't there."""
    for epp in view.epps:
        flag = epp.flags.get("pool-name")
        if flag is not None and flag.value:
            yield from _missing(view, "InferencePool", flag.value, epp.pool_namespace, flag.place, "the picker serves")


def check_picker_services(view: View) -> Iterator[Outcome]:
    """LBL014: a pool's endpoint picker is a Service that isn't there."""
    for pool in view.pools:
        field = "extensionRef" if pool.is_old else "endpointPickerRef"
        kind = pool.node.at("spec", field, "kind").text() or "Service"
        if pool.picker_name and kind == "Service":
            place = pool.at("spec", field, "name")
            yield from _missing(view, "Service", pool.picker_name, pool.namespace, place, "requests are picked by")


def check_picker_ports(view: View) -> Iterator[Outcome]:
    """PRT017: the pool asks its picker at a port that Service and picker don't have."""
    for pool in view.pools:
        node = pool.node.at("spec", "endpointPickerRef", "port", "number")
        port = node.integer()
        service = next(iter(view.services_by_name.named(pool.picker_name, pool.namespace)), None)
        if port is None or service is None or pool.is_old:
            continue
        ports = {item.at("port").integer(): item for item in service.node.at("spec", "ports").items()}
        if port not in ports:
            known = ", ".join(str(number) for number in ports if number is not None) or "none"
            yield Hit(
                node.place, f"the picker is asked at port {port}, which Service {service.name} does not have",
                evidence=(seen(f"its ports: {known}", service.at("spec", "ports")),), fix=f"use one of {known}",
            )  # fmt: skip
            continue
        target = ports[port].at("targetPort").integer() or port
        named = ports[port].at("targetPort").text()
        for epp in view.epps:
            listens = epp.flags.integer(GRPC_PORT, "grpc-port")
            fits = service.selector and epp.template in list(view.selected(service.selector, service.document))
            if named and fits:
                declared = epp.container.port_named(named)
                if declared is None or declared.number is None:
                    continue
                target = declared.number
            if fits and listens is not None and target != listens:
                yield Hit(
                    ports[port].place, f"Service {service.name} leads to port {target}, the picker is at {listens}",
                    evidence=(seen(f"--grpc-port is {listens}", epp.flags.place_of("grpc-port")),),
                    fix=f"use targetPort {listens}",
                )  # fmt: skip


def _rule(code: str, title: str, why: str, fix: str, check: Check, needs: str, *references: str) -> Rule:
    found = references or ("Kubernetes API",)
    return Rule(code, Severity.ERROR, title, why, fix, found, needs=frozenset({needs}), check=check)


REFERENCE_RULES: Iterable[Rule] = (
    _rule(
        "LBL010", "pods run as a ServiceAccount that does not exist",
        "no pod is made: the workload's controller gets `serviceaccount not found`",
        "create the ServiceAccount, or name another",
        check_accounts, "workloads",
    ),
    _rule(
        "LBL011", "pods use a ConfigMap or a key that does not exist", "the containers are never started",
        "create it, or correct the name", check_config_maps, "workloads",
    ),
    _rule(
        "LBL012", "the endpoint picker reads a file that its ConfigMap does not hold",
        "the picker cannot open its config, exits, and is restarted for ever",
        "use a key of the ConfigMap as file name",
        check_picker_file, "epps", "llm-d-router config/charts",
    ),
    _rule(
        "LBL013", "the endpoint picker serves a pool that does not exist",
        "it waits for the pool and is never ready: no request is routed", "make --pool-name the InferencePool's name",
        check_pool_names, "epps", "llm-d-router pkg/epp/server/options.go",
    ),
    _rule(
        "LBL014", "a pool's endpoint picker is a Service that does not exist",
        "the gateway asks nobody: requests fail, or go to any pod", "name the picker's Service in endpointPickerRef",
        check_picker_services, "pools", "gateway-api-inference-extension api/v1/inferencepool_types.go",
    ),
    _rule(
        "LBL016", "pods mount a PersistentVolumeClaim that does not exist", "the pods stay pending",
        "create the claim, or name another", check_volume_claims, "workloads",
    ),
    _rule(
        "PRT017", "the endpoint picker is asked at a port where it does not listen",
        "the gateway's calls are refused: requests fail, or go to any pod, prefill servers among them",
        "use the picker's --grpc-port (9002) in the Service and in endpointPickerRef", check_picker_ports, "pools",
        "llm-d-router config/charts",
    ),
)  # fmt: skip
