"""Deriving the plan of one role."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from llmdctl.catalog.model import Engine, GroupFlags, ModelEntry
from llmdctl.findings import Path, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.typed import dump
from llmdctl.plan.arguments import derived_args, engine_args
from llmdctl.plan.contributions import RoleAdds
from llmdctl.plan.hosts import REVISION_ENV, group_args
from llmdctl.plan.images import ImageResolver
from llmdctl.plan.kvevents import Events, plan_events
from llmdctl.plan.labels import INSTANCE, QUEUE_LABEL, ROLE_LABEL, SERVING_LABEL, VERSION_ANNOTATION
from llmdctl.plan.model import (
    ContainerPlan,
    ImagePlan,
    ModelPlan,
    ParallelismPlan,
    PodPlan,
    RolePlan,
    SidecarPlan,
)
from llmdctl.plan.names import check_names
from llmdctl.plan.origin import Ledger, formula
from llmdctl.plan.parallelism import plan_parallelism
from llmdctl.plan.pods import (
    CACHE_MOUNT,
    container_security,
    network_annotation,
    plan_claims,
    plan_volumes,
    pod_security,
    scheduling,
)
from llmdctl.plan.ranks import SUPERVISOR_PORT_NAME, container_ports, launcher, rank_ports, supervisor_port
from llmdctl.plan.resolve import Resolved
from llmdctl.plan.resources import plan_resources
from llmdctl.plan.transfer import POD_IP, Transfer, check_accelerator, check_router, plan_transfer
from llmdctl.plan.workers import plan_worker, versions
from llmdctl.router.sidecar import sidecar_args
from llmdctl.spec.model import Model, ModelCache, Role

ENGINE_PORT_NAME = "modelserver"
SIDECAR_NAME = "routing-proxy"


@frozen
class RoleContext:
    """What the derivation of a role needs besides the role itself."""

    resolved: Resolved
    images: ImageResolver
    model: ModelPlan
    stack_name: str
    labels: dict[str, Any]
    service_account: str
    namespace: str
    has_slices: bool
    """Names of a DisaggregatedSet's children hold the number of their slice."""
    has_group_identity: bool
    gated: bool
    foreign_resources: Mapping[str, str]
    """Extended resources of the catalog's other accelerators, with the name of one that has it."""

    @property
    def ledger(self) -> Ledger:
        """The ledger of the plan."""
        return self.resolved.ledger


def plan_role(name: str, adds: RoleAdds, context: RoleContext) -> RolePlan:
    """The plan of one role. Raises UserError for sizes, names or flags that cannot work."""
    resolved, ledger = context.resolved, context.ledger
    spec, engine = resolved.stack.spec, resolved.selection.engine
    path: Path = ("roles", name)
    role = getattr(spec.roles, name, None) or Role()
    replicas = 1 if role.replicas is None else role.replicas
    parallelism = plan_parallelism(
        name, role, resolved.selection.accelerator, resolved.selection.model, ledger, (*path, "parallelism")
    )
    queued = bool(spec.queue and spec.queue.kueue)
    check_names(str(spec.workload), context.stack_name, name, replicas, parallelism.pods, queued=queued)
    _check_workload(name, str(spec.workload), parallelism)
    # Without prefill there is nobody whom a sidecar could ask.
    behind_sidecar = name == "decode" and spec.kv_transfer is not None and "prefill" in resolved.selection.roles
    engine_port = engine.behind_sidecar_port if behind_sidecar else engine.serving_port
    ledger.note(
        (*path, "enginePort"),
        formula(
            f"behind the sidecar, which takes {engine.serving_port}"
            if behind_sidecar
            else "the engine serves by itself"
        ),
    )
    image_name = adds.data.get("image") or f"{engine.name}-{resolved.selection.accelerator.family}"
    image = context.images.resolve(image_name, ("roles", name, "container", "image"))
    if spec.kv_transfer:
        check_accelerator(engine, str(spec.kv_transfer.connector), resolved.selection.accelerator)
    transfer = (
        plan_transfer(
            engine, image.version, name, spec.kv_transfer, adds.data.get("kvTransfer", {}),
            port=engine_port, tensor=parallelism.tensor,
        )
        if spec.kv_transfer
        else None
    )  # fmt: skip
    settings = resolved.selection.guide.kv_events
    events = (
        plan_events(settings, engine, image.version, context.model, parallelism, engine.serving_port)
        if settings
        else None
    )
    container = _container(name, role, adds, context, parallelism, engine_port, transfer, image, events)
    sidecar = _sidecar(name, context, engine_port, transfer, parallelism, adds) if behind_sidecar and transfer else None
    pod = _pod(name, role, adds, context, parallelism, container.image, sidecar, replicas)
    _note_simple(ledger, path)
    return RolePlan(
        name=name,
        workload_name=f"{context.stack_name}-{name}",
        workload_labels=_workload_labels(name, context),
        replicas=replicas,
        selector={INSTANCE: context.stack_name, ROLE_LABEL: name},
        parallelism=parallelism,
        serving_port=engine.serving_port,
        serving_ports=rank_ports(engine.serving_port, parallelism),
        engine_port=engine_port,
        metrics_ports=_metrics_ports(engine_port, parallelism),
        # Half a group hangs: its ranks wait for the ones that are gone.
        restart_policy="RecreateGroupOnPodRestart" if parallelism.pods > 1 else None,
        group_identity=_group_identity(context, parallelism),
        rollout=_rollout(name, parallelism),
        openings=dict(adds.capabilities),
        container=container,
        sidecar=sidecar,
        pod=pod,
        worker=plan_worker(engine, parallelism, container, pod, ledger, path),
    )


