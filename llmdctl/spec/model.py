"""InferenceStack (llmdctl.io/v1alpha1): what a user wants, in as few words as possible.

Every field but `guide` has a default that the catalog supplies, so None means "not said here". The same classes type
the `defaults` of catalog entries, and their JSON Schema is published by `llmdctl schema`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from llmdctl.manifest.record import record
from llmdctl.manifest.typed import doc

API_VERSION = "llmdctl.io/v1alpha1"
KIND = "InferenceStack"
NAME_MAX = 30
DNS_LABEL = r"[a-z]([-a-z0-9]*[a-z0-9])?"
QUANTITY = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"


@record
class Metadata:
    """Identity of the stack."""

    name: str | None = field(
        default=None,
        metadata=doc(
            "Name of the stack and prefix of its objects; the guide's name when absent.",
            pattern=DNS_LABEL,
            max_length=NAME_MAX,
            examples=["qwen-chat"],
        ),
    )
    namespace: str | None = field(
        default=None,
        metadata=doc(
            "Namespace that all objects go to.",
            pattern="[a-z0-9]([-a-z0-9]*[a-z0-9])?",
            max_length=63,
            examples=["llm-d"],
        ),
    )
    labels: dict[str, str] | None = field(
        default=None, metadata=doc("Labels added to every object.", examples=[{"team": "search"}])
    )
    annotations: dict[str, str] | None = field(
        default=None, metadata=doc("Annotations added to every object.", examples=[{"owner": "search@example.com"}])
    )


@record
class TokenSecret:
    """The Secret that holds the model hub's access token; it is never rendered by llmdctl."""

    name: str | None = field(default=None, metadata=doc("Name of the Secret.", max_length=253))
    key: str | None = field(default=None, metadata=doc("Key inside the Secret.", max_length=253))


@record
class EmptyDirCache:
    """A cache that lives as long as the pod."""

    size_limit: str | None = field(
        default=None, metadata=doc("Upper bound of its size.", pattern=QUANTITY, examples=["200Gi"])
    )


@record
class PvcCache:
    """A cache on a PersistentVolumeClaim that exists already."""

    claim_name: str = field(metadata=doc("Name of the claim.", max_length=253))


@record
class HostPathCache:
    """A cache on the node's own disk, shared by the pods of that node."""

    path: str = field(
        metadata=doc(
            "Absolute directory on the node, made when absent; the image's user has to be able to write it.",
            pattern=r"/.*",
            examples=["/mnt/models"],
        )
    )


@record
class ModelCache:
    """Where model files are kept. Exactly one of the three."""

    empty_dir: EmptyDirCache | None = field(default=None, metadata=doc("Per pod, lost with it."))
    pvc: PvcCache | None = field(default=None, metadata=doc("On a PersistentVolumeClaim."))
    host_path: HostPathCache | None = field(default=None, metadata=doc("On the node's disk."))


@record
class Model:
    """The model that is served."""

    id: str | None = field(
        default=None,
        metadata=doc("Hub id, or with `source: local` a path below the cache's mount.", examples=["Qwen/Qwen3-32B"]),
    )
    revision: str | None = field(default=None, metadata=doc("Branch, tag or commit of the model repository."))
    served_name: str | None = field(default=None, metadata=doc("Name that clients ask for; the id when absent."))
    source: Literal["huggingface", "local"] | None = field(
        default=None, metadata=doc("`huggingface` downloads by id; `local` reads files that the cache already holds.")
    )
    max_length: int | None = field(
        default=None, metadata=doc("Longest context in tokens, prompt and answer together.", minimum=1)
    )
    token_secret: TokenSecret | None = field(default=None, metadata=doc("Secret with the hub token."))
    cache: ModelCache | None = field(default=None, metadata=doc("Where model files are kept."))


@record
class Devices:
    """How pods get their accelerators."""

    mode: Literal["devicePlugin", "dra"] | None = field(
        default=None,
        metadata=doc("`devicePlugin` counts extended resources; `dra` claims devices (Kubernetes 1.34 or newer)."),
    )


