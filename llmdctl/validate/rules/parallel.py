"""PAR: ranks against the devices of a pod and the pods of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Hit, Outcome, Place, Rule, Severity, Skip
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.grouping import GROUP_RULES
from llmdctl.view import Accelerators, EngineCommand, PodTemplate, View, Workload
from llmdctl.view.devices import counts
from llmdctl.view.engine import SGLANG, VLLM
from llmdctl.view.ranks import World, data_parallel, local_data_parallel, number, uses_ray, world
from llmdctl.view.versions import split_image

_GROUPS = ("LeaderWorkerSet", "DisaggregatedSet")
_TP = ("tensor-parallel-size", "tp-size", "tp", "tensor_parallel_size", "tp_size")
_DP = ("data-parallel-size", "dp-size", "dp")
_LOCAL = ("data-parallel-size-local", "dpl")
_RAY_WORDS = ("ray start", "multi-node-serving", "ray_init")


def check_devices(view: View) -> Iterator[Outcome]:
    """PAR001: an engine starts more or fewer ranks than its container gets devices."""
    for template in view.templates:
        for engine in template.engines:
            ranks = world(engine)
            if ranks is None:
                continue
            has = view.devices.accelerators(template, engine.container)
            if has is None:
                yield from _without(view, template, engine, ranks)
            else:
                yield from _compare(template, engine, ranks, has)


# Extended resources that are network interfaces; any other may be an accelerator under a name of its own.
_NO_DEVICES = ("rdma/", "vpc.amazonaws.com/efa", "amd.com/vnic", "nvidia.com/sriov", "networking.gke.io")
# Images of engines that do nothing without an accelerator.
_DEVICE_IMAGES = (
    "vllm-openai",
    "vllm-openai-rocm",
    "vllm-openai-xpu",
    "vllm-tpu",
    "sglang",
    "llm-d-cuda",
    "llm-d-rocm",
)


def _without(view: View, template: PodTemplate, engine: EngineCommand, ranks: World) -> Iterator[Outcome]:
    """A container that asks for no device: an overlay's base, a CPU engine, or a forgotten request."""
    container = engine.container
    spec = template.node.at("spec")
    shown = "NVIDIA_VISIBLE_DEVICES" in container.env or spec.at("runtimeClassName").exists
    privileged = container.node.at("securityContext", "privileged").truth()
    unknown = any(not key.startswith(_NO_DEVICES) for key in counts(container))
    if view.complete and split_image(container.image)[0] in _DEVICE_IMAGES and not (shown or privileged or unknown):
        yield Hit(
            container.at("resources"),
            f"{template.lead}{container.name} runs {engine.engine} on accelerators and asks for none",
            why="the pod may be placed on any node, and no device is given to it: the engine ends at start",
            fix="ask for the devices in resources.limits, or claim them",
            severity=Severity.WARNING,
        )
    elif ranks.ranks > 1 and "cpu" not in container.image:
        yield Skip("the container asks for no accelerator: what it runs on is not known", engine.place)


def _compare(template: PodTemplate, engine: EngineCommand, ranks: World, has: Accelerators) -> Iterator[Outcome]:
    place = _place(engine)
    if has.high is None:
        yield Skip(has.reason, place)
        return
    if _is_spread(engine, template, has):
        if ranks.ranks > has.high * (template.workload.group_size or 1) and template.workload.kind in _GROUPS:
            yield _too_few(template, ranks, has, place, "all pods of a group together get")
        else:
            yield Skip("the ranks are spread over pods by other means than the engine's flags", place)
    elif ranks.ranks > has.high:
        yield _too_few(template, ranks, has, place, "the container gets")
    elif not ranks.sure and ranks.ranks != has.high:
        yield Skip("how many ranks the engine starts is only known in the running pod", place)
    elif ranks.ranks < has.low and "CUDA_VISIBLE_DEVICES" not in engine.container.env:
        yield Hit(
            has.place,
            f"{template.lead}the engine uses {ranks.ranks} of {has.low} devices ({has.what})",
            why="the other devices are taken from the node and do nothing",
            fix=f"ask for {ranks.ranks}, or raise the parallelism to {has.low} ranks in this pod",
            evidence=(seen(f"the engine starts {ranks.formula}", place),),
            severity=Severity.WARNING,
        )