def _note_simple(ledger: Ledger, path: Path) -> None:
    ledger.note(path, formula("derived for the role"))
    ledger.note((*path, "workloadName"), formula("<stack>-<role>"))
    ledger.note((*path, "selector"), formula("instance and role only: selectors are immutable, the rest may change"))
    ledger.note((*path, "servingPort"), formula("what the router talks to: the sidecar's port, or the engine's own"))
    ledger.note((*path, "replicas"), formula("spec.roles.*.replicas, 1 where none is given"))
    ledger.note(
        (*path, "rollout"), formula("decode grows before it gives way; prefill and groups of pods give way first")
    )
    ledger.note((*path, "groupIdentity"), formula("Hash from LeaderWorkerSet 0.11 on; Kueue needs Ordinal"))


def _workload_labels(name: str, context: RoleContext) -> dict[str, Any]:
    queue = context.resolved.stack.spec.queue
    labels = {**context.labels, ROLE_LABEL: name}
    if queue and queue.kueue:
        labels[QUEUE_LABEL] = queue.kueue.local_queue
    return labels


def _group_identity(context: RoleContext, parallelism: ParallelismPlan) -> str | None:
    if not context.has_group_identity:
        return None
    queue = context.resolved.stack.spec.queue
    # Lists of host names hold the groups' numbers.
    listed = parallelism.data > 1 and _group_flags(context) is not None
    return "Ordinal" if listed or (queue and queue.kueue) else "Hash"


def _group_flags(context: RoleContext) -> GroupFlags | None:
    transfer = context.resolved.stack.spec.kv_transfer
    known = context.resolved.selection.engine.connectors.get(str(transfer.connector)) if transfer else None
    return known.group_flags if known else None


def _rollout(name: str, parallelism: ParallelismPlan) -> dict[str, Any]:
    # A spare group of several nodes is hardly ever free, and a rollout that waits for one never ends.
    gives_way = name == "prefill" or parallelism.pods > 1
    return {"maxSurge": 0, "maxUnavailable": 1} if gives_way else {"maxSurge": 1, "maxUnavailable": 0}


def _check_workload(name: str, workload: str, parallelism: ParallelismPlan) -> None:
    if parallelism.pods > 1 and workload == "deployment":
        raise UserError(
            f"spec.roles.{name}.parallelism: {parallelism.data} ranks take {parallelism.pods} pods that start together",
            why="a Deployment's pods don't know of each other",
            fix="set spec.workload to disaggregatedSet or leaderWorkerSet, or make data equal dataLocal",
            about=["spec.workload", f"spec.roles.{name}.parallelism.data"],
        )


def _metrics_ports(engine_port: int, parallelism: ParallelismPlan) -> list[str]:
    names = [port["name"] for port in container_ports(ENGINE_PORT_NAME, engine_port, parallelism)]
    return names[: len(rank_ports(engine_port, parallelism))]