@record
class KVTransfer:
    """How the KV cache travels from prefill to decode."""

    connector: str | None = field(
        default=None, metadata=doc("One of the engine's connectors in the catalog.", examples=["nixl", "mooncake"])
    )
    backends: list[str] | None = field(default=None, metadata=doc("Transports of the connector.", examples=[["UCX"]]))


@record
class Parallelism:
    """How one replica of a role is spread over accelerators."""

    tensor: int | None = field(default=None, metadata=doc("Tensor-parallel size.", minimum=1))
    pipeline: int | None = field(default=None, metadata=doc("Pipeline-parallel size.", minimum=1))
    data: int | None = field(default=None, metadata=doc("Data-parallel size over all pods of a group.", minimum=1))
    data_local: int | None = field(default=None, metadata=doc("Data-parallel ranks in one pod.", minimum=1))
    expert: bool | None = field(default=None, metadata=doc("Spread experts over all ranks (MoE models)."))
    load_balancing: Literal["perRank", "hybrid", "leader"] | None = field(
        default=None,
        metadata=doc(
            "With several ranks in a pod: `perRank` gives each a port, so that the router chooses among them; "
            "`hybrid` has one port a pod, and the engine balances its ranks. With several pods: `leader` has one port "
            "a group, in its first pod, and the engine balances the ranks of all pods."
        ),
    )


@record
class Resources:
    """Kubernetes resource requirements of a container; accelerators are derived, not given here."""

    requests: dict[str, str | int | float | None] | None = field(
        default=None,
        metadata=doc("Requests by resource name; `null` removes a default.", examples=[{"cpu": 16, "memory": "64Gi"}]),
    )
    limits: dict[str, str | int | float | None] | None = field(
        default=None,
        metadata=doc("Limits by resource name; `null` removes a default.", examples=[{"cpu": 16, "memory": "64Gi"}]),
    )


@record
class EnvVar:
    """An environment variable, as in a Kubernetes container."""

    name: str = field(metadata=doc("Name of the variable.", pattern=r"[ -<>-~]+", examples=["LOG_LEVEL"]))
    value: str | None = field(default=None, metadata=doc("Its value."))
    value_from: dict[str, Any] | None = field(
        default=None, metadata=doc("Source of its value.", examples=[{"fieldRef": {"fieldPath": "status.podIP"}}])
    )


@record
class Pod:
    """Settings of pods, with Kubernetes' own names."""

    node_selector: dict[str, str] | None = field(
        default=None, metadata=doc("Node labels that pods need.", examples=[{"pool": "gpu"}])
    )
    tolerations: list[dict[str, Any]] | None = field(
        default=None,
        metadata=doc("Taints that pods tolerate.", examples=[[{"key": "nvidia.com/gpu", "operator": "Exists"}]]),
    )
    affinity: dict[str, Any] | None = field(
        default=None,
        metadata=doc(
            "Affinity rules.",
            examples=[
                {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["gpu"]}]}
                            ]
                        }
                    }
                }
            ],
        ),
    )
    priority_class_name: str | None = field(default=None, metadata=doc("PriorityClass of the pods.", max_length=253))
    runtime_class_name: str | None = field(default=None, metadata=doc("RuntimeClass of the pods.", max_length=253))
    image_pull_secrets: list[dict[str, str]] | None = field(
        default=None, metadata=doc("Secrets to pull images with.", examples=[[{"name": "registry"}]])
    )
    labels: dict[str, str] | None = field(
        default=None, metadata=doc("Labels added to pods.", examples=[{"team": "search"}])
    )
    annotations: dict[str, str] | None = field(
        default=None, metadata=doc("Annotations added to pods.", examples=[{"owner": "search@example.com"}])
    )
    service_account: str | None = field(
        default=None, metadata=doc("Existing ServiceAccount to run as; llmdctl makes one when absent.", max_length=253)
    )


