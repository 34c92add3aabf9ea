"""KV transfer between roles: what the engine, its environment, its ports and the sidecar need for a connector."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from llmdctl.catalog.model import Connector, Engine
from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.spec.model import KVTransfer

SGLANG_BOOTSTRAP_PORT = 8998
"""SGLang's default of --disaggregation-bootstrap-port, and the sidecar's of SGLANG_BOOTSTRAP_PORT."""

POD_IP = {"fieldRef": {"fieldPath": "status.podIP"}}

DIRECTED_ROLES_SINCE = (0, 26)
"""vLLM from which on llm-d's guides name producer and consumer; before, both roles were kv_both."""


@frozen
class Transfer:
    """Pieces that KV transfer adds to one role. `protocol` is the sidecar's --kv-connector."""

    protocol: str
    args: dict[str, Any] = field(default_factory=dict)
    env: list[dict[str, Any]] = field(default_factory=list)
    ports: list[dict[str, Any]] = field(default_factory=list)
    sidecar_args: dict[str, Any] = field(default_factory=dict)
    sidecar_env: list[dict[str, Any]] = field(default_factory=list)


def plan_transfer(
    engine: Engine, version: str, role: str, spec: KVTransfer, added: dict[str, Any], *, port: int, tensor: int
) -> Transfer:
    """The pieces for one role. `added` is the merged `kvTransfer` contribution (backends, bufferDevice, extra).

    `port` is the engine's, `tensor` its tensor-parallel size. Raises UserError for a connector that the engine lacks.
    """
    name = str(spec.connector)
    backends = spec.backends or added.get("backends") or ["UCX"]
    if name in engine.connectors:
        return _configured(engine.connectors[name], _kv_role(role, version), backends, added, port, tensor)
    if engine.name == "sglang" and name in engine.sidecar_connector:
        return _sglang(name, engine.sidecar_connector[name], role, backends)
    known = ", ".join([*engine.connectors, *engine.sidecar_connector])
    if not known:
        raise UserError(
            f"spec.engine: {engine.name} hands no KV cache from one server to another",
            why="this guide splits prefill from decode, and the cache has to get across",
            fix="choose another engine, or a guide without prefill",
            about=["spec.engine", "spec.kvTransfer.connector"],
        )
    raise UserError(
        f"spec.kvTransfer.connector: engine {engine.name} has no connector {name!r} in the catalog",
        fix=f"connectors of {engine.name}: {known}",
        about=["spec.kvTransfer.connector", "spec.engine"],
    )


def check_family(engine: Engine, connector: str, family: str) -> None:
    """Raises UserError for a connector that is made for other accelerators."""
    found = engine.connectors.get(connector)
    if found is None or not found.families or family in found.families:
        return
    fitting = ", ".join(name for name, known in engine.connectors.items() if family in (known.families or [family]))
    raise UserError(
        f"spec.kvTransfer.connector: {connector} works on {' and '.join(found.families)} accelerators, not on {family}",
        fix=f"connectors for {family}: {fitting}",
        about=["spec.kvTransfer.connector", "spec.accelerator"],
    )


def check_router(engine: Engine, connector: str, router: str) -> None:
    """Raises UserError when the sidecar of that router version does not speak to the connector yet."""
    found = engine.connectors.get(connector)
    since = Version.parse(found.router_since) if found and found.router_since else None
    known = Version.parse(router)
    if since is not None and known is not None and known < since:
        raise UserError(
            f"spec.kvTransfer.connector: {connector} needs router {since} or newer, this release has {router}",
            why="the routing sidecar refuses its flags before",
            fix="choose a newer release",
            about=["spec.kvTransfer.connector", "spec.release"],
        )


def _kv_role(role: str, version: str) -> str:
    known = Version.parse(version)
    if known is not None and not known.at_least(*DIRECTED_ROLES_SINCE):
        return "kv_both"
    return "kv_producer" if role == "prefill" else "kv_consumer"


def _configured(
    connector: Connector, kv_role: str, backends: list[str], added: dict[str, Any], port: int, tensor: int
) -> Transfer:
    """An engine that reads everything from --kv-transfer-config."""
    config: dict[str, Any] = {"kv_connector": added.get("class") or connector.class_name}
    if connector.module:
        config["kv_connector_module_path"] = connector.module
    config["kv_role"] = kv_role
    if added.get("bufferDevice"):
        config["kv_buffer_device"] = added["bufferDevice"]
    config.update(connector.config)
    extra: dict[str, Any] = {"backends": backends} if connector.takes_backends else {}
    extra.update(connector.extra)
    if connector.port_key:
        extra[connector.port_key] = str(port)
    extra.update(added.get("extra") or {})
    if extra:
        config["kv_connector_extra_config"] = extra
    sidecar_args = dict(connector.sidecar_args)
    if connector.tensor_flag:
        sidecar_args[connector.tensor_flag] = tensor
    return Transfer(
        protocol=connector.protocol,
        args={"kv-transfer-config": config},
        env=[dict(item) for item in connector.env],
        ports=[_port(name, number) for name, number in connector.ports.items()],
        sidecar_args=sidecar_args,
    )


def _sglang(name: str, protocol: str, role: str, backends: list[str]) -> Transfer:
    args: dict[str, Any] = {"disaggregation-mode": role, "disaggregation-transfer-backend": name}
    env: list[dict[str, Any]] = []
    if name == "nixl":
        if len(backends) != 1:
            raise UserError(
                f"spec.kvTransfer.backends: SGLang takes one NIXL backend, not {len(backends)}",
                fix="name one, as in [UCX]",
            )
        env.append({"name": "SGLANG_DISAGGREGATION_NIXL_BACKEND", "value": backends[0]})
    if role == "prefill":
        args["disaggregation-bootstrap-port"] = SGLANG_BOOTSTRAP_PORT
        return Transfer(protocol, args=args, env=env, ports=[_port("bootstrap", SGLANG_BOOTSTRAP_PORT)])
    bootstrap = {"name": "SGLANG_BOOTSTRAP_PORT", "value": str(SGLANG_BOOTSTRAP_PORT)}
    return Transfer(protocol, args=args, env=env, sidecar_env=[bootstrap])


def _port(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "containerPort": number, "protocol": "TCP"}
