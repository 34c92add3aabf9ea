"""Deriving the router: endpoint picker, its config, and the proxy or Gateway in front."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from llmdctl.catalog.model import Engine
from llmdctl.findings import UserError
from llmdctl.manifest.typed import dump
from llmdctl.plan.images import ImageResolver
from llmdctl.plan.merge import item_key, merge
from llmdctl.plan.model import GatewayPlan, ImagePlan, OwnGatewayPlan, PolicyPlan, ProxyPlan, RolePlan, RouterPlan
from llmdctl.plan.origin import Ledger, formula
from llmdctl.plan.resolve import Resolved
from llmdctl.router.config import KIND, V1
from llmdctl.router.config import dump as dump_config
from llmdctl.router.config import load as load_config
from llmdctl.router.lifetimes import misfits
from llmdctl.spec.model import Gateway, Proxy, Resources, Router

GRPC_PORT = 9002
HEALTH_PORT = 9003
METRICS_PORT = 9090
PROXY_PORT = 8081
PROXY_READY_PORT = 19001
PROXY_ADMIN_PORT = 19000
CONFIG_FILE = "epp-config.yaml"
COMPONENT = "app.kubernetes.io/component"
POOL_GROUP = "inference.networking.k8s.io"
PROXY_IDLE_SECONDS = 60
"""How long the proxy keeps idle connections at most."""

SHARED_GATEWAY = "llm-d-inference-gateway"
"""The Gateway that llm-d's guides make once for all of them (llm-d-router charts, read 2026-08)."""

EXT_PROC_SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor"


def plan_router(
    resolved: Resolved,
    images: ImageResolver,
    stack: str,
    namespace: str,
    labels: dict[str, Any],
    extra: dict[str, Any],
    roles: Sequence[RolePlan],
    parameters: dict[str, dict[str, Any]],
    image: ImagePlan,
) -> RouterPlan:
    """The router of a stack. `extra` is what contributions add: `plugins`, `routeTimeouts`,
    `policies`. `roles` are planned already. `parameters` are what plugins must agree with the
    engines on, by plugin type; `image` is the endpoint picker's.

    Raises UserError for a bad config.
    """
    spec, ledger = resolved.stack.spec, resolved.ledger
    wanted = spec.router or Router()
    name = f"{stack}-epp"
    standalone = wanted.mode == "standalone"
    replicas = wanted.replicas or 1
    _note(ledger)
    elected = replicas > 1
    monitored = bool(spec.monitoring and spec.monitoring.enabled)
    return RouterPlan(
        name=name,
        host=f"{name}.{namespace}.svc.cluster.local",
        # 0s leaves the end of a request to the engine: answers stream for minutes.
        route_timeouts=None if extra.get("routeTimeouts") is False else {"request": "0s"},
        labels={**labels, COMPONENT: "endpoint-picker"},
        selector={"app.kubernetes.io/instance": stack, COMPONENT: "endpoint-picker"},
        mode=str(wanted.mode),
        replicas=replicas,
        leader_election={"leases": True} if elected else None,
        failure_mode=str(wanted.failure_mode),
        image=image,
        args=_picker_args(stack, namespace, elected=elected, monitored=monitored),
        resources=plain_resources(wanted.resources),
        security_context=_closed(),
        config_file=CONFIG_FILE,
        config=_config(
            _scraping(resolved.selection.router_config(image.version), resolved.selection.engine.metrics_path),
            wanted,
            image,
            extra["plugins"],
            parameters,
        ),
        grpc_port=GRPC_PORT,
        health_port=HEALTH_PORT,
        metrics_port=METRICS_PORT,
        # With leader election a standby is alive but not ready; without it, one answer serves both probes.
        liveness_service="liveness" if elected else EXT_PROC_SERVICE,
        readiness_service="readiness" if elected else EXT_PROC_SERVICE,
        service_ports=_service_ports(standalone=standalone),
        image_pull_secrets=spec.pod.image_pull_secrets if spec.pod else None,
        proxy=_proxy(wanted, images, stack, _idle_seconds(resolved.selection.engine, roles)) if standalone else None,
        gateway=None if standalone else GatewayPlan(name=_gateway_name(wanted, stack)),
        own_gateway=_own_gateway(wanted, stack) if not standalone else None,
        policies=[] if standalone else _policies(extra.get("policies", []), stack, roles[0].serving_port),
    )