@record
class Role:
    """One role of the serving pods."""

    replicas: int | None = field(
        default=None, metadata=doc("Copies of the role (per slice of a DisaggregatedSet).", minimum=0)
    )
    parallelism: Parallelism | None = field(default=None, metadata=doc("Ranks of one copy."))
    resources: Resources | None = field(default=None, metadata=doc("CPU, memory and other non-accelerator resources."))
    engine_args: dict[str, Any] | None = field(
        default=None,
        metadata=doc("Engine flags without dashes; `null` removes a default.", examples=[{"max-num-seqs": 256}]),
    )
    env: list[EnvVar] | None = field(
        default=None,
        metadata=doc(
            "Environment of the engine, merged by name.", examples=[[{"name": "VLLM_LOGGING_LEVEL", "value": "DEBUG"}]]
        ),
    )
    pod: Pod | None = field(default=None, metadata=doc("Pod settings of this role, over those of the stack."))


@record
class Roles:
    """The roles. An aggregated stack has only `decode`."""

    prefill: Role | None = field(default=None, metadata=doc("Computes the KV cache of prompts."))
    decode: Role | None = field(default=None, metadata=doc("Generates tokens; the only role of aggregated serving."))
    encode: Role | None = field(default=None, metadata=doc("Encodes images and other media."))


