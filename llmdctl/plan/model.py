"""The Plan: a spec with every default resolved and every derived quantity computed once. Templates read only this.

Parts that are Kubernetes' own shapes (an env list, a probe) are plain data, so that a template prints them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any

from llmdctl.findings import Path
from llmdctl.manifest.record import record
from llmdctl.plan.merge import LIST_KEYS, list_step
from llmdctl.plan.origin import Ledger, Origin
from llmdctl.spec.model import Patch

Data = dict[str, Any]


@record
class StackPlan:
    """Identity and choices of the stack. `labels` go on every object."""

    name: str
    namespace: str
    guide: str
    preset: str | None
    release: str
    kube_version: str
    engine: str
    accelerator: str
    provider: str
    workload: str
    device_mode: str
    labels: Data
    annotations: Data


@record
class ModelPlan:
    """The model. `argument` is what the engine is told to load; `max_length` None leaves it to the model's config."""

    id: str
    label: str
    argument: str
    revision: str | None
    served_name: str
    source: str
    max_length: int | None
    cache_mount: str
    kv_heads: int | None
    mla: bool


@record
class ImagePlan:
    """An image reference and the component version that it carries."""

    name: str
    reference: str
    component: str
    version: str
    inferred: bool
    version_assumed: bool = False


@record
class ContainerPlan:
    """The engine's container. It has no probes where it serves nothing: when its process ends, so does it."""

    name: str
    image: ImagePlan
    command: list[str]
    args: list[str]
    env: list[Data]
    ports: list[Data]
    resources: Data
    volume_mounts: list[Data]
    startup_probe: Data | None
    liveness_probe: Data | None
    readiness_probe: Data | None
    lifecycle: Data | None
    security_context: Data


@record
class SidecarPlan:
    """The routing sidecar in front of a decode engine."""

    name: str
    image: ImagePlan
    args: list[str]
    env: list[Data]
    ports: list[Data]
    security_context: Data


@record
class PodPlan:
    """Pod settings of a role."""

    labels: Data
    annotations: Data
    service_account: str
    node_selector: Data | None
    tolerations: list[Data] | None
    affinity: Data | None
    priority_class_name: str | None
    runtime_class_name: str | None
    image_pull_secrets: list[Data] | None
    security_context: Data | None
    termination_grace_period_seconds: int | None
    host_network: bool | None
    host_ipc: bool | None
    host_pid: bool | None
    topology_spread_constraints: list[Data] | None
    resource_claims: list[Data] | None
    volumes: list[Data]


class Balancing(StrEnum):
    """Who spreads requests over data-parallel ranks; empty where there is only one."""

    NONE = ""
    PER_RANK = "perRank"
    HYBRID = "hybrid"
    PER_POD = "perPod"
    LEADER = "leader"


@record
class ParallelismPlan:
    """Ranks. `accelerators` are those of one pod; `world_size` counts ranks of one replica; `pods` its pods."""

    tensor: int
    pipeline: int
    data: int
    data_local: int
    expert: bool
    balancing: Balancing
    accelerators: int
    world_size: int
    pods: int


@record
class WorkerPlan:
    """A pod of a group beside its leader, where only the leader serves. Templates read it as they read a role."""

    container: ContainerPlan
    sidecar: None
    pod: PodPlan


@record
class RolePlan:
    """One role. `serving_port` is what the router talks to, `engine_port` where the engine listens.

    With a port a rank, these are the first of `serving_ports` and of the engine's. `metrics_ports` names those that
    are scraped.

    `openings` says for each capability that the engine's container adds why it needs it. `worker` is None where all
    pods of a group are alike.
    """

    name: str
    workload_name: str
    workload_labels: Data
    replicas: int
    selector: Data
    parallelism: ParallelismPlan
    serving_port: int
    serving_ports: list[int]
    engine_port: int
    metrics_ports: list[str]
    restart_policy: str | None
    group_identity: str | None
    rollout: Data
    openings: dict[str, str]
    container: ContainerPlan
    sidecar: SidecarPlan | None
    pod: PodPlan
    worker: WorkerPlan | None = None


@record
class ClaimPlan:
    """A ResourceClaimTemplate, or with `compute_domain` the ComputeDomain whose controller makes one."""

    name: str
    requests: list[Data]
    constraints: list[Data] | None
    compute_domain: Data | None = None


@record
class ServingAccountPlan:
    """The ServiceAccount of the serving pods, when llmdctl makes it."""

    name: str


@record
class PoolPlan:
    """The InferencePool."""

    name: str
    selector: Data
    ports: list[int]


@record
class ProxyPlan:
    """The standalone proxy: an Envoy container beside the endpoint picker."""

    config_name: str
    image: ImagePlan
    args: list[str]
    resources: Data
    port: int
    ready_port: int
    admin_port: int
    idle_timeout: str
    fail_open: bool


