"""KV transfer between roles: what the engine, its environment, its ports and the sidecar need for a connector."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from llmdctl.catalog.model import Accelerator, Connector, ConnectorRole, Engine
from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.spec.model import KVTransfer

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
    """The pieces for one role. `added` is the merged `kvTransfer` contribution (class, module, backends and so on).

    `port` is the engine's, `tensor` its tensor-parallel size. Raises UserError for a connector that the engine lacks.
    """
    name = str(spec.connector)
    if name in engine.connectors:
        return _pieces(
            engine.connectors[name], role, version, _backends(engine, name, spec, added), added, port, tensor
        )
    known = ", ".join(engine.connectors)
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


def check_accelerator(engine: Engine, connector: str, accelerator: Accelerator) -> None:
    """Raises UserError for a connector that is made for other accelerators, or that this one cannot use."""
    found = engine.connectors.get(connector)
    if found is None or _works(connector, found, accelerator):
        return
    fitting = ", ".join(name for name, known in engine.connectors.items() if _works(name, known, accelerator))
    family = accelerator.family
    made_for = " and ".join(found.families)
    raise UserError(
        f"spec.kvTransfer.connector: {connector} works on {made_for} accelerators, not on {family}"
        if family not in (found.families or [family])
        else f"spec.kvTransfer.connector: {connector} does not work on {accelerator.name}",
        fix=f"connectors for {family}: {fitting}" if fitting else f"{engine.name} has no connector for {family}",
        about=["spec.kvTransfer.connector", "spec.accelerator"],
    )


def _works(name: str, connector: Connector, accelerator: Accelerator) -> bool:
    allowed = accelerator.connectors or [name]
    return name in allowed and accelerator.family in (connector.families or [accelerator.family])


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


def _backends(engine: Engine, name: str, spec: KVTransfer, added: dict[str, Any]) -> list[str]:
    backends = spec.backends or added.get("backends") or ["UCX"]
    if engine.connectors[name].backend_variable and len(backends) != 1:
        raise UserError(
            f"spec.kvTransfer.backends: {engine.title or engine.name} takes one backend of {name}, not {len(backends)}",
            fix="name one, as in [UCX]",
        )
    return list(backends)


def _pieces(
    connector: Connector, role: str, version: str, backends: list[str], added: dict[str, Any], port: int, tensor: int
) -> Transfer:
    own = connector.roles.get(role, ConnectorRole())
    args = {**own.args, **connector.args}
    if connector.class_name:
        args["kv-transfer-config"] = _config(connector, _kv_role(role, version), backends, added, port)
    env = [dict(item) for item in (*connector.env, *own.env)]
    if connector.backend_variable:
        env.append({"name": connector.backend_variable, "value": backends[0]})
    sidecar_args = dict(connector.sidecar_args)
    if connector.tensor_flag:
        sidecar_args[connector.tensor_flag] = tensor
    return Transfer(
        protocol=connector.protocol,
        args=args,
        env=env,
        ports=[_port(name, number) for name, number in {**connector.ports, **own.ports}.items()],
        sidecar_args=sidecar_args,
        sidecar_env=[dict(item) for item in own.sidecar_env],
    )


def _config(
    connector: Connector, kv_role: str, backends: list[str], added: dict[str, Any], port: int
) -> dict[str, Any]:
    """The value of --kv-transfer-config."""
    config: dict[str, Any] = {"kv_connector": added.get("class") or connector.class_name}
    module = added.get("module") or connector.module
    if module:
        config["kv_connector_module_path"] = module
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
    return config


def _port(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "containerPort": number, "protocol": "TCP"}
