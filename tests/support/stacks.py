"""Small manifests for rule tests: a pool, a prefill and a decode server, each with one thing changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llmdctl.findings import Hit, Outcome, Rule, SourceRef
from llmdctl.manifest.document import Document
from llmdctl.view import View

SIDECAR = "ghcr.io/llm-d/llm-d-router-disagg-sidecar"
VLLM = "vllm/vllm-openai:v0.30.0"
SGLANG = "lmsysorg/sglang:v0.5.20"
MODEL = "openai/gpt-oss-120b"


def documents(*objects: Mapping[str, Any], files: Sequence[str] = ()) -> list[Document]:
    """The objects as documents of one file, or of the files named in order."""
    names = files or ["input.yaml"] * len(objects)
    return [Document(dict(item), SourceRef(names[index], document=index)) for index, item in enumerate(objects)]


def outcomes(rule: Rule, *objects: Mapping[str, Any], **options: Any) -> list[Outcome]:
    """What a rule says of these objects."""
    assert rule.check is not None
    files = options.pop("files", ())
    return list(rule.check(View(documents(*objects, files=files), **options)))


def titles(rule: Rule, *objects: Mapping[str, Any], **options: Any) -> list[str]:
    """The titles of a rule's hits."""
    return [item.title for item in outcomes(rule, *objects, **options) if isinstance(item, Hit)]


def pool(name: str = "demo", ports: Sequence[int] = (8000,), namespace: str = "llm-d", **labels: str) -> dict[str, Any]:
    """An InferencePool; labels with `_` for `-`, all of llm-d.ai."""
    selector = {f"llm-d.ai/{key.replace('_', '-')}": value for key, value in (labels or {"guide": "demo"}).items()}
    return {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": selector},
            "targetPorts": [{"number": port} for port in ports],
            "endpointPickerRef": {"name": f"{name}-epp", "port": {"number": 9002}},
        },
    }


def container(args: Sequence[str], image: str = VLLM, **more: Any) -> dict[str, Any]:
    """An engine container."""
    command = ["python3", "-m", "sglang.launch_server"] if "sglang" in image else ["vllm", "serve"]
    env = [{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
    env.append({"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "120"})
    found: dict[str, Any] = {"name": "modelserver", "image": image, "command": command, "args": list(args), **more}
    if any("Nixl" in word for word in args):
        found["env"] = [*env, *found.get("env", [])]
    return found


def sidecar(*args: str, version: str = "v0.10.0") -> dict[str, Any]:
    """A routing sidecar."""
    image = f"{SIDECAR}:{version}"
    safe = [] if any("secure" in word for word in args) else ["--secure-proxy=false"]
    return {"name": "routing-proxy", "image": image, "restartPolicy": "Always", "args": [*args, *safe]}


def deployment(
    name: str,
    engine: Mapping[str, Any],
    *,
    role: str = "",
    init: Sequence[Mapping[str, Any]] = (),
    labels: Mapping[str, str] | None = None,
    namespace: str = "llm-d",
    selector: Mapping[str, str] | None = None,
    pod: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A Deployment of one engine."""
    own = {"llm-d.ai/guide": "demo", **({"llm-d.ai/role": role} if role else {}), **(labels or {})}
    spec: dict[str, Any] = {"containers": [dict(engine)], **(pod or {})}
    if init:
        spec["initContainers"] = [dict(item) for item in init]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "spec": {
            "selector": {"matchLabels": dict(selector or own)},
            "template": {"metadata": {"labels": own}, "spec": spec},
        },
    }


def transfer(connector: str = "NixlConnector", role: str = "kv_both", **more: Any) -> str:
    """A --kv-transfer-config."""
    return "--kv-transfer-config=" + json.dumps({"kv_connector": connector, "kv_role": role, **more})


def prefill(
    *args: str, config: str | None = None, image: str = VLLM, model: str = MODEL, **more: Any
) -> dict[str, Any]:
    """A prefill Deployment."""
    words = [model, "--port=8000", config if config is not None else transfer(), *args]
    return deployment("prefill", container([word for word in words if word], image), role="prefill", **more)


def decode(
    *args: str,
    config: str | None = None,
    image: str = VLLM,
    model: str = MODEL,
    proxy: Sequence[str] = ("--port=8000", "--vllm-port=8200", "--kv-connector=nixlv2"),
    **more: Any,
) -> dict[str, Any]:
    """A decode Deployment behind a routing sidecar."""
    words = [model, "--port=8200", config if config is not None else transfer(), *args]
    engine = container([word for word in words if word], image)
    return deployment("decode", engine, role="decode", init=[sidecar(*proxy)], **more)


def sglang(name: str, role: str, *args: str, port: int = 8000, mode: str = "", **more: Any) -> dict[str, Any]:
    """An SGLang Deployment."""
    words = [f"--model-path={MODEL}", "--host=0.0.0.0", f"--port={port}"]
    words += [f"--disaggregation-mode={mode}"] if mode else []
    labels = {"llm-d.ai/engine-type": "sglang", **more.pop("labels", {})}
    return deployment(name, container([*words, *args], SGLANG), role=role, labels=labels, **more)
