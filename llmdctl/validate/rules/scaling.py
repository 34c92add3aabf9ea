"""SCL: autoscalers, their targets, and who else sets the replicas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from llmdctl.findings import Hit, Outcome, Rule, Severity, Unresolved
from llmdctl.manifest.document import Document
from llmdctl.manifest.typed import nearest
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import Container, PodTemplate, View, Workload
from llmdctl.view.names import same_namespace
from llmdctl.view.node import Node
from llmdctl.view.scaling import Scaler

_SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "LeaderWorkerSet")
_FIXED = ("DaemonSet", "Job", "CronJob", "Pod")
# How many names are compared with one that is missing.
_NEAR = 200
_DS, _ROLE_SCALER = "DisaggregatedSet", "DisaggregatedSetRoleScaler"


def _meets(view: View, scaler: Scaler, document: Document) -> bool:
    return same_namespace(scaler.namespace, document.ref.namespace) and view.worlds.meet(scaler.document, document)


def _workload(view: View, scaler: Scaler) -> Workload | None:
    """The workload, or the role of a DisaggregatedSet, that a scaler sets the replicas of."""
    for item in view.workloads_named(scaler.name):
        if item.kind == scaler.kind and scaler.kind != _DS and _meets(view, scaler, item.document):
            return item
    if scaler.kind == _ROLE_SCALER:
        return next((item for item in view.roles_named(scaler.name) if _meets(view, scaler, item.document)), None)
    return None


def check_targets(view: View) -> Iterator[Outcome]:
    """SCL001: a scaler's target can't be scaled, or is not there."""
    for scaler in view.scalers:
        place = scaler.target.at("name").place if scaler.name else scaler.target.place
        if scaler.kind == _DS:
            yield Hit(
                scaler.target.at("kind").place,
                f"the target is DisaggregatedSet/{scaler.name}, which has no scale",
                fix=f"set scaling.mode: External on the role, and target {_ROLE_SCALER} {scaler.name}-<role>",
            )
        elif scaler.kind in _FIXED:
            yield Hit(scaler.target.at("kind").place, f"the target is a {scaler.kind}, which has no scale")
        elif scaler.kind in (*_SCALABLE, _ROLE_SCALER) and scaler.name:
            found = _workload(view, scaler)
            if found is None:
                yield from _absent(view, scaler)
            elif scaler.kind == _ROLE_SCALER and found.node.at("scaling", "mode").text() != "External":
                yield Hit(
                    place,
                    f"{found.title} is not scaled from outside: no {_ROLE_SCALER} {scaler.name} is made",
                    fix="set scaling: {mode: External} on the role",
                    evidence=(seen(f"the role is {found.role_name}", found.place),),
                )


def _absent(view: View, scaler: Scaler) -> Iterator[Outcome]:
    place = scaler.target.at("name").place
    title = f"the target {scaler.kind}/{scaler.name} is not in the input"
    kind = _DS if scaler.kind == _ROLE_SCALER else scaler.kind
    fitting = (item for item in view.workloads_of(kind, scaler.namespace) if _meets(view, scaler, item.document))
    names = [f"{item.name}-{item.role_name}" if item.role_name else item.name for item in islice(fitting, _NEAR)]
    if not view.complete and not names:
        yield Unresolved(place, title)
        return
    close = nearest(scaler.name, names)
    yield Hit(
        place,
        title,
        fix=f"use {close!r}" if close else "name a workload of the namespace",
        severity=Severity.ERROR if view.complete else Severity.WARNING,
    )


SCL001 = Rule(
    code="SCL001",
    severity=Severity.ERROR,
    title="an autoscaler's target does not exist or can not be scaled",
    why="the autoscaler reports FailedGetScale and changes nothing; replicas stay as they are under any load",
    fix="target a Deployment, StatefulSet, LeaderWorkerSet, or the role scaler of a DisaggregatedSet",
    references=("lws api/disaggregatedset", "Kubernetes HorizontalPodAutoscaler"),
    needs=frozenset({"scalers"}),
    check=check_targets,
)


def check_rivals(view: View) -> Iterator[Outcome]:
    """SCL002: two scalers set the replicas of one target."""
    by_target: dict[tuple[str, str], list[Scaler]] = defaultdict(list)
    for scaler in view.scalers:
        if scaler.name:
            by_target[scaler.kind, scaler.name].append(scaler)
    for scalers in by_target.values():
        for index, scaler in enumerate(scalers[:50]):
            first = next((item for item in scalers[:index] if _meets(view, scaler, item.document)), None)
            if first is not None:
                yield Hit(
                    scaler.target.place,
                    f"{first.ref} scales {scaler.kind}/{scaler.name} too",
                    evidence=(seen(f"{first.ref} has the same target", first.target.place),),
                )


SCL002 = Rule(
    code="SCL002",
    severity=Severity.ERROR,
    title="two autoscalers scale the same target",
    why=(
        "each sets the replicas to its own number, in turns: pods are started and stopped without end. A ScaledObject "
        "makes a HorizontalPodAutoscaler of its own"
    ),
    fix="keep one; a ScaledObject may have several triggers, and takes the largest number that they ask for",
    references=("KEDA webhook", "llm-d docs, workload autoscaling"),
    needs=frozenset({"scalers"}),
    check=check_rivals,
)


def check_external(view: View) -> Iterator[Outcome]:
    """SCL003: a role that waits for an autoscaler, and there is none."""
    targets = {(scaler.kind, scaler.name) for scaler in view.scalers}
    for workload in view.workloads:
        mode = workload.node.at("scaling", "mode")
        if not workload.role_name or mode.text() != "External":
            continue
        replicas = workload.node.at("spec", "replicas")
        if (replicas.integer() or 0) > 1:
            yield Hit(
                replicas.place,
                f"roles[{workload.role_name}] states {replicas.value} replicas and is scaled from outside",
                why="the number is ignored: the role starts with one group",
                fix="leave replicas out, and give the autoscaler a minimum",
                severity=Severity.INFO,
            )
        name = f"{workload.name}-{workload.role_name}"
        if (_ROLE_SCALER, name) in targets:
            continue
        title = f"roles[{workload.role_name}] is scaled from outside, and nothing scales {_ROLE_SCALER} {name}"
        yield Hit(mode.place, title) if view.complete else Unresolved(mode.place, title)


SCL003 = Rule(
    code="SCL003",
    severity=Severity.WARNING,
    title="a role that is scaled from outside has no autoscaler, or states replicas",
    why="the role starts with one group and stays there: its own replicas are ignored",
    fix="add a HorizontalPodAutoscaler or ScaledObject for the role scaler, or remove scaling.mode",
    references=("lws api/disaggregatedset", "lws docs, external scaling"),
    needs=frozenset({"workloads"}),
    check=check_external,
)


def check_requests(view: View) -> Iterator[Outcome]:
    """SCL004: a share of a request that the containers don't state."""
    for scaler in view.scalers:
        workload = _workload(view, scaler)
        if workload is None:
            continue
        for resource, node in _shares(scaler):
            for template in workload.templates:
                lacking = next((item for item in template.running if not _asks(template, item, resource)), None)
                if lacking is not None:
                    yield Hit(
                        node.place,
                        f"replicas follow the {resource} utilization of {workload.title}, whose container "
                        f"{lacking.name} requests no {resource}",
                        evidence=(seen(f"{lacking.name} has no request of {resource}", lacking.place),),
                        fix=f"give every container of the pod a request of {resource}, or scale on another metric",
                    )
                    break


