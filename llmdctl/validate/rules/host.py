"""RES: shared memory, interfaces, slices, grace periods and probes of pods that run an engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import prod

from llmdctl.findings import Hit, MapKey, Outcome, Rule, Severity, Skip
from llmdctl.validate.admission.quantities import quantity
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import Container, EngineCommand, PodTemplate, View
from llmdctl.view.devices import TPU, counts, extended, whole
from llmdctl.view.engine import SGLANG, VLLM
from llmdctl.view.flags import to_integer
from llmdctl.view.node import Node
from llmdctl.view.ranks import world

_SHM = "/dev/shm"  # noqa: S108 - the path inside the pod
_NANO = 10**9
_GIB = 2**30


def _engines(view: View) -> Iterator[tuple[PodTemplate, EngineCommand]]:
    for template in view.templates:
        for engine in template.engines:
            yield template, engine


def _volume(template: PodTemplate, container: Container, path: str) -> Node | None:
    """The volume that is mounted at a path of a container, or None."""
    for mount in container.node.at("volumeMounts").items():
        if mount.at("mountPath").text().rstrip("/") == path:
            name = mount.at("name").text()
            return next(
                (item for item in template.node.at("spec", "volumes").items() if item.at("name").text() == name), None
            )
    return None


def check_shared_memory(view: View) -> Iterator[Outcome]:
    """RES001: ranks that talk through /dev/shm with the 64 MiB of the container runtime, or more than the pod has."""
    for template, engine in _engines(view):
        container = engine.container
        volume = _volume(template, container, _SHM)
        if volume is None:
            if _needs_shared_memory(template, engine):
                yield Hit(
                    container.at("volumeMounts"),
                    f"{template.lead}{container.name} runs several ranks with 64 MiB of shared memory",
                )
            continue
        size, limit = volume.at("emptyDir", "sizeLimit"), container.node.at("resources", "limits").key("memory")
        least, most = quantity(size.value), quantity(limit.value)
        if volume.at("emptyDir", "medium").text() == "Memory" and least and most and least >= most:
            yield Hit(
                size.place,
                f"{template.lead}shared memory may grow to {size.value}, all of {container.name} to {limit.value}",
                why="what stands in a memory-backed volume counts against the memory limit: the container is killed",
                fix="make the volume smaller than the memory limit, with room for the engine itself",
                evidence=(seen(f"the memory limit is {limit.value}", limit.place),),
            )


def _needs_shared_memory(template: PodTemplate, engine: EngineCommand) -> bool:
    if template.node.at("spec", "hostIPC").truth() or any(
        mount.at("mountPath").text().startswith(_SHM) for mount in engine.container.node.at("volumeMounts").items()
    ):
        return False
    gpus = [item for item in extended(engine.container) if item.resource in ("nvidia.com/gpu", "amd.com/gpu")]
    ranks = world(engine)
    return bool(gpus) and ranks is not None and (ranks.ranks > 1 or engine.engine == SGLANG)


RES001 = Rule(
    code="RES001",
    severity=Severity.WARNING,
    title="the shared memory of an engine is too small, or larger than its memory",
    why=(
        "the ranks of a pod exchange tensors through /dev/shm; container runtimes give it 64 MiB, and NCCL ends with "
        "`No space left on device` or a bus error"
    ),
    fix="mount an emptyDir of medium Memory at /dev/shm, with a sizeLimit below the memory limit",
    references=("llm-d guides, model server base", "NCCL troubleshooting: shared memory"),
    needs=frozenset({"engines"}),
    check=check_shared_memory,
)

_PER_DEVICE = ("amd.com/vnic", "nvidia.com/sriov-rdma-vf")
_NETWORKS = "k8s.v1.cni.cncf.io/networks"


def check_interfaces(view: View) -> Iterator[Outcome]:
    """RES003: fewer network interfaces than accelerators, or than the networks that are attached."""
    for template, engine in _engines(view):
        found = counts(engine.container)
        accelerators = sum(item.count for item in extended(engine.container))
        for name in _PER_DEVICE:
            node = found.get(name)
            count = whole(node.value) if node else None
            if node is None or not count:
                continue
            # Ranks of one pod may share virtual interfaces; over pods each rank needs the rail of its device.
            alone = name == "amd.com/vnic" and template.workload.group_size == 1
            if accelerators and count < accelerators and not alone:
                yield Hit(
                    node.place,
                    f"{template.lead}{engine.container.name} asks for {count} {name} and {accelerators} accelerators",
                )
            annotation = template.node.at("metadata", "annotations").key(_NETWORKS)
            attached = [item for item in annotation.text().split(",") if item.strip()]
            if attached and not annotation.text().lstrip().startswith("[") and len(attached) != count:
                yield Hit(
                    annotation.place,
                    f"{template.lead}{len(attached)} networks are attached, {count} {name} are asked for",
                    why="an interface without a network has no address; a network without an interface fails the pod",
                    fix=f"name {count} networks, one for each interface",
                )


RES003 = Rule(
    code="RES003",
    severity=Severity.WARNING,
    title="an engine has fewer network interfaces than accelerators",
    why="each rank moves its data over the interface next to its device: without one it hangs or takes a slow way",
    fix="ask for one interface for each accelerator",
    references=("llm-d guides/wide-ep AMD", "llm-d guides/pd-disaggregation OCI"),
    needs=frozenset({"engines"}),
    check=check_interfaces,
)


def check_writable(view: View) -> Iterator[Outcome]:
    """RES010: a read-only root file system without a place for what the engine writes."""
    for template, engine in _engines(view):
        container = engine.container
        node = container.node.at("securityContext", "readOnlyRootFilesystem")
        paths = [item.at("mountPath").text() for item in container.node.at("volumeMounts").items()]
        if node.truth() and not any(path.rstrip("/") in ("/tmp", "") for path in paths):  # noqa: S108 - in the pod
            if container.env.get("TMPDIR") is not None:
                continue
            yield Hit(node.place, f"{template.lead}the root of {container.name} is read-only, and /tmp is not mounted")


RES010 = Rule(
    code="RES010",
    severity=Severity.WARNING,
    title="an engine can not write its temporary files",
    why="engines put the sockets of their processes and compiled kernels under /tmp and the home directory",
    fix="mount emptyDirs at /tmp and at the caches, or allow writing to the root file system",
    references=("vLLM envs.py VLLM_RPC_BASE_PATH",),
    needs=frozenset({"engines"}),
    check=check_writable,
)


def check_cpu_cache(view: View) -> Iterator[Outcome]:
    """RES013: a KV cache on the CPU that does not fit into the container's memory."""
    for template, engine in _engines(view):
        space = engine.container.env.get("VLLM_CPU_KVCACHE_SPACE")
        gib = to_integer(space.value) if space else None
        limit = engine.container.node.at("resources", "limits").key("memory")
        most = quantity(limit.value)
        if space is not None and gib and most and gib * _GIB * _NANO >= most:
            yield Hit(
                space.place,
                f"{template.lead}the KV cache takes {gib} GiB, {engine.container.name} may use {limit.value}",
                evidence=(seen(f"the memory limit is {limit.value}", limit.place),),
            )


