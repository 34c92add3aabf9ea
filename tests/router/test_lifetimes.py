"""What a router version lacks is refused before the router does, with what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from llmdctl.router.config import load
from llmdctl.router.lifetimes import misfits


def config(**body: Any) -> Any:
    return load({"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", **body})


def plugin(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"plugins": [{"type": kind, "parameters": parameters}]}


BAND = {"priority": 1, "defaultRequestTTL": "1s"}


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (plugin("disagg-headers-handler"), {"1.0.0"}),
        (plugin("precise-prefix-cache-scorer"), {"1.0.0"}),
        (plugin("kv-cache-scorer"), {"0.9.0", "0.10.0", "1.0.0"}),
        (plugin("disaggregatedset-rollout-screener"), {"0.9.0"}),
        (plugin("max-saturation-detector"), {"0.9.0", "0.10.0"}),
        (plugin("disagg-profile-handler", deciderPluginName="a"), {"1.0.0"}),
        (plugin("disagg-profile-handler", DeciderPluginname="a"), {"1.0.0"}),
        (plugin("disagg-profile-handler", deciders={"prefill": "a"}), set()),
        (plugin("precise-prefix-cache-producer", tokenProcessorConfig={"hashAlgorithm": "xxh64"}), {"0.9.0", "0.10.0"}),
        (plugin("precise-prefix-cache-producer", tokenProcessorConfig={"blockSizeTokens": 64}), set()),
        (plugin("queue-scorer"), set()),
        ({"featureGates": ["dataLayer=false"]}, {"0.10.0", "1.0.0"}),
        ({"featureGates": ["flowControl"]}, set()),
        ({"requestHandler": {"parsers": [{"pluginRef": "sglanghttp-parser"}]}}, {"0.9.0", "0.10.0"}),
        ({"requestHandler": {"parsers": [{"pluginRef": "openai-parser"}]}}, set()),
        ({"requestHandler": {"propagatePriority": True}}, {"0.9.0", "0.10.0"}),
        ({"flowControl": {"noEndpointRequestTTL": "5s"}}, {"0.9.0", "0.10.0"}),
        ({"flowControl": {"bandSelectionPolicyPluginRef": "a"}}, {"0.9.0", "0.10.0"}),
        ({"flowControl": {"priorityBands": [BAND]}}, {"0.9.0", "0.10.0"}),
        ({"flowControl": {"defaultNegativePriorityBand": BAND}}, {"0.9.0", "0.10.0"}),
        ({"flowControl": {"defaultRequestTTL": "5s", "maxRequests": 10}}, set()),
        ({"dataLayer": {"discovery": {"peers": {"pluginRef": "a"}}}}, {"0.9.0", "0.10.0"}),
        ({"dataLayer": {"discovery": {"endpoints": {"pluginRef": "a"}}}}, set()),
        ({"dataLayer": {"crossReplica": {"publishTimeout": "1s"}}}, {"0.9.0", "0.10.0"}),
        ({"dataLayer": {"crossReplica": {"syncerPluginRef": "a", "syncInterval": "1s"}}}, set()),
    ],
)
def test_each_version_refuses_what_it_lacks(body: dict[str, Any], refused: set[str]) -> None:
    assert {version for version in ("0.9.0", "0.10.0", "1.0.0") if misfits(config(**body), version)} == refused
    assert misfits(config(**body), "main") == []


def test_a_refusal_says_where_why_and_what_to_do() -> None:
    (gone,) = misfits(config(**plugin("disagg-profile-handler", deciderPluginName="a")), "1.0.0")
    assert gone.what == (
        "plugins[0].parameters.deciderPluginName: deciderPluginName is gone since router 0.11, and this stack has 1.0.0"
    )
    assert gone.why == "the endpoint picker refuses the whole config and does not start"
    assert gone.fix == "write it below profiles or deciders, as in deciders: {prefill: NAME}"
    (new,) = misfits(config(flowControl={"priorityBands": [{}, BAND]}), "0.10.0")
    assert new.what == (
        "flowControl.priorityBands[1].defaultRequestTTL: defaultRequestTTL needs router 0.11 or newer, "
        "and this stack has 0.10.0"
    )
    assert new.fix == "leave it out, or choose a newer release"