def _too_few(template: PodTemplate, ranks: World, has: Accelerators, place: Place, who: str) -> Hit:
    return Hit(
        place,
        f"{template.lead}the engine starts {ranks.ranks} ranks ({ranks.formula}), {who} {has.what}",
        fix=f"give the container {ranks.ranks} devices, or lower the parallelism",
        evidence=(seen(f"the devices are {has.what}", has.place),),
    )


def _is_spread(engine: EngineCommand, template: PodTemplate, has: Accelerators) -> bool:
    """True when Ray, or the TPU runtime, places ranks of one engine on several pods."""
    if uses_ray(engine) or (engine.option("nnodes") is None and "google.com/tpu" in has.what):
        return uses_ray(engine) or (template.workload.group_size or 1) > 1
    words = (*engine.container.command, *engine.container.args)
    return any(mark in word for word in words for mark in _RAY_WORDS)


def _place(engine: EngineCommand) -> Place:
    for names in (_TP, _LOCAL, _DP):
        if engine.option(*names) is not None:
            return engine.place_of(*names)
    return engine.place


PAR001 = Rule(
    code="PAR001",
    severity=Severity.ERROR,
    title="an engine's parallelism does not fit the accelerators of its container",
    why=(
        "each rank (tensor x pipeline x local data parallel) takes one device, where a TPU7x chip counts as two; with "
        "too few the engine ends at start"
    ),
    fix="make the product of the parallel sizes in a pod the number of its devices",
    references=("vLLM config/parallel.py", "llm-d guides/*/README.tpu.md"),
    needs=frozenset({"engines"}),
    check=check_devices,
)


def check_data_parallel(view: View) -> Iterator[Outcome]:
    """PAR002: the pods of a group don't hold each data-parallel rank exactly once."""
    for workload in view.workloads:
        members = [(item, item.engine) for item in workload.templates if item.engine is not None]
        first = next((engine for _, engine in members if engine), None)
        if first is None or first.engine != VLLM or uses_ray(first):
            continue
        if workload.kind in _GROUPS:
            yield from _check_group(workload, first)
        else:
            yield from _check_alone(workload, first)


def _check_group(workload: Workload, first: EngineCommand) -> Iterator[Outcome]:
    total, size = data_parallel(first), workload.group_size
    if total is None or size is None or size < 1:
        yield Skip("the number of data-parallel ranks is only known in the running pod", first.place_of(*_DP))
        return
    if total < 2 or first.option("nnodes") is not None:
        return
    held = 0
    for template in workload.templates:
        engine = template.engine
        local = local_data_parallel(engine) if engine else None
        if engine is None or local is None:
            yield Skip("the local data-parallel ranks are only known in the running pod", template.place)
            return
        pods = _pods(template, size)
        if local == total and engine.option(*_LOCAL) is None and size > 1:
            yield Hit(
                engine.place_of(*_DP),
                f"{template.lead}each of {size} pods starts all {total} data-parallel ranks",
                fix=f"add --data-parallel-size-local={total // size or 1}",
                why="without --data-parallel-size-local an engine starts every rank in its own pod",
            )
            return
        held += local * len(pods)
        yield from _check_ranks(template, engine, pods, local)
    if held != total:
        yield Hit(
            first.place_of(*_DP),
            f"{_lead(workload)}data parallel is {total}, and a group of {size} pods holds {held} ranks",
            fix=f"make --data-parallel-size {held}: the group's pods x --data-parallel-size-local, or change the size",
            evidence=(seen(f"a group has {size} pods", workload.at("spec", "leaderWorkerTemplate", "size")),),
        )


def _pods(template: PodTemplate, size: int) -> range:
    if template.part == "leader":
        return range(1)
    return range(1, size) if template.part == "worker" else range(size)


def _check_ranks(template: PodTemplate, engine: EngineCommand, pods: range, local: int) -> Iterator[Outcome]:
    name = next((item for item in ("data-parallel-start-rank", "data-parallel-rank") if engine.option(item)), None)
    if name is None:
        if len(pods) and pods[-1] > 0 and not engine.is_open:
            yield Hit(
                engine.place,
                f"{template.lead}the pods of a group don't tell their engines which ranks they hold",
                why="every pod starts with rank 0: the ranks never find each other",
                fix=f"add --data-parallel-start-rank=$((LWS_WORKER_INDEX * {local})) through a shell",
            )
        return
    for index in pods[:64]:
        found = number(engine, 0, name, index=index)
        if found is None:
            yield Skip("a pod's first data-parallel rank is only known in the running pod", engine.place_of(name))
            return
        if found != index * local:
            yield Hit(
                engine.place_of(name),
                f"{template.lead}pod {index} of a group starts at rank {found}; {index} x {local} local ranks is "
                f"{index * local}",
                fix=f"make it $((LWS_WORKER_INDEX * {local}))",
            )
            return