@record
class GatewayPlan:
    """The Gateway that the HTTPRoute attaches to."""

    name: str


@record
class OwnGatewayPlan:
    """A Gateway that the stack brings itself."""

    name: str
    class_name: str


@record
class PolicyPlan:
    """A policy of the Gateway's vendor that targets the pool."""

    api_version: str
    kind: str
    name: str
    spec: Data


@record
class RouterPlan:
    """The router: endpoint picker, its config, and the proxy or Gateway in front.

    `host` is the picker's name in the cluster's DNS; `route_timeouts` is None where the Gateway refuses them.
    """

    name: str
    host: str
    route_timeouts: Data | None
    labels: Data
    selector: Data
    mode: str
    replicas: int
    leader_election: Data | None
    failure_mode: str
    image: ImagePlan
    args: list[str]
    resources: Data
    security_context: Data
    config_file: str
    config: Data
    grpc_port: int
    health_port: int
    metrics_port: int
    liveness_service: str
    readiness_service: str
    service_ports: list[Data]
    image_pull_secrets: list[Data] | None
    proxy: ProxyPlan | None
    gateway: GatewayPlan | None
    own_gateway: OwnGatewayPlan | None
    policies: list[PolicyPlan]


@record
class BudgetPlan:
    """A PodDisruptionBudget: how many pods a drain may take away at once."""

    name: str
    labels: Data
    selector: Data
    max_unavailable: int


@record
class RenderServerPlan:
    """Servers that only tokenise prompts, beside engines that can't."""

    replicas: int
    image: ImagePlan
    command: list[str]
    args: list[str]
    env: list[Data]
    resources: Data
    readiness_probe: Data
    volumes: list[Data]
    volume_mounts: list[Data]


@record
class RenderPlan:
    """The Service that tokenises prompts for the router. `target_port` is where its pods listen."""

    name: str
    port: int
    target_port: int
    selector: Data
    labels: Data
    server: RenderServerPlan | None


@record
class MonitoringPlan:
    """Prometheus operator objects. `interval` is a duration."""

    interval: str
    path: str


@record
class EngineConfigPlan:
    """A ConfigMap with the file that the engine reads its settings from."""

    name: str
    file: str
    data: Data


@record
class ObjectPlan:
    """One object to render: the template and what it is rendered for."""

    template: str
    role: RolePlan | None = None
    claim: ClaimPlan | None = None
    budget: BudgetPlan | None = None
    policy: PolicyPlan | None = None


@record
class Plan:
    """Everything that templates read. `objects` says what to render, in order; `notices` what a user should know."""

    stack: StackPlan
    model: ModelPlan
    roles: tuple[RolePlan, ...]
    serving_account: ServingAccountPlan | None
    claims: tuple[ClaimPlan, ...]
    pool: PoolPlan
    budgets: tuple[BudgetPlan, ...]
    router: RouterPlan
    render: RenderPlan | None
    monitoring: MonitoringPlan | None
    engine_config: EngineConfigPlan | None
    objects: tuple[ObjectPlan, ...]
    patches: tuple[Patch, ...]
    spec: Data
    notices: tuple[str, ...]
    ledger: Ledger
    has_router: bool = True
    """False where nothing of the router and its pool is rendered."""

    def values(self) -> Iterator[tuple[Path, Any, Origin]]:
        """Every value of the plan with its path and origin: first the resolved spec, then what was derived."""
        for path, value in _leaves(("metadata",), self.spec.get("metadata", {})):
            yield path, value, self.ledger.of(path)
        for path, value in _leaves(("spec",), self.spec["spec"]):
            yield path, value, self.ledger.of(path)
        derived: dict[str, Any] = {
            "stack": self.stack,
            "model": self.model,
            "roles": {role.name: role for role in self.roles},
            "servingAccount": self.serving_account,
            "claims": {claim.name: claim for claim in self.claims},
            "pool": self.pool if self.has_router else None,
            "budgets": {budget.name: budget for budget in self.budgets},
            "router": self.router if self.has_router else None,
            "render": self.render,
            "monitoring": self.monitoring,
            "engineConfig": self.engine_config,
        }
        for name, part in derived.items():
            for path, value in _leaves((name,), part):
                yield path, value, self.ledger.of(path)


def camel(name: str) -> str:
    """A Python name as it is written in plan paths: camelCase."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _leaves(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _leaves((*path, camel(field.name)), getattr(value, field.name))
    elif isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves((*path, str(key)), item)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        field_name = str(path[-1])
        for index, item in enumerate(value):
            keyed = field_name in LIST_KEYS and list_step(field_name, item)
            yield from _leaves((*path, keyed or index), item)
    elif path[-1] == "args" and value:
        for item in value:
            yield (*path, item.partition("=")[0]), item
    elif value is not None:
        yield path, value
