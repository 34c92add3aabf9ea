"""KV-cache events: engines publish which blocks they hold, and the router matches prompts against that.

Everything that both sides must agree on comes from here: block size, topic, ports, model name, and where prompts are
tokenised. Sources: llm-d guide precise-prefix-cache-routing, llm-d-router preciseprefixcache and pkg/kvevents,
llm-d-router#2233, vllm 0.30 distributed/kv_events.py (a rank's port is the base plus its number in the whole group).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmdctl.catalog.model import Engine, EngineEvents, KvEvents
from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.manifest.typed import dump
from llmdctl.plan.images import ImageResolver
from llmdctl.plan.model import Balancing, ModelPlan, ParallelismPlan, RenderPlan, RenderServerPlan, RolePlan
from llmdctl.plan.pods import CACHE_MOUNT, CACHE_VOLUME
from llmdctl.plan.ranks import container_ports
from llmdctl.plan.transfer import POD_IP

PORT_NAME = "kv-events"
TOPIC_MARK = "@"
TOPIC_PREFIX = f"kv{TOPIC_MARK}"

BLOCK_SIZE_TOKENS_SINCE = (0, 10)
"""Router whose precise-prefix-cache-producer calls the block size blockSizeTokens; before, it was blockSize."""

RANKS_SINCE = (0, 10)
"""Router that indexes an event under the endpoint it was read from; before, under the topic, which ranks share."""

HASH_ALGORITHM_SINCE = (0, 11)
"""Router that takes tokenProcessorConfig.hashAlgorithm."""

DEFAULT_HOLDERS = 10
"""podCacheSize of the router's index: holders of one block that it remembers."""

HOLDERS_PER_ENDPOINT = 2
"""What the engine reported, and what the router assumes of a prompt that it has just sent (speculativeIndexing)."""

LAST_PORT = 65535

COMPONENT = "app.kubernetes.io/component"
RENDER_COMPONENT = "vllm-render"


@frozen
class Events:
    """What publishing events adds to the engines of a role."""

    args: dict[str, Any]
    env: list[dict[str, Any]]
    ports: list[dict[str, Any]]


def plan_events(
    settings: KvEvents, engine: Engine, version: str, model: ModelPlan, parallelism: ParallelismPlan, serving_port: int
) -> Events:
    """Flags, environment and ports of an engine that publishes its KV-cache events.

    Raises UserError for an engine that cannot, for ranks whose events the router would not find, for a name that does
    not fit into a topic, and for ports that are taken.
    """
    own = _of_engine(engine)
    _check_ranks(parallelism)
    if TOPIC_MARK in model.served_name:
        raise UserError(
            f"spec.model.servedName: {model.served_name!r} holds a {TOPIC_MARK}",
            why="topics of KV events are split there, so the router would not find the model in them",
            fix="set spec.model.servedName to a name without it",
            about=["spec.model.servedName", "spec.model.id"],
        )
    # Routers before RANKS_SINCE tell endpoints apart by this address: the pod's, at the port that the pool lists.
    config = {
        "publisher": "zmq",
        "endpoint": f"tcp://*:{settings.port}",
        "topic": f"{TOPIC_PREFIX}$(POD_IP):{serving_port}{TOPIC_MARK}{model.served_name}",
    }
    args: dict[str, Any] = {own.block_flag: settings.block_size, **own.args, own.config_flag: {**own.config, **config}}
    known = Version.parse(version)
    for since, more in own.args_since.items():
        bound = Version.parse(since)
        if known is None or bound is None or known >= bound:
            args.update(more)
    count = parallelism.data_local
    names = [PORT_NAME] if count == 1 else [f"{PORT_NAME}{rank}" for rank in range(count)]
    numbers = list(range(settings.port, settings.port + count))
    _check_ports(numbers, serving_port, parallelism)
    ports = [
        {"name": name, "containerPort": number, "protocol": "TCP"} for name, number in zip(names, numbers, strict=True)
    ]
    return Events(args, [{"name": "POD_IP", "valueFrom": POD_IP}], ports)


def _of_engine(engine: Engine) -> EngineEvents:
    if engine.kv_events is None:
        raise UserError(
            f"spec.engine: {engine.name} publishes no KV events that llmdctl knows",
            fix="use an engine whose catalog entry has kvEvents, such as vllm or sglang",
            about=["spec.engine", "spec.guide"],
        )
    return engine.kv_events


def _check_ranks(parallelism: ParallelismPlan) -> None:
    where = "spec.roles.decode.parallelism"
    if parallelism.pods > 1:
        raise UserError(
            f"{where}: KV events of a group of pods are not supported yet by this guide",
            why="a rank's port follows its number in the whole group, so it would differ from pod to pod",
            fix="make data equal dataLocal",
        )
    if parallelism.data_local > 1 and parallelism.balancing != Balancing.PER_RANK:
        raise UserError(
            f"{where}.loadBalancing: KV events of ranks behind one port are not supported yet by this guide",
            why="the router reads the events of one rank for each port of the pool, so it would know only the first",
            fix="set loadBalancing: perRank",
        )


