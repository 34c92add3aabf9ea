"""KV transfer between roles: what the engine, its environment, its ports and the sidecar need for a connector."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.spec.model import KVTransfer

NIXL_SIDE_CHANNEL_PORT = 5600
"""vLLM's default of VLLM_NIXL_SIDE_CHANNEL_PORT (vllm/envs.py)."""

SGLANG_BOOTSTRAP_PORT = 8998
"""SGLang's default of --disaggregation-bootstrap-port, and the sidecar's of SGLANG_BOOTSTRAP_PORT."""

POD_IP = {"fieldRef": {"fieldPath": "status.podIP"}}


@frozen
class Transfer:
    """Pieces that KV transfer adds to one role."""

    args: dict[str, Any] = field(default_factory=dict)
    env: list[dict[str, Any]] = field(default_factory=list)
    ports: list[dict[str, Any]] = field(default_factory=list)
    sidecar_env: list[dict[str, Any]] = field(default_factory=list)


def plan_transfer(engine: str, role: str, spec: KVTransfer, added: dict[str, Any]) -> Transfer:
    """The pieces for one role. `added` is the merged `kvTransfer` contribution (backends, bufferDevice, extra).

    Raises UserError for a connector that the engine does not have here yet.
    """
    if spec.connector != "nixl":
        raise UserError(
            f"spec.kvTransfer.connector {spec.connector!r} is not supported yet by this guide", fix="use nixl"
        )
    backends = spec.backends or added.get("backends") or ["UCX"]
    if engine == "vllm":
        return _vllm_nixl(role, backends, added)
    if engine == "sglang":
        return _sglang_nixl(role, backends)
    raise UserError(f"engine {engine!r} has no KV transfer in llmdctl yet", fix="use vllm or sglang")


def _vllm_nixl(role: str, backends: list[str], added: dict[str, Any]) -> Transfer:
    config: dict[str, Any] = {
        "kv_connector": "NixlConnector",
        "kv_role": "kv_producer" if role == "prefill" else "kv_consumer",
    }
    if added.get("bufferDevice"):
        config["kv_buffer_device"] = added["bufferDevice"]
    config["kv_load_failure_policy"] = "fail"
    config["kv_connector_extra_config"] = {"backends": backends, **(added.get("extra") or {})}
    return Transfer(
        args={"kv-transfer-config": config},
        env=[
            # The engine tells its peer this address; its own default is localhost.
            {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": POD_IP},
            {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": str(NIXL_SIDE_CHANNEL_PORT)},
        ],
        ports=[_port("nixl", NIXL_SIDE_CHANNEL_PORT)],
    )


def _sglang_nixl(role: str, backends: list[str]) -> Transfer:
    if len(backends) != 1:
        raise UserError(
            f"spec.kvTransfer.backends: SGLang takes one NIXL backend, not {len(backends)}", fix="name one, as in [UCX]"
        )
    args: dict[str, Any] = {"disaggregation-mode": role, "disaggregation-transfer-backend": "nixl"}
    env: list[dict[str, Any]] = [{"name": "SGLANG_DISAGGREGATION_NIXL_BACKEND", "value": backends[0]}]
    bootstrap = str(SGLANG_BOOTSTRAP_PORT)
    if role == "prefill":
        args["disaggregation-bootstrap-port"] = SGLANG_BOOTSTRAP_PORT
        return Transfer(args=args, env=env, ports=[_port("bootstrap", SGLANG_BOOTSTRAP_PORT)])
    return Transfer(args=args, env=env, sidecar_env=[{"name": "SGLANG_BOOTSTRAP_PORT", "value": bootstrap}])


def _port(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "containerPort": number, "protocol": "TCP"}