@record
class ImageOverride:
    """Replaces parts of one image reference. A digest wins over a tag."""

    repository: str | None = field(default=None, metadata=doc("Repository with its registry host."))
    tag: str | None = field(default=None, metadata=doc("Tag.", pattern=r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"))
    digest: str | None = field(default=None, metadata=doc("Digest.", pattern=r"sha256:[0-9a-f]{64}"))


@record
class Images:
    """Where images come from."""

    registry: str | None = field(
        default=None, metadata=doc("Registry (and path) that replaces the host of every image, for mirrors.")
    )
    overrides: dict[str, ImageOverride] | None = field(
        default=None,
        metadata=doc(
            "By image name of the catalog (`llmdctl guide show` lists them).",
            examples=[{"envoy": {"repository": "registry.example/envoy"}}],
        ),
    )


@record
class Gateway:
    """The Gateway that routes to the pool, in gateway mode."""

    class_name: str | None = field(
        default=None, metadata=doc("GatewayClass; when given, the stack gets a Gateway of its own.", max_length=253)
    )
    name: str | None = field(
        default=None,
        metadata=doc(
            "Name of the Gateway: `<stack>-gateway` for one of its own, else `llm-d-inference-gateway`, which is there "
            "already.",
            max_length=253,
        ),
    )


@record
class Proxy:
    """The proxy in front of the endpoint picker, in standalone mode."""

    resources: Resources | None = field(default=None, metadata=doc("Resources of the proxy's container."))
    concurrency: int | None = field(default=None, metadata=doc("Worker threads.", minimum=1, maximum=128))


@record
class Router:
    """The router: endpoint picker plus proxy."""

    mode: Literal["standalone", "gateway"] | None = field(
        default=None, metadata=doc("`standalone` brings its own Envoy; `gateway` uses a Gateway of the cluster.")
    )
    replicas: int | None = field(
        default=None, metadata=doc("Endpoint pickers; more than one elects a leader.", minimum=1, maximum=16)
    )
    failure_mode: Literal["FailOpen", "FailClose"] | None = field(
        default=None, metadata=doc("What the proxy does when the endpoint picker does not answer.")
    )
    proxy: Proxy | None = field(default=None, metadata=doc("Standalone mode's proxy."))
    gateway: Gateway | None = field(default=None, metadata=doc("Gateway mode's Gateway."))
    config: dict[str, Any] | None = field(
        default=None,
        metadata=doc(
            "EndpointPickerConfig that replaces the guide's, without apiVersion and kind.",
            examples=[{"plugins": [{"type": "queue-scorer"}]}],
        ),
    )
    resources: Resources | None = field(default=None, metadata=doc("Resources of the endpoint picker."))


@record
class Monitoring:
    """Prometheus operator objects."""

    enabled: bool | None = field(
        default=None,
        metadata=doc(
            "Render PodMonitors and a ServiceMonitor; the endpoint picker then gives its metrics to anyone who reaches "
            "its port 9090 (`--metrics-endpoint-auth=false`)."
        ),
    )


@record
class NetworkPolicy:
    """Network isolation."""

    enabled: bool | None = field(default=None, metadata=doc("Render NetworkPolicies for the stack's pods."))


@record
class Kueue:
    """Admission by Kueue."""

    local_queue: str = field(metadata=doc("LocalQueue that admits the workloads.", max_length=63))


@record
class Queue:
    """Who admits the workloads."""

    kueue: Kueue | None = field(default=None, metadata=doc("Kueue."))


@record
class Patch:
    """A last resort: a merge patch (RFC 7386) on rendered objects, validated like the rest."""

    kind: str = field(metadata=doc("Kind of the object.", examples=["Service"]))
    name: str = field(metadata=doc("Name of the object.", examples=["qwen-chat-epp"]))
    merge: dict[str, Any] = field(metadata=doc("Merge patch; null deletes.", examples=[{"spec": {"replicas": 2}}]))


@record
class SpecFields:
    """All of a stack's spec but the guide: also the form of the catalog's defaults."""

    preset: str | None = field(default=None, metadata=doc("A named topology of the guide.", examples=["8p2d"]))
    release: str | None = field(
        default=None, metadata=doc("Release set of images, named by the llm-d release.", examples=["1.0"])
    )
    kube_version: str | None = field(
        default=None,
        metadata=doc("Kubernetes minor that the objects are for.", pattern=r"1\.[0-9]{1,3}", examples=["1.36"]),
    )
    model: Model | None = field(default=None, metadata=doc("The model that is served."))
    engine: str | None = field(default=None, metadata=doc("Inference engine.", examples=["vllm", "sglang"]))
    accelerator: str | None = field(default=None, metadata=doc("Accelerator type.", examples=["nvidia-h200"]))
    provider: str | None = field(default=None, metadata=doc("Where the cluster runs.", examples=["gke"]))
    workload: Literal["deployment", "leaderWorkerSet", "disaggregatedSet"] | None = field(
        default=None, metadata=doc("Kind of object that runs the roles.")
    )
    devices: Devices | None = field(default=None, metadata=doc("How pods get accelerators."))
    kv_transfer: KVTransfer | None = field(default=None, metadata=doc("KV cache transfer.", key="kvTransfer"))
    roles: Roles | None = field(default=None, metadata=doc("Roles and their sizes."))
    pod: Pod | None = field(default=None, metadata=doc("Settings of all serving pods."))
    images: Images | None = field(default=None, metadata=doc("Where images come from."))
    router: Router | None = field(default=None, metadata=doc("The router."))
    monitoring: Monitoring | None = field(default=None, metadata=doc("Metrics collection."))
    network_policy: NetworkPolicy | None = field(default=None, metadata=doc("Network isolation."))
    queue: Queue | None = field(default=None, metadata=doc("Queueing of workloads."))
    patches: list[Patch] | None = field(default=None, metadata=doc("Merge patches on rendered objects."))


@record
class StackSpec(SpecFields):
    """What the user wants."""

    guide: str = field(metadata=doc("The guide to deploy.", examples=["pd-disaggregation"]))


@record
class InferenceStack:
    """A whole stack file."""

    api_version: Literal["llmdctl.io/v1alpha1"] = field(metadata=doc("Version of this format."))
    kind: Literal["InferenceStack"] = field(metadata=doc("Always InferenceStack."))
    metadata: Metadata = field(default_factory=Metadata, metadata=doc("Identity of the stack."))
    spec: StackSpec = field(metadata=doc("What the user wants."))
