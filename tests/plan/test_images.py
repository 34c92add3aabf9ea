"""Image references with a user's registry and overrides."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmdctl.findings import UserError

DIGEST = "sha256:" + "a" * 64


def engine_image(plan: Any) -> str:
    reference: str = plan.roles[0].container.image.reference
    return reference


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        (None, "docker.io/vllm/vllm-openai:v0.30.0"),
        ({"registry": "mirror.example/llm"}, "mirror.example/llm/vllm/vllm-openai:v0.30.0"),
        ({"registry": "mirror.example/"}, "mirror.example/vllm/vllm-openai:v0.30.0"),
        ({"overrides": {"vllm-nvidia": {"tag": "v0.30.1"}}}, "docker.io/vllm/vllm-openai:v0.30.1"),
        ({"overrides": {"vllm-nvidia": {"digest": DIGEST}}}, f"docker.io/vllm/vllm-openai@{DIGEST}"),
        ({"overrides": {"vllm-nvidia": {"tag": "x", "digest": DIGEST}}}, f"docker.io/vllm/vllm-openai@{DIGEST}"),
        (
            {"registry": "mirror.example", "overrides": {"vllm-nvidia": {"repository": "own.example/vllm"}}},
            "own.example/vllm:v0.30.0",
        ),
    ],
)
def test_references(make_plan: Any, images: dict[str, Any] | None, expected: str) -> None:
    plan = make_plan("optimized-baseline", {"images": images} if images else {})
    assert engine_image(plan) == expected


@pytest.mark.parametrize(
    ("override", "version", "assumed"),
    [
        ({"tag": "v0.26.0"}, "0.26.0", False),
        ({"tag": "v0.30.1-cu129"}, "0.30.1", False),
        ({"tag": "nightly"}, "0.30.0", True),
        # A digest pins what the release names, unless it is of a repository that nobody here knows.
        ({"digest": DIGEST}, "0.30.0", False),
        ({"tag": "v0.26.0", "digest": DIGEST}, "0.26.0", False),
        ({"repository": "own.example:5000/mirror/vllm-openai", "tag": "v0.26.0"}, "0.26.0", False),
        ({"repository": "vllm/vllm-openai", "tag": "v0.26.0"}, "0.26.0", False),
        ({"repository": "own.example/inference"}, "0.30.0", True),
        ({"repository": "own.example/inference", "tag": "v3.1.0"}, "0.30.0", True),
        # llm-d's own images have llm-d's version in the tag; the catalog of 0.8 says what one of them carries.
        ({"repository": "ghcr.io/llm-d/llm-d-rocm", "tag": "v0.7.0"}, "0.23.0", False),
        ({"repository": "mirror.example/llm-d/llm-d-rocm", "tag": "v0.7.0"}, "0.23.0", False),
        ({"repository": "ghcr.io/llm-d/llm-d-rocm", "tag": "v0.8.1"}, "0.30.0", True),
    ],
)
def test_an_overriding_image_brings_its_own_version(
    make_plan: Any, override: dict[str, Any], version: str, assumed: bool
) -> None:
    plan = make_plan("optimized-baseline", {"images": {"overrides": {"vllm-nvidia": override}}})
    container = plan.roles[0].container
    assert (container.image.version, container.image.version_assumed) == (version, assumed)
    assert plan.roles[0].pod.annotations["llmdctl.io/component-version"] == f"vllm@{version}"
    told = [notice for notice in plan.notices if "does not tell which vllm it carries" in notice]
    assert told == (
        [
            f"image {container.image.reference} does not tell which vllm it carries: its flags and settings are those "
            "of 0.30.0, as in release 1.0"
        ]
        if assumed
        else []
    )


def test_overriding_the_router_and_the_engine_changes_what_is_said_to_them(make_plan: Any) -> None:
    overrides = {
        "vllm-nvidia": {"tag": "v0.23.0"},
        "routing-sidecar": {"tag": "v0.9.0"},
        "endpoint-picker": {"tag": "v0.9.0"},
    }
    plan = make_plan("pd-disaggregation", {"images": {"overrides": overrides}})
    decode = plan.roles[1]
    assert {"--vllm-port=8200", "--secure-proxy=false"} <= set(decode.sidecar.args)
    (transfer,) = [arg for arg in decode.container.args if arg.startswith("--kv-transfer-config=")]
    assert json.loads(transfer.partition("=")[2])["kv_role"] == "kv_both"
    assert plan.router.config["apiVersion"] == "llm-d.ai/v1alpha1"
    handler = next(plugin for plugin in plan.router.config["plugins"] if plugin["type"] == "disagg-profile-handler")
    assert handler["parameters"] == {"deciderPluginName": "always-disagg-pd-decider"}


def test_a_connector_that_the_overriding_sidecar_lacks_is_refused(make_plan: Any) -> None:
    spec = {"preset": "moriio", "images": {"overrides": {"routing-sidecar": {"tag": "v0.9.0"}}}}
    with pytest.raises(UserError, match=r"moriio needs router 0\.10\.0 or newer, this release has 0\.9\.0"):
        make_plan("pd-disaggregation", spec)


@pytest.mark.parametrize(
    ("name", "repository", "replacement"),
    [
        ("vllm-nvidia", "ghcr.io/llm-d/llm-d-cuda", "docker.io/vllm/vllm-openai"),
        ("vllm-nvidia", "mirror.example:5000/llm-d/llm-d-aws", "public.ecr.aws/deep-learning-containers/vllm"),
        ("endpoint-picker", "ghcr.io/llm-d/llm-d-inference-scheduler", "ghcr.io/llm-d/llm-d-router-endpoint-picker"),
        ("routing-sidecar", "ghcr.io/llm-d/llm-d-routing-sidecar", "ghcr.io/llm-d/llm-d-router-disagg-sidecar"),
    ],
)
def test_a_deprecated_image_is_told_with_its_replacement(
    make_plan: Any, name: str, repository: str, replacement: str
) -> None:
    override = {"repository": repository, "tag": "v0.8.0"}
    plan = make_plan("pd-disaggregation", {"images": {"overrides": {name: override}}})
    (notice,) = [notice for notice in plan.notices if "is deprecated" in notice]
    assert notice.startswith(f"image {repository}:v0.8.0 is deprecated: ")
    assert notice.endswith(f"use {replacement}")


def test_servers_that_tokenise_count_among_the_images(make_plan: Any) -> None:
    precise = "precise-prefix-cache-routing"
    plan = make_plan(precise, {"engine": "sglang", "release": "0.8"})
    assert plan.render.server.image.reference == "docker.io/vllm/vllm-openai-cpu:v0.23.0"
    override = {"repository": "ghcr.io/llm-d/llm-d-cuda", "tag": "v0.8.0"}
    overridden = make_plan(precise, {"engine": "sglang", "images": {"overrides": {"vllm-render": override}}})
    assert any("llm-d-cuda:v0.8.0 is deprecated" in notice for notice in overridden.notices)
