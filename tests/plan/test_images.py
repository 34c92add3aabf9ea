"""Image references with a user's registry and overrides."""

from __future__ import annotations

from typing import Any

import pytest

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