def _container(
    name: str,
    role: Role,
    adds: RoleAdds,
    context: RoleContext,
    parallelism: ParallelismPlan,
    port: int,
    transfer: Transfer | None,
    image: ImagePlan,
    events: Events | None,
) -> ContainerPlan:
    selection, ledger = context.resolved.selection, context.ledger
    engine, path = selection.engine, ("roles", name, "container")
    derived = derived_args(engine, name, context.model, parallelism, port, transfer)
    derived.update(events.args if events else {})
    args = engine_args(
        engine, derived, adds.data.get("engineArgs", {}), role.engine_args or {}, context.model, image, name, ledger,
        (*path, "args"),
    )  # fmt: skip
    cache = context.resolved.stack.spec.model.cache if context.resolved.stack.spec.model else None
    _, mounts = plan_volumes(engine, context.stack_name, adds, cache or ModelCache(), ledger, ("roles", name))
    _, claims, provides = plan_claims(context.stack_name, adds, parallelism, ledger, ("roles", name))
    resources = plan_resources(
        adds, role.resources, None if provides else selection.accelerator.resource or None,
        selection.accelerator.resource, context.foreign_resources,
        parallelism, claims, ledger,
        (*path, "resources"),
    )  # fmt: skip
    ledger.note(path, formula(f"engine {engine.name} of the catalog"))
    probes = adds.data.get("probes", {})
    supervised = supervisor_port(port, parallelism) is not None
    own = engine.rank_probes if supervised and engine.rank_probes else engine.probes
    probed = SUPERVISOR_PORT_NAME if supervised else ENGINE_PORT_NAME
    loaded = selection.model if engine.loads_weights else None
    return ContainerPlan(
        name=ENGINE_PORT_NAME,
        image=image,
        command=launcher(engine.command, parallelism),
        args=args,
        env=_env(role, adds, context, transfer, path, events),
        ports=[
            *container_ports(ENGINE_PORT_NAME, port, parallelism),
            # The side channels of ranks follow their number in the whole group, so no one port can be declared.
            *(transfer.ports if transfer and not parallelism.balancing else []),
            *(events.ports if events else []),
        ],
        resources=resources,
        volume_mounts=mounts,
        startup_probe=_patient(_probe(own.startup, probes.get("startup"), probed), loaded),
        liveness_probe=_probe(own.liveness, probes.get("liveness"), probed),
        readiness_probe=_probe(own.readiness, probes.get("readiness"), probed),
        lifecycle=_lifecycle(adds),
        security_context=container_security(adds, non_root=False, ledger=ledger, path=(*path, "securityContext")),
    )


def _probe(base: dict[str, Any], added: dict[str, Any] | None, port: str) -> dict[str, Any]:
    probe = {**base, **(added or {})}
    if "httpGet" in probe:
        probe["httpGet"] = {**probe["httpGet"], "port": port}
    return probe


LOAD_SECONDS_PER_GIB = 7
"""Weights that come over the network at 150 MiB a second."""

WARM_UP_SECONDS = 600
"""Compiling kernels and capturing graphs, after the weights are there."""


def _patient(probe: dict[str, Any], model: ModelEntry | None) -> dict[str, Any]:
    """A startup probe that waits at least as long as the model's weights take to arrive."""
    if model is None or not model.facts.weights_gib:
        return probe
    needed = WARM_UP_SECONDS + LOAD_SECONDS_PER_GIB * model.facts.weights_gib
    waits = max(needed - probe.get("initialDelaySeconds", 0), 0)
    threshold = max(probe.get("failureThreshold", 3), math.ceil(waits / probe.get("periodSeconds", 10)))
    return {**probe, "failureThreshold": threshold}


def _lifecycle(adds: RoleAdds) -> dict[str, Any] | None:
    seconds = adds.data.get("preStopSleepSeconds")
    return {"preStop": {"sleep": {"seconds": seconds}}} if seconds else None


def _env(
    role: Role,
    adds: RoleAdds,
    context: RoleContext,
    transfer: Transfer | None,
    path: Path,
    events: Events | None,
) -> list[dict[str, Any]]:
    ledger = context.ledger
    spec = context.resolved.stack.spec
    base: list[dict[str, Any]] = [{"name": "HF_HOME", "value": CACHE_MOUNT}]
    if context.model.source == "local":
        base.append({"name": "HF_HUB_OFFLINE", "value": "1"})
    elif spec.model and spec.model.token_secret:
        secret = {"name": spec.model.token_secret.name, "key": spec.model.token_secret.key}
        reference = secret if context.gated else {**secret, "optional": True}
        base.append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}})
    merged: dict[str, dict[str, Any]] = {}
    given: tuple[tuple[list[dict[str, Any]], str | Path], ...] = (
        (base, "where the model comes from and is kept"),
        (_keep_alive(context.resolved.selection.engine), "longer than what stands in front keeps idle connections"),
        (transfer.env if transfer else [], "KV transfer"),
        (events.env if events else [], "the topic of KV events"),
        (adds.data.get("env", []), path[:2]),
        ([dump(item) for item in role.env or []], ("spec", *path[:2])),
    )
    for items, origin in given:
        for item in items:
            merged[item["name"]] = item
            known = formula(origin) if isinstance(origin, str) else ledger.of((*origin, "env", item["name"]))
            ledger.note((*path, "env", item["name"]), known)
    ledger.note(
        (*path, "env"),
        formula("model access, idle connections, KV transfer, the catalog's contributions, spec.roles.*.env"),
    )
    return list(merged.values())


def _keep_alive(engine: Engine) -> list[dict[str, Any]]:
    wanted = engine.keep_alive
    return [{"name": wanted.variable, "value": str(wanted.seconds)}] if wanted and wanted.variable else []


