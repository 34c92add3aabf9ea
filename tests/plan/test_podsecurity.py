"""The PodSecurity level of a stack, and what asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from llmdctl.plan.podsecurity import pod_security


@pytest.mark.parametrize(
    ("guide", "spec", "level", "reason"),
    [
        ("optimized-baseline", {}, "baseline", "may run as root"),
        (
            "optimized-baseline",
            {"model": {"cache": {"hostPath": {"path": "/mnt/models"}}}},
            "privileged",
            "the node's /mnt/models",
        ),
        ("pd-disaggregation", {}, "baseline", "may run as root"),
        ("pd-disaggregation", {"provider": "coreweave"}, "privileged", "the node's /var/cache/huggingface"),
        (
            "pd-disaggregation",
            {"provider": "gke-a4x", "accelerator": "nvidia-gb200", "model": {"cache": {"emptyDir": {}}}},
            "privileged",
            "IPC_LOCK, because the KV cache is registered",
        ),
    ],
)
def test_level_and_reason(make_plan: Any, guide: str, spec: dict[str, Any], level: str, reason: str) -> None:
    security = pod_security(make_plan(guide, spec))
    assert security.level == level
    assert any(reason in text for text in security.reasons)
    # Only what keeps the stack from a lower level is told.
    assert len(security.reasons) == len(set(security.reasons))