def _policies(wanted: list[dict[str, Any]], stack: str, pool_port: int) -> list[PolicyPlan]:
    """Each policy with the pool as its target, and the pool's port where it asks for it."""
    target = {"group": POOL_GROUP, "kind": "InferencePool", "name": stack}
    out = []
    for policy in wanted:
        default = copy.deepcopy(policy["default"])
        *steps, last = policy.get("portField", "").split(".")
        if last:
            place = default
            for step in steps:
                place = place.setdefault(step, {})
            place[last] = pool_port
        spec = {"default": default, "targetRef": target}
        out.append(PolicyPlan(api_version=policy["apiVersion"], kind=policy["kind"], name=stack, spec=spec))
    return out


def _note(ledger: Ledger) -> None:
    ledger.note(("router",), formula("derived from spec.router and the guide"))
    ledger.note(("router", "name"), formula("<stack>-epp"))
    ledger.note(
        ("router", "config"), formula("the guide's routerConfig, or spec.router.config, in the image's version")
    )
    ledger.note(("router", "args"), formula("the pool, the config file, and what replicas and monitoring ask for"))
    ledger.note(("router", "replicas"), ledger.of(("spec", "router", "replicas")))
    ledger.note(("router", "resources"), formula("spec.router.resources"))
    ledger.note(("router", "proxy"), formula("standalone mode brings its own proxy"))
    ledger.note(
        ("router", "gateway"), formula("<stack>-gateway where the stack renders it, else the one of llm-d's guides")
    )
    ledger.note(("router", "proxy", "idleTimeout"), formula("less than the engines keep idle connections"))
    ledger.note(("router", "leaderElection"), formula("more than one replica: plugin state is per process"))


def plain_resources(wanted: Resources | None) -> dict[str, Any]:
    """Requests and limits as strings; null entries are gone."""
    out: dict[str, Any] = {}
    for side, values in (dump(wanted) if wanted else {}).items():
        kept = {name: str(amount) for name, amount in values.items() if amount is not None}
        if kept:
            out[side] = kept
    return out


def _closed() -> dict[str, Any]:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _picker_args(stack: str, namespace: str, *, elected: bool, monitored: bool) -> list[str]:
    args = [
        f"--pool-name={stack}",
        f"--pool-namespace={namespace}",
        f"--config-file=/config/{CONFIG_FILE}",
        f"--grpc-port={GRPC_PORT}",
        f"--grpc-health-port={HEALTH_PORT}",
        f"--metrics-port={METRICS_PORT}",
        "--zap-encoder=json",
        "--v=2",
        "--tracing=false",
    ]
    if elected:
        args.append("--ha-enable-leader-election=true")
    if monitored:
        # Authenticated metrics need cluster-wide token reviews, which a stack in one namespace does not get.
        args.append("--metrics-endpoint-auth=false")
    return args


def _service_ports(*, standalone: bool) -> list[dict[str, Any]]:
    picker = {**_service_port("grpc-ext-proc", GRPC_PORT), "appProtocol": "kubernetes.io/h2c"}
    ports = [picker, _service_port("http-metrics", METRICS_PORT)]
    if standalone:
        ports.append(_service_port("http", 80, PROXY_PORT))
    return ports


def _service_port(name: str, port: int, target: int | None = None) -> dict[str, Any]:
    return {"name": name, "port": port, "targetPort": target or port, "protocol": "TCP"}


METRICS_SOURCE = "metrics-data-source"
METRICS_EXTRACTOR = "core-metrics-extractor"
DEFAULT_METRICS_PATH = "/metrics"


