"""Typed catalog entries (catalog.llmdctl.io/v1alpha1): what a vendor adds is one YAML file of one of these kinds."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from llmdctl.manifest.record import record
from llmdctl.manifest.typed import doc
from llmdctl.spec.model import SpecFields

API_VERSION = "catalog.llmdctl.io/v1alpha1"


@record
class When:
    """A condition: each field given must hold (equality, or membership in a list). Nothing given always holds."""

    guide: str | list[str] | None = field(default=None, metadata=doc("Guide."))
    role: str | list[str] | None = field(default=None, metadata=doc("Role."))
    engine: str | list[str] | None = field(default=None, metadata=doc("Engine."))
    model: str | list[str] | None = field(default=None, metadata=doc("Model id."))
    accelerator_family: str | list[str] | None = field(default=None, metadata=doc("Family of the accelerator."))
    accelerator: str | list[str] | None = field(default=None, metadata=doc("Accelerator."))
    provider: str | list[str] | None = field(default=None, metadata=doc("Provider, or one that it extends."))
    transport: str | list[str] | None = field(default=None, metadata=doc("KV connector; absent when aggregated."))
    devices: str | list[str] | None = field(default=None, metadata=doc("Device mode."))
    release: str | list[str] | None = field(default=None, metadata=doc("Release set."))
    workload: str | list[str] | None = field(default=None, metadata=doc("Kind of workload."))
    router: str | list[str] | None = field(default=None, metadata=doc("Router mode."))
    gateway: str | list[str] | None = field(
        default=None,
        metadata=doc(
            "In gateway mode the GatewayClass of the stack's own Gateway, or `existing` for a Gateway that is there."
        ),
    )


@record
class Scaled:
    """A quantity that grows with the role."""

    per_accelerator: int | None = field(default=None, metadata=doc("Times the accelerators of a pod."))
    per_rank: int | None = field(default=None, metadata=doc("Times the data-parallel ranks of a pod."))
    per_role: int | None = field(default=None, metadata=doc("Once a pod of the role."))


@record
class AddedResources:
    """Container resources; requests default to the limits for extended resources, as the API server demands."""

    requests: dict[str, str | int | float | Scaled | None] | None = field(
        default=None, metadata=doc("Requests.", examples=[{"cpu": 8}])
    )
    limits: dict[str, str | int | float | Scaled | None] | None = field(
        default=None, metadata=doc("Limits.", examples=[{"rdma/ib": {"perRole": 1}}])
    )


@record
class Capability:
    """A Linux capability that the engine's container needs."""

    name: str = field(metadata=doc("Name without CAP_.", examples=["IPC_LOCK"]))
    why: str = field(metadata=doc("What fails without it."))


@record
class AddedSecurity:
    """Security settings of the engine's container and pod."""

    capabilities: list[Capability] | None = field(default=None, metadata=doc("Capabilities added to none."))
    privileged: str | None = field(default=None, metadata=doc("Run privileged; the text says why."))
    run_as_non_root: bool | None = field(default=None, metadata=doc("Refuse to run as root."))
    run_as_user: int | None = field(default=None, metadata=doc("User id."))
    seccomp: str | None = field(default=None, metadata=doc("Type of the seccomp profile, when not RuntimeDefault."))
    fs_group: int | None = field(default=None, metadata=doc("Group that owns volumes."))
    ids_from_cluster: bool | None = field(
        default=None, metadata=doc("The cluster chooses user and group ids, and refuses pods that name others.")
    )
    supplemental_groups: list[int] | None = field(default=None, metadata=doc("Further groups of the process."))


@record
class ComputeDomainClaim:
    """A channel of an NVIDIA ComputeDomain: its controller makes the claim template, so none is rendered."""

    num_nodes: int = field(default=0, metadata=doc("Nodes of the domain; 0 lets it grow."))
    allocation_mode: Literal["Single", "All"] = field(default="Single", metadata=doc("Channels of a pod."))


