"""KV-cache events: engines publish which blocks they hold, and the router matches prompts against that.

Everything that both sides must agree on comes from here: block size, topic, ports, model name, and where prompts are
tokenised. Sources: llm-d guide precise-prefix-cache-routing, llm-d-router preciseprefixcache, vllm 0.30
distributed/kv_events.py (a rank's port is the base plus its number in the whole group).
"""

from __future__ import annotations

from typing import Any

from llmdctl.catalog.model import Engine, KvEvents
from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.manifest.typed import dump
from llmdctl.plan.images import ImageResolver
from llmdctl.plan.model import ModelPlan, ParallelismPlan, RenderPlan, RenderServerPlan
from llmdctl.plan.transfer import POD_IP

PORT_NAME = "kv-events"
TOPIC_PREFIX = "kv@"

BLOCK_SIZE_TOKENS_SINCE = (0, 10)
"""Router whose precise-prefix-cache-producer calls the block size blockSizeTokens; before, it was blockSize."""

SCALE_OUT_SINCE = (0, 30)
"""vLLM that serves /v1/*/render only with --enable-scale-out."""

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

    Raises UserError for an engine that cannot, and for groups of pods, whose ports would depend on the pod.
    """
    if parallelism.pods > 1:
        raise UserError(
            "spec.roles.decode.parallelism: KV events of a group of pods are not supported yet by this guide",
            why="a rank's port follows its number in the whole group, so it would differ from pod to pod",
            fix="make data equal dataLocal",
        )
    # The router tells endpoints apart by the address in the topic: this pod, at the port that the pool lists.
    config = {
        "publisher": "zmq",
        "endpoint": f"tcp://*:{settings.port}",
        "topic": f"{TOPIC_PREFIX}$(POD_IP):{serving_port}@{model.served_name}",
    }
    if engine.name == "vllm":
        args: dict[str, Any] = {
            "block-size": settings.block_size,
            "kv-events-config": {"enable_kv_cache_events": True, **config},
        }
        known = Version.parse(version)
        if known is None or known.at_least(*SCALE_OUT_SINCE):
            args["enable-scale-out"] = True
    elif engine.name == "sglang":
        args = {"page-size": settings.block_size, "kv-events-config": config}
    else:
        raise UserError(
            f"spec.engine: {engine.name} publishes no KV events that llmdctl knows", fix="use vllm or sglang"
        )
    count = parallelism.data_local if engine.name == "vllm" else 1
    names = [PORT_NAME] if count == 1 else [f"{PORT_NAME}{rank}" for rank in range(count)]
    ports = [
        {"name": name, "containerPort": settings.port + rank, "protocol": "TCP"} for rank, name in enumerate(names)
    ]
    return Events(args, [{"name": "POD_IP", "valueFrom": POD_IP}], ports)


def plugin_parameters(
    settings: KvEvents, engine: Engine, model: ModelPlan, render: RenderPlan, router_version: str
) -> dict[str, dict[str, Any]]:
    """Plugin type -> parameters that must agree with the engines; they are laid over those of the guide."""
    known = Version.parse(router_version)
    renamed = known is None or known.at_least(*BLOCK_SIZE_TOKENS_SINCE)
    tokens: dict[str, Any] = {"blockSizeTokens" if renamed else "blockSize": settings.block_size}
    events: dict[str, Any] = {
        "topicFilter": TOPIC_PREFIX,
        "discoverPods": True,
        "podDiscoveryConfig": {"socketPort": settings.port},
    }
    if engine.name == "sglang":
        events["engineType"] = "sglang"
        if known is None or known.at_least(0, 11):
            tokens["hashAlgorithm"] = "xxh64"
    return {
        "token-producer": {"modelName": model.served_name, "vllm": {"url": f"http://{render.name}:{render.port}"}},
        "precise-prefix-cache-producer": {"tokenProcessorConfig": tokens, "kvEventsConfig": events},
    }


def plan_render(
    settings: KvEvents, engine: Engine, images: ImageResolver, model: ModelPlan, stack: str,
    serving: dict[str, Any], labels: dict[str, Any], env: list[dict[str, Any]],
) -> RenderPlan:  # fmt: skip
    """The Service that tokenises prompts: the engines themselves for vLLM, else servers of its own.

    `serving` selects the engines' pods, `env` gives access to the model's tokenizer.
    """
    name = f"{stack}-render"
    if engine.name == "vllm":
        return RenderPlan(name=name, port=settings.render_port, selector=serving, labels=labels, server=None)
    # Pods of its own must not carry the pool's labels, or the router would send them prompts.
    selector = {"app.kubernetes.io/instance": stack, COMPONENT: RENDER_COMPONENT}
    image = images.resolve("vllm-render", ("render", "image"))
    server = RenderServerPlan(
        replicas=settings.render_replicas,
        image=image,
        command=["vllm", "launch", "render"],
        args=[model.argument, f"--port={settings.render_port}"],
        env=env,
        resources=dump(settings.render_resources),
        readiness_probe={
            "httpGet": {"path": "/health", "port": "http"},
            "initialDelaySeconds": 30,
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 60,
        },
    )
    return RenderPlan(
        name=name, port=settings.render_port, selector=selector, labels={**labels, **selector}, server=server
    )