def _scraping(given: dict[str, Any], path: str) -> dict[str, Any]:
    """The guide's config with the engine's own metrics path, where that is not the one which the router takes itself.

    The source keeps its type as its name: under another, the router would add its own and read each engine twice.
    """
    if path == DEFAULT_METRICS_PATH:
        return given
    plugins = [
        *given.get("plugins", []),
        {"type": METRICS_SOURCE, "parameters": {"path": path}},
        {"type": METRICS_EXTRACTOR},
    ]
    layer = given.get("dataLayer") or {}
    source = {"pluginRef": METRICS_SOURCE, "extractors": [{"pluginRef": METRICS_EXTRACTOR}]}
    return {**given, "plugins": plugins, "dataLayer": {**layer, "sources": [*layer.get("sources", []), source]}}


def _config(
    given: dict[str, Any],
    wanted: Router,
    image: ImagePlan,
    extra: list[dict[str, Any]],
    parameters: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    data = dict(wanted.config if wanted.config is not None else given)
    plugins = {item_key("plugins", plugin): plugin for plugin in data.get("plugins") or []}
    plugins.update({item_key("plugins", plugin): plugin for plugin in extra})
    # A user's own config says what it says; only the guide's is completed.
    completed = parameters if wanted.config is None else {}
    data["plugins"] = [_with_parameters(plugin, completed.get(str(plugin.get("type")))) for plugin in plugins.values()]
    try:
        # A config of a file says in which version it is written; it is rendered in that of the router anyway.
        config = load_config({"apiVersion": V1, "kind": KIND, **data})
    except UserError as error:
        raise _of_config([error, *error.others]) from error
    faults = misfits(config, image.version)
    if faults:
        raise _of_config(faults)
    return dump_config(config, image.version)


def _of_config(faults: Sequence[UserError]) -> UserError:
    first, *rest = (UserError(f"spec.router.config: {fault.what}", why=fault.why, fix=fault.fix) for fault in faults)
    return UserError(first.what, why=first.why, fix=first.fix, others=rest)


def _with_parameters(plugin: dict[str, Any], derived: dict[str, Any] | None) -> dict[str, Any]:
    if not derived:
        return plugin
    merged = copy.deepcopy(plugin.get("parameters") or {})
    merge(merged, derived, lambda _: formula("agrees with the engines"), Ledger())
    return {**plugin, "parameters": merged}


def _idle_seconds(engine: Engine, roles: Sequence[RolePlan]) -> int:
    """How long the proxy keeps idle connections: less than any engine behind it does."""
    keeps = engine.keep_alive
    if keeps is None:
        return PROXY_IDLE_SECONDS
    given = [str(item.get("value")) for role in roles for item in role.container.env if item["name"] == keeps.variable]
    # A value that is no plain number is the user's own matter.
    shortest = min([int(value) for value in given if value.isdecimal()], default=keeps.seconds)
    return max(min(PROXY_IDLE_SECONDS, shortest - 1), 1)


def _proxy(wanted: Router, images: ImageResolver, stack: str, idle_seconds: int) -> ProxyPlan:
    proxy = wanted.proxy or Proxy()
    return ProxyPlan(
        config_name=f"{stack}-envoy",
        image=images.resolve("envoy", ("router", "proxy", "image")),
        args=[
            "--service-node", "envoy-sidecar",
            "--log-level", "warn",
            "--concurrency", str(proxy.concurrency or 8),
            "--drain-strategy", "immediate",
            "--drain-time-s", "60",
            "--config-path", "/etc/envoy/envoy.yaml",
        ],
        resources=plain_resources(proxy.resources),
        port=PROXY_PORT,
        ready_port=PROXY_READY_PORT,
        admin_port=PROXY_ADMIN_PORT,
        idle_timeout=f"{idle_seconds}s",
        fail_open=wanted.failure_mode == "FailOpen",
    )  # fmt: skip


def _gateway_name(wanted: Router, stack: str) -> str:
    gateway = wanted.gateway or Gateway()
    if gateway.name is None:
        return f"{stack}-gateway" if gateway.class_name else SHARED_GATEWAY
    if not gateway.name:
        raise UserError("spec.router.gateway.name is empty", fix="name the Gateway that routes to the pool")
    return gateway.name


def _own_gateway(wanted: Router, stack: str) -> OwnGatewayPlan | None:
    gateway = wanted.gateway or Gateway()
    if not gateway.class_name:
        return None
    return OwnGatewayPlan(name=_gateway_name(wanted, stack), class_name=gateway.class_name)