def _sidecar(
    name: str, context: RoleContext, engine_port: int, transfer: Transfer, parallelism: ParallelismPlan, adds: RoleAdds
) -> SidecarPlan:
    engine = context.resolved.selection.engine
    path = ("roles", name, "sidecar")
    image = context.images.resolve("routing-sidecar", (*path, "image"))
    transfer_spec = context.resolved.stack.spec.kv_transfer
    check_router(engine, str(transfer_spec.connector if transfer_spec else ""), image.version)
    context.ledger.note(path, formula("decode pods of a P/D stack: the sidecar asks prefill first, then this engine"))
    context.ledger.note(
        (*path, "args"), formula("ports of the role, the connector's protocol, flag names of the version")
    )
    ports = rank_ports(engine.serving_port, parallelism)
    groups, workload = _group_flags(context), str(context.resolved.stack.spec.workload)
    group: dict[str, Any] = {}
    if groups is not None and parallelism.data > 1:
        sliced = context.has_slices
        group = group_args(groups, context.stack_name, context.namespace, workload, parallelism, sliced=sliced)
    args = sidecar_args(
        image.version,
        port=engine.serving_port,
        model_server_port=engine_port,
        kv_connector=transfer.protocol,
        zap_log_level="1",
        secure_serving=False,
        data_parallel_size=len(ports),
        extra={**transfer.sidecar_args, **group, **adds.data.get("sidecarArgs", {})},
    )
    return SidecarPlan(
        name=SIDECAR_NAME,
        image=image,
        args=args,
        env=[
            {"name": "POD_IP", "valueFrom": POD_IP},
            *([REVISION_ENV] if group and workload == "disaggregatedSet" else []),
            *transfer.sidecar_env,
        ],
        ports=[
            {"name": "sidecar" if len(ports) == 1 else f"sidecar{index}", "containerPort": port, "protocol": "TCP"}
            for index, port in enumerate(ports)
        ],
        security_context={
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    )


def _spread(name: str, context: RoleContext, replicas: int) -> list[dict[str, Any]] | None:
    """Replicas on different nodes where that is possible, so that a node takes only one of them with it."""
    context.ledger.note(
        ("roles", name, "pod", "topologySpreadConstraints"), formula("more than one replica: over nodes, if possible")
    )
    if replicas < 2:
        return None
    selector = {"matchLabels": {INSTANCE: context.stack_name, ROLE_LABEL: name}}
    return [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": selector,
        }
    ]


def _pod(
    name: str,
    role: Role,
    adds: RoleAdds,
    context: RoleContext,
    parallelism: ParallelismPlan,
    image: ImagePlan,
    sidecar: SidecarPlan | None,
    replicas: int,
) -> PodPlan:
    spec, ledger = context.resolved.stack.spec, context.ledger
    path = ("roles", name, "pod")
    settings = scheduling(adds, dump(spec.pod) if spec.pod else {}, dump(role.pod) if role.pod else {}, ledger, path)
    model = context.resolved.stack.spec.model
    volumes, _ = plan_volumes(
        context.resolved.selection.engine,
        context.stack_name,
        adds,
        (model.cache if model else None) or ModelCache(),
        ledger,
        ("roles", name),
    )
    claims, _, _ = plan_claims(context.stack_name, adds, parallelism, ledger, ("roles", name))
    host = adds.data.get("hostAccess", {})
    ledger.note((*path, "labels"), formula("labels of the stack and the role, then the user's"))
    ledger.note((*path, "annotations"), formula("component versions for validate, then the user's"))
    return PodPlan(
        labels={**settings.get("labels", {}), **context.labels, ROLE_LABEL: name, SERVING_LABEL: "true"},
        annotations={
            VERSION_ANNOTATION: versions(image, sidecar),
            **network_annotation(adds, parallelism),
            **settings.get("annotations", {}),
        },
        service_account=settings.get("serviceAccount") or context.service_account,
        node_selector=settings.get("nodeSelector"),
        tolerations=settings.get("tolerations"),
        affinity=settings.get("affinity"),
        priority_class_name=settings.get("priorityClassName"),
        runtime_class_name=settings.get("runtimeClassName"),
        image_pull_secrets=settings.get("imagePullSecrets"),
        security_context=pod_security(adds, model or Model(), ledger, (*path, "securityContext")),
        termination_grace_period_seconds=adds.data.get("terminationGracePeriodSeconds"),
        host_network=True if host.get("hostNetwork") else None,
        host_ipc=True if host.get("hostIpc") else None,
        host_pid=True if host.get("hostPid") else None,
        topology_spread_constraints=_spread(name, context, replicas),
        resource_claims=claims or None,
        volumes=volumes,
    )