@record
class Claim:
    """A DRA claim template and how many claims of it a pod makes."""

    name: str = field(metadata=doc("Name of the claims in the pod; the template is `<stack>-<name>`."))
    count: int | Scaled = field(metadata=doc("Claims of one pod."))
    requests: list[dict[str, Any]] = field(
        default_factory=list,
        metadata=doc(
            "Device requests (resource.k8s.io/v1).",
            examples=[[{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]],
        ),
    )
    compute_domain: ComputeDomainClaim | None = field(
        default=None, metadata=doc("Claim a channel of a ComputeDomain instead of devices.")
    )
    constraints: list[dict[str, Any]] | None = field(default=None, metadata=doc("Constraints over the requests."))
    provides_accelerator: bool = field(
        default=False, metadata=doc("The claim brings the accelerator itself, so no extended resource is asked for.")
    )


@record
class HostAccess:
    """Access to the node that a transport needs."""

    host_network: str | None = field(default=None, metadata=doc("Use the node's network; the text says why."))
    host_ipc: str | None = field(default=None, metadata=doc("Use the node's IPC namespace; the text says why."))
    host_pid: str | None = field(default=None, metadata=doc("Use the node's PID namespace; the text says why."))


@record
class AddedNetworks:
    """Further network interfaces of a pod, by Multus' annotation."""

    name: str = field(metadata=doc("NetworkAttachmentDefinition."))
    namespace: str = field(metadata=doc("Its namespace."))
    count: int | Scaled = field(metadata=doc("Interfaces of one pod."))


@record
class AddedProbes:
    """Probe settings of the engine's container, over the engine's own."""

    startup: dict[str, Any] | None = field(default=None, metadata=doc("Startup probe."))
    liveness: dict[str, Any] | None = field(default=None, metadata=doc("Liveness probe."))
    readiness: dict[str, Any] | None = field(default=None, metadata=doc("Readiness probe."))


@record
class AddedKVTransfer:
    """Settings of the KV connector."""

    backends: list[str] | None = field(default=None, metadata=doc("Transports of the connector."))
    connector_class: str | None = field(
        default=None, metadata=doc("kv_connector, where a variant of the connector is wanted.", key="class")
    )
    module: str | None = field(
        default=None, metadata=doc("kv_connector_module_path, where that class is not the engine's.")
    )
    buffer_device: str | None = field(default=None, metadata=doc("Where the transfer buffer lives.", examples=["cuda"]))
    extra: dict[str, Any] | None = field(default=None, metadata=doc("Further keys of the connector."))


@record
class Policy:
    """An object of the Gateway's vendor that is attached to the InferencePool by a targetRef."""

    api_version: str = field(metadata=doc("Group and version.", examples=["networking.gke.io/v1"]))
    kind: str = field(metadata=doc("Kind."))
    default: dict[str, Any] = field(metadata=doc("What it says: spec.default."))
    port_field: str = field(
        default="", metadata=doc("Dotted path below spec.default that takes the pool's first target port.")
    )


@record
class AddedRouter:
    """Additions to the router."""

    plugins: list[dict[str, Any]] | None = field(default=None, metadata=doc("Plugins, merged by name or type."))
    policies: list[Policy] | None = field(
        default=None, metadata=doc("Policies of the Gateway's vendor for the pool, in gateway mode; merged by kind.")
    )
    route_timeouts: bool | None = field(
        default=None, metadata=doc("False where the Gateway refuses timeouts in an HTTPRoute.")
    )


@record
class Add:
    """What a contribution adds to a role. Lists merge by name, null removes."""

    engine_args: dict[str, Any] | None = field(
        default=None, metadata=doc("Engine flags without dashes.", examples=[{"max-num-seqs": 256}])
    )
    image: str | None = field(
        default=None, metadata=doc("Image of the release set to run instead of `<engine>-<family>`.")
    )
    env: list[dict[str, Any]] | None = field(
        default=None, metadata=doc("Environment, merged by name.", examples=[[{"name": "NCCL_DEBUG", "value": "INFO"}]])
    )
    resources: AddedResources | None = field(default=None, metadata=doc("Container resources."))
    volumes: list[dict[str, Any]] | None = field(
        default=None, metadata=doc("Pod volumes, merged by name.", examples=[[{"name": "scratch", "emptyDir": {}}]])
    )
    mounts: list[dict[str, Any]] | None = field(
        default=None,
        metadata=doc("Volume mounts, merged by mountPath.", examples=[[{"name": "scratch", "mountPath": "/scratch"}]]),
    )
    annotations: dict[str, str | None] | None = field(
        default=None, metadata=doc("Pod annotations.", examples=[{"example.com/team": "search"}])
    )
    labels: dict[str, str | None] | None = field(
        default=None, metadata=doc("Pod labels.", examples=[{"example.com/team": "search"}])
    )
    node_selector: dict[str, str | None] | None = field(
        default=None, metadata=doc("Node labels that pods need.", examples=[{"pool": "gpu"}])
    )
    tolerations: list[dict[str, Any]] | None = field(
        default=None,
        metadata=doc(
            "Tolerations, merged by key and effect.", examples=[[{"key": "nvidia.com/gpu", "operator": "Exists"}]]
        ),
    )
    affinity: dict[str, Any] | None = field(default=None, metadata=doc("Affinity, merged by field."))
    security_context: AddedSecurity | None = field(default=None, metadata=doc("Security settings, each with why."))
    claims: list[Claim] | None = field(default=None, metadata=doc("DRA claims, merged by name."))
    probes: AddedProbes | None = field(default=None, metadata=doc("Probe settings."))
    networks: AddedNetworks | None = field(default=None, metadata=doc("Further network interfaces."))
    host_access: HostAccess | None = field(default=None, metadata=doc("Access to the node."))
    kv_transfer: AddedKVTransfer | None = field(default=None, metadata=doc("KV connector.", key="kvTransfer"))
    sidecar_args: dict[str, Any] | None = field(
        default=None, metadata=doc("Flags of the routing sidecar without dashes, beside the derived ones.")
    )
    router: AddedRouter | None = field(default=None, metadata=doc("Router."))
    termination_grace_period_seconds: int | None = field(default=None, metadata=doc("Time to finish requests, in s."))
    pre_stop_sleep_seconds: int | None = field(default=None, metadata=doc("Wait before SIGTERM, in s."))


@record
class Contribution:
    """A delta that holds under a condition."""

    when: When = field(default_factory=When, metadata=doc("Condition."))
    add: Add = field(metadata=doc("What it adds."))


@record
class Entry:
    """What all entries have."""

    api_version: Literal["catalog.llmdctl.io/v1alpha1"] = field(metadata=doc("Version of the catalog's format."))
    name: str = field(metadata=doc("Name, as used in a stack."))
    title: str = field(default="", metadata=doc("One line for people."))
    sources: list[str] = field(
        default_factory=list, metadata=doc("Where the facts come from.", examples=[["data sheet of 2026-11"]])
    )
    defaults: SpecFields = field(default_factory=SpecFields, metadata=doc("Spec values that this entry supplies."))
    contributions: list[Contribution] = field(default_factory=list, metadata=doc("Deltas to the roles."))


@record
class EngineFlags:
    """Names of the engine's own flags for values that the plan derives; an empty name means the engine has none."""

    model: str = field(default="", metadata=doc("Flag of the model; empty for a positional argument."))
    revision: str = field(default="revision", metadata=doc("Model revision."))
    served_name: str = field(default="served-model-name", metadata=doc("Served name."))
    max_length: str = field(default="", metadata=doc("Longest context."))
    host: str = field(default="", metadata=doc("Listen address."))
    port: str = field(default="port", metadata=doc("Listen port."))
    tensor: str = field(default="tensor-parallel-size", metadata=doc("Tensor-parallel size."))
    pipeline: str = field(default="pipeline-parallel-size", metadata=doc("Pipeline-parallel size."))
    expert: str = field(default="", metadata=doc("Switch for expert parallelism."))


@record
class EngineProbes:
    """Probes of the engine's container, in Kubernetes' own form but for the port, which the plan adds."""

    startup: dict[str, Any] = field(
        metadata=doc("Startup probe: how long loading a model may take.", examples=[{"httpGet": {"path": "/health"}}])
    )
    liveness: dict[str, Any] = field(metadata=doc("Liveness probe.", examples=[{"httpGet": {"path": "/health"}}]))
    readiness: dict[str, Any] = field(metadata=doc("Readiness probe.", examples=[{"httpGet": {"path": "/health"}}]))


@record
class GroupFlags:
    """Sidecar flags of a connector that has to know every pod, where an engine's ranks spread over several."""

    size: str = field(metadata=doc("Flag of the data-parallel size."))
    local: str = field(metadata=doc("Flag of the ranks in one pod."))
    prefill_hosts: str = field(metadata=doc("Flag of the prefill pods' host names, in the order of their ranks."))
    decode_hosts: str = field(metadata=doc("Flag of the decode pods' host names, in the order of their ranks."))
    args: dict[str, Any] = field(default_factory=dict, metadata=doc("Further flags, without dashes."))


@record
class ConnectorRole:
    """What a connector needs in one role only."""

    args: dict[str, Any] = field(default_factory=dict, metadata=doc("Flags of the engine, without dashes."))
    ports: dict[str, int] = field(default_factory=dict, metadata=doc("Container ports by name."))
    env: list[dict[str, Any]] = field(default_factory=list, metadata=doc("Environment of the engine."))
    sidecar_env: list[dict[str, Any]] = field(
        default_factory=list, metadata=doc("Environment of the routing sidecar, where the role has one.")
    )


@record
class Connector:
    """A KV connector of an engine: what it is called, and what it needs."""

    class_name: str = field(
        default="",
        metadata=doc(
            "kv_connector of vLLM's --kv-transfer-config; empty where the engine has no such flag.", key="class"
        ),
    )
    module: str = field(default="", metadata=doc("kv_connector_module_path."))
    protocol: str = field(metadata=doc("The routing sidecar's --kv-connector."))
    config: dict[str, Any] = field(default_factory=dict, metadata=doc("Further keys of the configuration."))
    extra: dict[str, Any] = field(default_factory=dict, metadata=doc("kv_connector_extra_config."))
    takes_backends: bool = field(default=False, metadata=doc("spec.kvTransfer.backends go into the extra config."))
    backend_variable: str = field(
        default="", metadata=doc("Environment variable that takes the backend, where the engine takes just one.")
    )
    args: dict[str, Any] = field(default_factory=dict, metadata=doc("Flags of the engine, without dashes."))
    roles: dict[str, ConnectorRole] = field(default_factory=dict, metadata=doc("What it needs in one role only."))
    port_key: str = field(default="", metadata=doc("Key of the extra config that takes the engine's port, as text."))
    ports: dict[str, int] = field(default_factory=dict, metadata=doc("Container ports by name."))
    env: list[dict[str, Any]] = field(default_factory=list, metadata=doc("Environment of the engine."))
    sidecar_args: dict[str, Any] = field(
        default_factory=dict, metadata=doc("Flags of the routing sidecar, without dashes.")
    )
    router_since: str = field(default="", metadata=doc("First router whose sidecar speaks to it; empty for all."))
    tensor_flag: str = field(default="", metadata=doc("Sidecar flag that takes the tensor-parallel size."))
    families: list[str] = field(
        default_factory=list, metadata=doc("Accelerator families that it works on; empty for all.")
    )
    group_flags: GroupFlags | None = field(default=None, metadata=doc("Flags for ranks over several pods."))


@record
class EngineKeepAlive:
    """How long the engine keeps a connection that is idle. What stands in front of it has to close it earlier."""

    seconds: int = field(metadata=doc("Seconds: what is set, or the engine's own where it can't be set.", minimum=1))
    variable: str = field(default="", metadata=doc("Environment variable that sets it; empty where none does."))


@record
class EngineFile:
    """A file of settings that the engine reads at its start, from a ConfigMap of the stack."""

    path: str = field(metadata=doc("Where the engine reads it."))
    flag: str = field(metadata=doc("Flag that names it."))
    data: dict[str, Any] = field(metadata=doc("Its content."))


@record
class EngineEvents:
    """How the engine publishes KV-cache events, and what the router must know of it to read them."""

    block_flag: str = field(metadata=doc("Flag of the tokens in a KV block.", examples=["block-size"]))
    config_flag: str = field(default="kv-events-config", metadata=doc("Flag of the events' configuration."))
    config: dict[str, Any] = field(
        default_factory=dict, metadata=doc("Keys of that configuration beside publisher, endpoint and topic.")
    )
    args: dict[str, Any] = field(
        default_factory=dict, metadata=doc("Further flags, without dashes; null keeps one away that would break them.")
    )
    args_since: dict[str, dict[str, Any]] = field(
        default_factory=dict,
        metadata=doc("Engine version -> flags that it needs from then on.", examples=[{"0.30": {"enable-x": True}}]),
    )
    type: str = field(default="", metadata=doc("The router's kvEventsConfig.engineType, where it is not its default."))
    hash_algorithm: str = field(
        default="", metadata=doc("The router's tokenProcessorConfig.hashAlgorithm, where it is not its default.")
    )
    tokenises: bool = field(
        default=False, metadata=doc("It tokenises prompts for the router; servers of their own do it otherwise.")
    )


@record
class Engine(Entry):
    """An inference engine."""

    kind: Literal["Engine"] = field(metadata=doc("Always Engine."))
    type: str = field(metadata=doc("Value of the label llm-d.ai/engine-type."))
    command: list[str] = field(metadata=doc("Program and subcommand.", examples=[["vllm", "serve"]]))
    flags: EngineFlags = field(metadata=doc("Flag names."))
    listen_host: str = field(default="", metadata=doc("Address to listen on when the engine's default is loopback."))
    serving_port: int = field(default=8000, metadata=doc("Port that clients and the router see."))
    behind_sidecar_port: int = field(default=8200, metadata=doc("Port of the engine when a sidecar takes the other."))
    metrics_path: str = field(default="/metrics", metadata=doc("Path of the metrics."))
    probes: EngineProbes = field(metadata=doc("Startup, liveness and readiness probes, without the port."))
    loads_weights: bool = field(default=True, metadata=doc("Starting takes as long as the model's weights."))
    data_parallel: Literal["", "vllm"] = field(
        default="", metadata=doc("Whose flags for data-parallel ranks it has; empty for none that llmdctl knows.")
    )
    rank_probes: EngineProbes | None = field(
        default=None, metadata=doc("Probes where every local rank has a port: the supervisor answers for them.")
    )
    connectors: dict[str, Connector] = field(
        default_factory=dict, metadata=doc("Connectors by their name in spec.kvTransfer.connector.")
    )
    writable_paths: dict[str, str] = field(
        default_factory=dict, metadata=doc("Volume name -> path that needs writing.")
    )
    keep_alive: EngineKeepAlive | None = field(
        default=None, metadata=doc("Idle connections; absent when the engine never closes them.")
    )
    config_file: EngineFile | None = field(default=None, metadata=doc("File of settings that the engine needs."))
    kv_events: EngineEvents | None = field(
        default=None, metadata=doc("KV-cache events; absent when it publishes none.", key="kvEvents")
    )


@record
class ModelFacts:
    """What rules and formulas need to know of a model. None means unknown, never "no"."""

    parameters_billion: float | None = field(default=None, metadata=doc("Parameters, in 1e9."))
    active_parameters_billion: float | None = field(default=None, metadata=doc("Active parameters a token, in 1e9."))
    weights_gib: float | None = field(default=None, metadata=doc("Size of the published weights, in GiB."))
    layers: int | None = field(default=None, metadata=doc("Hidden layers."))
    attention_heads: int | None = field(default=None, metadata=doc("Attention heads."))
    kv_heads: int | None = field(default=None, metadata=doc("KV heads."))
    head_dim: int | None = field(default=None, metadata=doc("Size of a head."))
    context: int | None = field(default=None, metadata=doc("Longest context in tokens."))
    mla: bool = field(default=False, metadata=doc("Multi-head latent attention."))
    mamba: bool = field(default=False, metadata=doc("State-space layers."))
    hybrid_attention: bool = field(default=False, metadata=doc("Full and sliding-window attention mixed."))
    experts: int | None = field(default=None, metadata=doc("Routed experts (MoE)."))
    gated: bool = field(default=False, metadata=doc("Needs an accepted licence and a token."))


@record
class ModelEntry(Entry):
    """A model: its name is the hub id."""

    kind: Literal["Model"] = field(metadata=doc("Always Model."))
    label: str = field(metadata=doc("Short name for the label llm-d.ai/model."))
    facts: ModelFacts = field(metadata=doc("Figures of its config.json."))


@record
class Status:
    """What upstream says of a combination."""

    upstream: Literal["validated", "community", "none"] = field(metadata=doc("Upstream's own word."))
    source: str = field(metadata=doc("Where it says so."))
    date: str = field(metadata=doc("When that was read.", pattern=r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?"))


@record
class Cell:
    """Combinations of a guide that share a status and defaults."""

    engines: list[str] = field(metadata=doc("Engines."))
    accelerators: list[str] = field(metadata=doc("Accelerators."))
    providers: list[str] = field(metadata=doc("Providers."))
    status: Status = field(metadata=doc("What upstream says."))
    note: str = field(default="", metadata=doc("What a user should know."))
    defaults: SpecFields = field(default_factory=SpecFields, metadata=doc("Spec values of these combinations."))


@record
class GuideCell(Cell):
    """Combinations that a vendor adds to the matrix of a guide that is not its own."""

    guide: str = field(metadata=doc("The guide."))


@record
class Accelerator(Entry):
    """An accelerator type."""

    kind: Literal["Accelerator"] = field(metadata=doc("Always Accelerator."))
    family: str = field(metadata=doc("Family, for conditions and images.", examples=["nvidia"]))
    vendor: str = field(metadata=doc("Value of the label llm-d.ai/accelerator-vendor."))
    variant: str = field(metadata=doc("Value of the label llm-d.ai/accelerator-variant."))
    resource: str = field(metadata=doc("Extended resource of the device plugin; empty where ranks take no device."))
    memory_gib: float = field(metadata=doc("Memory of one accelerator, in GiB.", key="memoryGiB"))
    per_node: int = field(metadata=doc("Accelerators of a common node; 0 where ranks take no device."))
    ranks_per_accelerator: int = field(default=1, metadata=doc("Tensor-parallel ranks that share one device."))
    architecture: Literal["amd64", "arm64"] = field(default="amd64", metadata=doc("CPU architecture of its nodes."))
    connectors: list[str] = field(
        default_factory=list,
        metadata=doc("The only KV connectors that work on it; empty for all that are not made for other families."),
    )
    support: list[GuideCell] = field(
        default_factory=list, metadata=doc("Combinations with this accelerator that it adds to guides.")
    )


@record
class Provider(Entry):
    """Where a cluster runs."""

    kind: Literal["Provider"] = field(metadata=doc("Always Provider."))
    extends: str = field(default="", metadata=doc("Provider whose contributions come before this one's."))
    support: list[GuideCell] = field(
        default_factory=list, metadata=doc("Combinations with this provider that it adds to guides.")
    )


@record
class PresetVariant:
    """What a preset sets on some hardware only."""

    accelerators: list[str] = field(metadata=doc("Accelerators that it is for."))
    defaults: SpecFields = field(metadata=doc("Spec values that it sets, over the preset's own."))


@record
class Preset:
    """A named topology."""

    title: str = field(metadata=doc("One line for people."))
    defaults: SpecFields = field(metadata=doc("Spec values that it sets."))
    roles: list[str] | None = field(default=None, metadata=doc("Roles that it deploys, when not all of the guide's."))
    router_config: dict[str, Any] | None = field(
        default=None, metadata=doc("EndpointPickerConfig that replaces the guide's, without apiVersion and kind.")
    )
    variants: list[PresetVariant] = field(
        default_factory=list, metadata=doc("What differs where nodes do; the first that names the accelerator holds.")
    )

    def layers(self, accelerator: str) -> list[SpecFields]:
        """The preset's spec values on an accelerator, the last over those before."""
        own = next((variant for variant in self.variants if accelerator in variant.accelerators), None)
        return [self.defaults, *([own.defaults] if own else [])]


@record
class Refusal:
    """A choice that a guide cannot work with."""

    when: When = field(metadata=doc("The choice; conditions on roles have no meaning here."))
    why: str = field(metadata=doc("What would go wrong."))
    fix: str = field(metadata=doc("What to choose instead."))


@record
class GuideObject:
    """An object (or one a role) that the guide renders."""

    template: str = field(metadata=doc("Template file, looked up in the guide's templates and then in _shared."))
    each: Literal["stack", "role", "claim", "computeDomain", "policy", "budget"] = field(
        default="stack",
        metadata=doc("Once, or once a role, claim, ComputeDomain, disruption budget or Gateway policy."),
    )
    when: When = field(default_factory=When, metadata=doc("Condition."))
    present: str = field(default="", metadata=doc("Part of the plan that must be present."))


@record
class Verification:
    """A machine-readable step that shows that a deployment serves."""

    name: str = field(metadata=doc("Name of the step."))
    when: When = field(default_factory=When, metadata=doc("Condition."))
    target: Literal["router", "render"] = field(
        default="router", metadata=doc("Who is asked: the router, or the Service that tokenises prompts.")
    )
    request: dict[str, Any] | None = field(default=None, metadata=doc("HTTP request; the model's name is added."))
    repeat: int = field(default=1, metadata=doc("How often it is sent, one after the other.", minimum=1))
    expect: dict[str, Any] = field(
        metadata=doc(
            "What must hold afterwards: `status` of every answer, text that each `contains`, how many `pods` served, "
            "a counter of those pods that `grows`, or `jobComplete`."
        )
    )


@record
class KvEvents:
    """A guide whose engines publish KV-cache events to the router."""

    port: int = field(metadata=doc("Port of the first rank's events.", minimum=1, maximum=65535))
    block_size: int = field(metadata=doc("Tokens of a KV block, in the engines and in the router's index.", minimum=1))
    render_port: int = field(
        default=8000, metadata=doc("Port of the Service that tokenises prompts.", minimum=1, maximum=65535)
    )
    render_replicas: int = field(
        default=3, metadata=doc("Servers that tokenise, for engines that can't do it themselves.", minimum=1)
    )
    render_resources: AddedResources = field(
        default_factory=AddedResources, metadata=doc("Resources of such a server.")
    )


@record
class Guide(Entry):
    """A well-lit path."""

    kind: Literal["Guide"] = field(metadata=doc("Always Guide."))
    summary: str = field(metadata=doc("What it is for, in a sentence or two."))
    roles: list[str] = field(metadata=doc("Roles it deploys, in order."))
    workloads: list[str] = field(metadata=doc("Kinds of workload it can use; the first is the default."))
    unsupported: list[str] = field(
        default_factory=list, metadata=doc("Spec paths that this guide refuses for now, as dotted names.")
    )
    refused: list[Refusal] = field(
        default_factory=list, metadata=doc("Choices that this guide cannot work with, each with its reason.")
    )
    router_config: dict[str, Any] = field(metadata=doc("EndpointPickerConfig without apiVersion and kind."))
    router_config_before: dict[str, dict[str, Any]] = field(
        default_factory=dict,
        metadata=doc("Router version -> the config for endpoint pickers older than it.", examples=[{"0.10": {}}]),
    )
    kv_events: KvEvents | None = field(
        default=None, metadata=doc("Engines publish their KV cache to the router.", key="kvEvents")
    )
    matrix: list[Cell] = field(metadata=doc("Listed combinations."))
    presets: dict[str, Preset] = field(default_factory=dict, metadata=doc("Named topologies."))
    objects: list[GuideObject] = field(metadata=doc("What is rendered, in order."))
    verification: list[Verification] = field(default_factory=list, metadata=doc("Steps that prove that it serves."))


@record
class Provenance:
    """How sure an image reference is."""

    source: str = field(metadata=doc("Where it was read."))
    confidence: Literal["published", "inferred"] = field(metadata=doc("Seen published, or tag or version inferred."))


@record
class Image:
    """One image of a release set."""

    repository: str = field(metadata=doc("Repository with registry host."))
    tag: str = field(metadata=doc("Tag."))
    digest: str = field(default="", metadata=doc("Digest, when known.", pattern=r"(sha256:[0-9a-f]{64})?"))
    component: str = field(metadata=doc("Component that it carries.", examples=["vllm"]))
    version: str = field(metadata=doc("Version of the component."))
    non_root: bool = field(default=False, metadata=doc("The image runs as another user than root by itself."))
    provenance: Provenance = field(metadata=doc("How sure it is."))


@record
class ReleaseSet:
    """The images of one llm-d release."""

    title: str = field(default="", metadata=doc("One line for people."))
    components: dict[str, str] = field(
        default_factory=dict, metadata=doc("Versions of parts that have no image here.", examples=[{"lws": "0.11.1"}])
    )
    images: dict[str, Image] = field(metadata=doc("Images by name."))


@record
class DeprecatedImage:
    """A repository that nobody should use any more."""

    repository: str = field(metadata=doc("Repository with registry host."))
    replacement: str = field(metadata=doc("Repository to use instead."))
    why: str = field(metadata=doc("Reason."))


@record
class ImageCatalog:
    """All release sets."""

    api_version: Literal["catalog.llmdctl.io/v1alpha1"] = field(metadata=doc("Version of the catalog's format."))
    kind: Literal["ImageCatalog"] = field(metadata=doc("Always ImageCatalog."))
    default_release: str = field(
        default="", metadata=doc("Release set used when a stack names none; empty leaves it to the next catalog.")
    )
    deprecated: list[DeprecatedImage] = field(
        default_factory=list, metadata=doc("Repositories that are warned of wherever a stack uses them.")
    )
    releases: dict[str, ReleaseSet] = field(metadata=doc("Sets by llm-d release."))