RES013 = Rule(
    code="RES013",
    severity=Severity.ERROR,
    title="the KV cache of a CPU engine exceeds its memory limit",
    why="vLLM takes VLLM_CPU_KVCACHE_SPACE gibibytes at start, beside the weights: the container is killed",
    fix="lower VLLM_CPU_KVCACHE_SPACE, or raise the memory limit above it by the size of the weights",
    references=("vLLM envs.py VLLM_CPU_KVCACHE_SPACE",),
    needs=frozenset({"engines"}),
    check=check_cpu_cache,
)

_TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_SHAPE = re.compile(r"\d{1,4}(x\d{1,4}){1,2}")


def check_slices(view: View) -> Iterator[Outcome]:
    """RES016: chips that a TPU slice of that shape does not have."""
    for template in view.templates:
        shape = template.node.at("spec", "nodeSelector").texts().get(_TOPOLOGY, "")
        if not _SHAPE.fullmatch(shape):
            continue
        chips = prod(int(part) for part in shape.split("x"))
        for container in template.containers:
            node = counts(container).get(TPU)
            count = whole(node.value) if node else None
            size = template.workload.group_size
            if node is None or not count or not size or count * size == chips:
                continue
            pods = (
                f"a group of {size} pods asks for {count * size}" if size > 1 else f"{container.name} asks for {count}"
            )
            yield Hit(
                node.place,
                f"{template.lead}a TPU slice of {shape} has {chips} chips, {pods}",
                evidence=(seen(f"the topology is {shape}", template.at("spec", "nodeSelector", MapKey(_TOPOLOGY))),),
                fix=f"make all pods of the slice together ask for {chips}, or use another topology",
            )