def _check_ports(ports: list[int], serving_port: int, parallelism: ParallelismPlan) -> None:
    taken = {port["containerPort"]: port["name"] for port in container_ports("modelserver", serving_port, parallelism)}
    for port in ports:
        if port in taken:
            raise UserError(
                f"kvEvents.port {ports[0]} of the guide: port {port} is taken by {taken[port]}",
                fix="choose another port, with as many free ones behind it as a pod has ranks",
                about=["spec.roles.decode.parallelism.dataLocal", "spec.guide"],
            )
    if ports[-1] > LAST_PORT:
        raise UserError(
            f"kvEvents.port {ports[0]} of the guide: {len(ports)} ranks would end at port {ports[-1]}",
            fix=f"choose one so that the last is at most {LAST_PORT}",
            about=["spec.roles.decode.parallelism.dataLocal", "spec.guide"],
        )


def plugin_parameters(
    settings: KvEvents, engine: Engine, model: ModelPlan, render: RenderPlan, router_version: str,
    roles: Sequence[RolePlan],
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Plugin type -> parameters that must agree with the engines; they are laid over those of the guide.

    Raises UserError for a router that cannot tell the ranks of a pod apart.
    """
    known = Version.parse(router_version)
    if known is not None and not known.at_least(*RANKS_SINCE) and any(len(role.serving_ports) > 1 for role in roles):
        raise UserError(
            f"spec.roles.decode.parallelism.dataLocal: this release has router {router_version}, which takes the "
            "events of all ranks of a pod for the first one's",
            why="the router tells ranks apart since "
            f"{'.'.join(map(str, RANKS_SINCE))} (llm-d-router#2233); the others would look empty",
            fix="choose a newer release, or one rank a pod",
            about=["spec.roles.decode.parallelism.dataLocal", "spec.roles.decode.parallelism.data", "spec.release"],
        )
    renamed = known is None or known.at_least(*BLOCK_SIZE_TOKENS_SINCE)
    tokens: dict[str, Any] = {"blockSizeTokens" if renamed else "blockSize": settings.block_size}
    events: dict[str, Any] = {
        "topicFilter": TOPIC_PREFIX,
        "discoverPods": True,
        "podDiscoveryConfig": {"socketPort": settings.port},
    }
    own = _of_engine(engine)
    if own.type:
        events["engineType"] = own.type
    if own.hash_algorithm and (known is None or known.at_least(*HASH_ALGORITHM_SINCE)):
        tokens["hashAlgorithm"] = own.hash_algorithm
    producer: dict[str, Any] = {"tokenProcessorConfig": tokens, "kvEventsConfig": events}
    holders = HOLDERS_PER_ENDPOINT * sum(role.replicas * len(role.serving_ports) for role in roles)
    if holders > DEFAULT_HOLDERS:
        producer["indexerConfig"] = {"kvBlockIndexConfig": {"inMemoryConfig": {"podCacheSize": holders}}}
    return {
        "token-producer": {"modelName": model.served_name, "vllm": {"url": f"http://{render.name}:{render.port}"}},
        "precise-prefix-cache-producer": producer,
    }


def plan_render(
    settings: KvEvents, engine: Engine, images: ImageResolver, model: ModelPlan, stack: str,
    serving: dict[str, Any], labels: dict[str, Any], role: RolePlan,
) -> RenderPlan:  # fmt: skip
    """The Service that tokenises prompts: the engines themselves where they can, else servers of its own.

    `serving` selects the engines' pods. `role` is theirs: servers of its own reach the model as it does.
    """
    name = f"{stack}-render"
    if _of_engine(engine).tokenises:
        return RenderPlan(
            name=name,
            port=settings.render_port,
            target_port=role.serving_port,
            selector=serving,
            labels=labels,
            server=None,
        )
    # Pods of its own must not carry the pool's labels, or the router would send them prompts.
    selector = {"app.kubernetes.io/instance": stack, COMPONENT: RENDER_COMPONENT}
    image = images.resolve("vllm-render", ("render", "image"))
    server = RenderServerPlan(
        replicas=settings.render_replicas,
        image=image,
        command=["vllm", "launch", "render"],
        args=_render_args(model, settings.render_port),
        env=[item for item in role.container.env if item["name"].startswith("HF_")],
        resources=dump(settings.render_resources),
        readiness_probe={
            "httpGet": {"path": "/health", "port": "http"},
            "initialDelaySeconds": 30,
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 60,
        },
        volumes=[_model_volume(model, role)],
        volume_mounts=[{"name": CACHE_VOLUME, "mountPath": CACHE_MOUNT}],
    )
    return RenderPlan(
        name=name,
        port=settings.render_port,
        target_port=settings.render_port,
        selector=selector,
        labels={**labels, **selector},
        server=server,
    )


def _render_args(model: ModelPlan, port: int) -> list[str]:
    """The command takes the flags of `vllm serve`; the router asks for the served name, and another is a 404."""
    args = [model.argument]
    if model.revision:
        args.append(f"--revision={model.revision}")
    if model.served_name != model.argument:
        args.append(f"--served-model-name={model.served_name}")
    return [*args, f"--port={port}"]


def _model_volume(model: ModelPlan, role: RolePlan) -> dict[str, Any]:
    """Files of a local model are where the engines have them; a tokenizer from the hub is a few megabytes."""
    if model.source == "local":
        return next(volume for volume in role.pod.volumes if volume["name"] == CACHE_VOLUME)
    return {"name": CACHE_VOLUME, "emptyDir": {}}