def _shares(scaler: Scaler) -> Iterator[tuple[str, Node]]:
    for item in scaler.node.at("spec", "metrics").items():
        name = item.at("resource", "name").text()
        if item.at("resource", "target", "type").text() == "Utilization" and name in ("cpu", "memory"):
            yield name, item
    for item in scaler.node.at("spec", "triggers").items():
        name = item.at("type").text()
        share = name in ("cpu", "memory") and item.at("metricType").text() in ("", "Utilization")
        if share and not item.at("metadata", "containerName").exists:
            yield name, item


def _asks(template: PodTemplate, container: Container, resource: str) -> bool:
    resources = container.node.at("resources")
    pod = template.node.at("spec", "resources", "requests").key(resource)
    return pod.exists or any(resources.at(part).key(resource).exists for part in ("requests", "limits"))


SCL004 = Rule(
    code="SCL004",
    severity=Severity.WARNING,
    title="an autoscaler measures a share of a request that is not there",
    why="utilization is use over request: with one container that requests nothing no share is computed",
    fix="state the request in every container, unless a LimitRange of the namespace does",
    references=("Kubernetes HorizontalPodAutoscaler: resource metrics",),
    needs=frozenset({"scalers"}),
    check=check_requests,
)


def check_owner(view: View) -> Iterator[Outcome]:
    """SCL005: replicas that a scaler sets stand in the manifest too."""
    for scaler in view.scalers:
        workload = _workload(view, scaler)
        node = workload.node.at("spec", "replicas") if workload else None
        # Of a role that is scaled from outside, SCL003 tells it: there the number is ignored.
        if workload is None or node is None or not node.exists or workload.role_name:
            continue
        yield Hit(
            node.place,
            f"{workload.title} states {node.value} replicas, which {scaler.ref} sets",
            evidence=(seen(f"{scaler.ref} scales it", scaler.target.place),),
        )


SCL005 = Rule(
    code="SCL005",
    severity=Severity.INFO,
    title="a manifest states replicas that an autoscaler sets",
    why="every apply of the manifest puts the number back, and stops or starts pods, until the autoscaler acts again",
    fix="leave spec.replicas out",
    references=("Kubernetes: migrating a Deployment to horizontal autoscaling",),
    needs=frozenset({"scalers"}),
    check=check_owner,
)

SCL_RULES: Iterable[Rule] = (SCL001, SCL002, SCL003, SCL004, SCL005)