RES016 = Rule(
    code="RES016",
    severity=Severity.WARNING,
    title="the chips asked for are not those of the TPU slice",
    why="GKE schedules a pod only where all chips of a node are asked for, and a slice works only as a whole",
    fix="make google.com/tpu x pods the product of the topology",
    references=("GKE: TPU topologies", "llm-d guides, TPU overlays"),
    needs=frozenset({"workloads"}),
    # Chips that the slice lacks are also devices without a rank.
    implies=("PAR001",),
    check=check_slices,
)

_GRACE = 30


def check_grace(view: View) -> Iterator[Outcome]:
    """RES019: a pod is killed before its engine may have finished."""
    for template, engine in _engines(view):
        timeout = engine.integer(0, "shutdown-timeout") if engine.engine == VLLM else 0
        stop = engine.container.node.at("lifecycle", "preStop")
        wait = stop.at("sleep", "seconds").integer() or _sleep(stop.at("exec", "command").strings() or [])
        node = template.node.at("spec", "terminationGracePeriodSeconds")
        grace = node.integer() if node.exists else _GRACE
        if timeout is None:
            yield Skip("the shutdown timeout is only known in the running pod", engine.place)
        elif grace is not None and timeout + wait > grace and (timeout or wait):
            yield Hit(
                node.place if node.exists else template.at("spec"),
                f"{template.lead}the pod is killed after {grace} s; {wait} s before SIGTERM and {timeout} s to finish "
                f"are {wait + timeout} s",
                fix=f"make terminationGracePeriodSeconds {wait + timeout + 15}",
            )


def _sleep(command: list[str]) -> int:
    """The seconds of a preStop command that is a plain sleep; 0 for anything else."""
    words = command[-1].split() if len(command) == 3 and command[1] == "-c" else command
    value = to_integer(words[1]) if len(words) == 2 and words[0].rpartition("/")[2] == "sleep" else None
    return value or 0


RES019 = Rule(
    code="RES019",
    severity=Severity.WARNING,
    title="the grace period ends before the engine has finished its requests",
    why="the kubelet counts the preStop hook too: when the period is over, running requests are cut off by SIGKILL",
    fix="terminationGracePeriodSeconds: the wait before SIGTERM + --shutdown-timeout + 15",
    references=("llm-d guides, graceful shutdown component", "Kubernetes pod lifecycle"),
    needs=frozenset({"engines"}),
    check=check_grace,
)

_LOADING = 300


def check_startup(view: View) -> Iterator[Outcome]:
    """RES020: probes that end an engine while it loads its model."""
    for template, engine in _engines(view):
        startup, liveness = (engine.container.node.at(name) for name in ("startupProbe", "livenessProbe"))
        probe = startup if startup.exists else liveness
        if engine.engine == "sim" or not isinstance(probe.value, dict):
            continue
        budget = _budget(probe)
        if budget is not None and budget < _LOADING:
            what = "startupProbe" if startup.exists else "livenessProbe, with no startupProbe before it,"
            yield Hit(
                probe.place,
                f"{template.lead}the {what} restarts {engine.container.name} after {budget} s without an answer",
                fix="add a startupProbe of an hour: periodSeconds 30, failureThreshold 120",
            )


def _budget(probe: Node) -> int | None:
    numbers = []
    for key, default in (("initialDelaySeconds", 0), ("periodSeconds", 10), ("failureThreshold", 3)):
        node = probe.at(key)
        # Zero reads as not given.
        value = (node.integer() or default) if node.exists else default
        if node.exists and node.integer() is None:
            return None
        numbers.append(value)
    return numbers[0] + numbers[1] * numbers[2]


RES020 = Rule(
    code="RES020",
    severity=Severity.WARNING,
    title="probes restart an engine before it can have loaded its model",
    why=(
        "an engine answers only when the weights are loaded and its graphs are captured, which takes minutes: a "
        "container that is restarted earlier starts over, again and again"
    ),
    fix="give the startup probe the time of the slowest download and load; the others begin after it",
    references=("llm-d guides, model server base", "Kubernetes probes"),
    needs=frozenset({"engines"}),
    check=check_startup,
)

RES_RULES: Iterable[Rule] = (RES001, RES003, RES010, RES013, RES016, RES019, RES020)
