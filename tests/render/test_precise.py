"""Precise prefix-cache routing as it reaches the cluster: both sides of every agreement, read from the objects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmdctl.catalog.load import Catalog
from llmdctl.catalog.select import combinations
from llmdctl.findings import SourceRef
from llmdctl.manifest import Document
from llmdctl.manifest.reader import read_text
from llmdctl.render.objects import Rendered
from llmdctl.validate.pipeline import ValidateOptions, validate

GUIDE = "precise-prefix-cache-routing"
RANKS: dict[str, Any] = {
    "model": {"id": "openai/gpt-oss-120b"},
    "roles": {"decode": {"parallelism": {"tensor": 1, "dataLocal": 2}}},
}


def named(rendered: Rendered, kind: str, name: str) -> dict[str, Any]:
    return next(
        obj
        for obj in rendered.objects
        if (obj["kind"], obj["metadata"]["name"]) == (kind, f"{GUIDE}-{name}".rstrip("-"))
    )


def container(rendered: Rendered, deployment: str) -> dict[str, Any]:
    found: dict[str, Any] = named(rendered, "Deployment", deployment)["spec"]["template"]["spec"]["containers"][0]
    return found


def router_config(rendered: Rendered) -> dict[str, Any]:
    (text,) = named(rendered, "ConfigMap", "epp")["data"].values()
    (document,) = read_text(text, "config").documents
    return document.object


def parameters(rendered: Rendered, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in router_config(rendered)["plugins"] if item["type"] == kind)[
        "parameters"
    ]
    return found


def events(rendered: Rendered) -> dict[str, Any]:
    (text,) = (arg for arg in container(rendered, "decode")["args"] if arg.startswith("--kv-events-config="))
    found: dict[str, Any] = json.loads(text.partition("=")[2])
    return found


def validated(rendered: Rendered, release: str = "1.0") -> list[str]:
    documents = [Document(obj, SourceRef("<rendered>", document=n)) for n, obj in enumerate(rendered.objects)]
    report = validate(documents, ValidateOptions(kube_version="1.36", release=release, complete=True))
    assert report.coverage.objects_skipped == 0
    return [f"{finding.code} {finding.object} {finding.pointer}: {finding.title}" for finding in report.findings]


def test_vllm(render_stack: Any) -> None:
    rendered = render_stack(GUIDE)
    args = container(rendered, "decode")["args"]
    assert {"--block-size=64", "--enable-prefix-caching", "--enable-scale-out"} <= set(args)
    assert events(rendered) == {
        "enable_kv_cache_events": True,
        "publisher": "zmq",
        "endpoint": "tcp://*:5556",
        "topic": "kv@$(POD_IP):8000@Qwen/Qwen3-32B",
    }
    assert container(rendered, "decode")["ports"] == [
        {"name": "modelserver", "containerPort": 8000, "protocol": "TCP"},
        {"name": "kv-events", "containerPort": 5556, "protocol": "TCP"},
    ]
    assert parameters(rendered, "token-producer") == {
        "modelName": "Qwen/Qwen3-32B",
        "vllm": {"url": f"http://{GUIDE}-render:8000"},
    }
    assert parameters(rendered, "precise-prefix-cache-producer") == {
        "speculativeIndexing": True,
        "indexerConfig": {"kvBlockIndexConfig": {"enableMetrics": True}},
        "tokenProcessorConfig": {"blockSizeTokens": 64},
        "kvEventsConfig": {
            "concurrency": 8,
            "topicFilter": "kv@",
            "discoverPods": True,
            "podDiscoveryConfig": {"socketPort": 5556},
        },
    }
    assert router_config(rendered)["dataLayer"] == {
        "sources": [
            {
                "pluginRef": "endpoint-notification-source",
                "extractors": [{"pluginRef": "precise-prefix-cache-producer"}],
            }
        ]
    }
    service = named(rendered, "Service", "render")["spec"]
    assert service["selector"] == named(rendered, "InferencePool", "")["spec"]["selector"]["matchLabels"]
    assert service["ports"] == [{"name": "http", "port": 8000, "targetPort": 8000, "protocol": "TCP"}]
    assert not any(
        obj["kind"] == "Deployment" and obj["metadata"]["name"].endswith("-render") for obj in rendered.objects
    )


def test_sglang(render_stack: Any) -> None:
    rendered = render_stack(GUIDE, {"engine": "sglang", "model": {"servedName": "qwen"}})
    assert "--page-size=64" in container(rendered, "decode")["args"]
    assert events(rendered) == {
        "publisher": "zmq",
        "endpoint": "tcp://*:5556",
        "topic": "kv@$(POD_IP):8000@qwen",
    }
    assert parameters(rendered, "token-producer") == {
        "modelName": "qwen",
        "vllm": {"url": f"http://{GUIDE}-render:8000"},
    }
    producer = parameters(rendered, "precise-prefix-cache-producer")
    assert producer["tokenProcessorConfig"] == {"blockSizeTokens": 64, "hashAlgorithm": "xxh64"}
    assert producer["kvEventsConfig"]["engineType"] == "sglang"
    server = container(rendered, "render")
    assert (server["command"], server["args"]) == (
        ["vllm", "launch", "render"],
        ["Qwen/Qwen3-32B", "--served-model-name=qwen", "--port=8000"],
    )
    deployment = named(rendered, "Deployment", "render")["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    service = named(rendered, "Service", "render")["spec"]
    assert deployment["replicas"] == 3
    assert service["selector"] == deployment["selector"]["matchLabels"]
    assert service["selector"].items() <= labels.items()
    # Neither the pool nor the engines' Deployment may take these pods for engines.
    for selector in (
        named(rendered, "InferencePool", "")["spec"]["selector"]["matchLabels"],
        named(rendered, "Deployment", "decode")["spec"]["selector"]["matchLabels"],
    ):
        assert not selector.items() <= labels.items()
    budget = named(rendered, "PodDisruptionBudget", "render")["spec"]
    assert (budget["maxUnavailable"], budget["selector"]["matchLabels"]) == (1, service["selector"])


def test_ranks(render_stack: Any) -> None:
    rendered = render_stack(GUIDE, RANKS)
    ports = {item["name"]: item["containerPort"] for item in container(rendered, "decode")["ports"]}
    assert ports == {"rank0": 8000, "rank1": 8001, "supervisor": 8002, "kv-events0": 5556, "kv-events1": 5557}
    assert named(rendered, "InferencePool", "")["spec"]["targetPorts"] == [{"number": 8000}, {"number": 8001}]
    assert parameters(rendered, "precise-prefix-cache-producer")["kvEventsConfig"]["podDiscoveryConfig"] == {
        "socketPort": 5556
    }
    # One rank tokenises for all.
    assert named(rendered, "Service", "render")["spec"]["ports"][0]["targetPort"] == 8000
    assert validated(rendered) == []


@pytest.mark.parametrize(
    "spec",
    [
        {
            "router": {"mode": "gateway", "gateway": {"className": "istio"}, "replicas": 2},
            "monitoring": {"enabled": True},
        },
        {"preset": "8xtp2"},
        {"model": {"source": "local", "cache": {"pvc": {"claimName": "models"}}}},
    ],
)
def test_variants_of_every_combination_validate_without_a_finding(
    render_stack: Any, catalog: Catalog, spec: dict[str, Any]
) -> None:
    for (engine, accelerator, provider), _ in combinations(catalog.guide(GUIDE)):
        if "preset" in spec and not accelerator.startswith("nvidia"):
            continue
        chosen = {"engine": engine, "accelerator": accelerator, "provider": provider}
        assert validated(render_stack(GUIDE, {**chosen, **spec})) == [], chosen


def test_verification_tells_what_a_completion_does_not(catalog: Catalog) -> None:
    """Every fault of this path still answers 200, so that the steps look at tokens and at caches."""
    guide = catalog.guide(GUIDE)
    steps = {(step.name, step.when.engine): step for step in guide.verification}
    assert list(steps) == [("render", None), ("shared-prefix", "vllm"), ("shared-prefix", "sglang")]
    render = steps["render", None]
    assert (render.target, render.expect) == ("render", {"status": 200, "contains": "token_ids"})
    assert guide.kv_events is not None
    for step in steps.values():
        assert step.request is not None
        # A word is a token or more, and less than a block is never cached.
        assert len(step.request["body"]["prompt"].split()) > guide.kv_events.block_size
    for engine, counter in (("vllm", "vllm:prefix_cache_hits_total"), ("sglang", "sglang:cached_tokens_total")):
        step = steps["shared-prefix", engine]
        assert (step.target, step.repeat) == ("router", 10)
        assert step.expect == {"status": 200, "pods": 1, "grows": counter}