def _check_alone(workload: Workload, engine: EngineCommand) -> Iterator[Outcome]:
    """Without a group, ranks of other pods can only come through an address that the engine is told."""
    total, local = data_parallel(engine), local_data_parallel(engine)
    told = ("data-parallel-address", "dpa", "data-parallel-rank", "dpn", "nnodes", "master-addr", "config")
    if total is None or not local or total <= local or engine.is_open or any(engine.option(name) for name in told):
        return
    yield Hit(
        engine.place_of(*_LOCAL),
        f"{_lead(workload)}data parallel is {total}, the pod holds {local} ranks, and no address tells of other pods",
        fix="use a LeaderWorkerSet and --data-parallel-address=$(LWS_LEADER_ADDRESS), or make both sizes equal",
    )


def _lead(workload: Workload) -> str:
    return f"roles[{workload.role_name}] " if workload.role_name else ""


PAR002 = Rule(
    code="PAR002",
    severity=Severity.ERROR,
    title="the pods of a group do not hold each data-parallel rank once",
    why=(
        "vLLM waits at start until every data-parallel rank has joined: with ranks missing or twice there, all pods of "
        "the group hang until their startup probe fails"
    ),
    fix="make --data-parallel-size the group's pods x --data-parallel-size-local, each pod starting at index x local",
    references=("vLLM engine/arg_utils.py, config/parallel.py", "llm-d guides/wide-ep"),
    needs=frozenset({"engines"}),
    check=check_data_parallel,
)


def check_nodes(view: View) -> Iterator[Outcome]:
    """PAR005: an engine is told of more or fewer pods than its group has."""
    for workload in view.workloads:
        size = workload.group_size
        if workload.kind not in _GROUPS or size is None:
            continue
        for template in workload.templates:
            for engine in template.engines:
                if engine.engine in (VLLM, SGLANG):
                    yield from _check_nodes(workload, template, engine, size)


def _check_nodes(workload: Workload, template: PodTemplate, engine: EngineCommand, size: int) -> Iterator[Outcome]:
    told = number(engine, None, "nnodes")
    if engine.option("nnodes") is None:
        return
    if told is None:
        yield Skip("the number of nodes is only known in the running pod", engine.place_of("nnodes"))
        return
    if told != size:
        yield Hit(
            engine.place_of("nnodes"),
            f"{template.lead}the engine waits for {told} nodes, a group has {size} pods",
            fix="make it --nnodes=$(LWS_GROUP_SIZE)",
            evidence=(seen(f"a group has {size} pods", workload.at("spec", "leaderWorkerTemplate", "size")),),
        )
        return
    address = ("dist-init-addr", "nccl-init-addr") if engine.engine == SGLANG else ("master-addr",)
    missing = [f"--{names[0]}" for names in (address, ("node-rank",)) if engine.option(*names) is None]
    if told > 1 and missing and not engine.is_open and not (missing == ["--node-rank"] and template.part == "leader"):
        yield Hit(
            engine.place_of("nnodes"),
            f"{template.lead}the engine runs on {told} nodes and lacks {' and '.join(missing)}",
            fix="give every pod the leader's address and its own index (LWS_LEADER_ADDRESS, LWS_WORKER_INDEX)",
        )


PAR005 = Rule(
    code="PAR005",
    severity=Severity.ERROR,
    title="an engine of several nodes does not fit its group of pods",
    why="the nodes meet at the leader's address before they load the model: with one missing, all of them hang",
    fix="make --nnodes the size of the group; let every pod know the leader's address and its own index",
    references=("SGLang server_args.py", "vLLM config/parallel.py"),
    needs=frozenset({"engines"}),
    check=check_nodes,
)

PAR_RULES: Iterable[Rule] = (PAR001, PAR002, PAR005, *GROUP_RULES)
