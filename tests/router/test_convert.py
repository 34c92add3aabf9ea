"""Moving configs between router versions: what changes, what stays, what is left to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.findings import UserError
from llmdctl.findings.versions import Version
from llmdctl.router.config import load
from llmdctl.router.convert import Converted, convert
from llmdctl.router.lint import lint
from llmdctl.router.plugins import plugin_types
from llmdctl.router.started import started

HEAD = {"apiVersion": "llm-d.ai/v1alpha1", "kind": "EndpointPickerConfig"}
PLUGIN = {"type": "queue-scorer"}


def to(version: str, **body: Any) -> Converted:
    number = Version.parse(version)
    assert number is not None
    return convert({**HEAD, **body}, number)


def test_the_group_and_the_deprecated_fields_move() -> None:
    body = {"saturationDetector": {"pluginRef": "d"}, "parser": {"pluginRef": "p"}, "plugins": [PLUGIN]}
    found = to("1.0.0", **body, apiVersion="inference.networking.x-k8s.io/v1alpha1")
    assert found.data == {
        "apiVersion": "llm-d.ai/v1",
        "kind": "EndpointPickerConfig",
        "plugins": [PLUGIN],
        "flowControl": {"saturationDetector": {"pluginRef": "d"}},
        "requestHandler": {"parsers": [{"pluginRef": "p"}]},
    }
    assert len(found.changes) == 3
    assert found.left == ()


def test_a_renamed_type_takes_its_references_along() -> None:
    found = to(
        "1.0.0",
        plugins=[{"type": "tokenizer", "parameters": {"modelName": "m"}}, {"type": "by-label-selector"}],
        schedulingProfiles=[{"name": "default", "plugins": [{"pluginRef": "by-label-selector"}]}],
    )
    assert [plugin["type"] for plugin in found.data["plugins"]] == ["token-producer", "label-selector-filter"]
    assert found.data["schedulingProfiles"][0]["plugins"] == [{"pluginRef": "label-selector-filter"}]
    assert found.left == ()


def test_a_name_stays_where_it_is_given_or_the_new_one_is_taken() -> None:
    found = to("1.0.0", plugins=[{"type": "token-producer"}, {"type": "tokenizer"}, {"type": "tokenizer", "name": "t"}])
    assert [plugin.get("name") for plugin in found.data["plugins"]] == [None, "tokenizer", "t"]


def test_a_label_filter_becomes_a_selector() -> None:
    plugin = {"type": "by-label", "name": "mine", "parameters": {"label": "zone", "validValues": ["a", "b"]}}
    (made,) = to("1.0.0", plugins=[plugin]).data["plugins"]
    assert made["parameters"] == {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}
    assert made["name"] == "mine"


@pytest.mark.parametrize(
    "plugin",
    [
        {"type": "by-label", "parameters": {"label": "zone", "validValues": ["a"], "allowsNoLabel": True}},
        {"type": "by-label", "parameters": {"label": 1, "validValues": "a"}},
        {"type": "by-label-selector", "parameters": {"selector": {}}},
        {"type": "precise-prefix-cache-scorer"},
        {"type": "pd-profile-handler"},
        {"type": "disagg-headers-handler"},
    ],
)
def test_what_needs_a_decision_is_left_and_told(plugin: dict[str, Any]) -> None:
    found = to("1.0.0", plugins=[plugin])
    assert found.data["plugins"] == [plugin]
    (left,) = found.left
    assert left[0] == "plugins[0].type"


def test_stages_are_nested_and_header_handlers_go() -> None:
    found = to(
        "0.10.0",
        plugins=[
            {
                "type": "disagg-profile-handler",
                "parameters": {"decodeProfile": "d", "DeciderPluginName": "x", "stageOrder": "decode-first"},
            },
            {"type": "always-disagg-pd-decider", "name": "x"},
            {"type": "prefill-header-handler"},
        ],
        schedulingProfiles=[{"name": "d", "plugins": [{"pluginRef": "prefill-header-handler"}]}],
    )
    handler, decider = found.data["plugins"]
    assert handler["parameters"] == {
        "stageOrder": "decode-first", "profiles": {"decode": "d"}, "deciders": {"prefill": "x"},
    }  # fmt: skip
    assert decider["name"] == "x"
    assert found.data["schedulingProfiles"][0].get("plugins", []) == []


def test_flat_and_nested_stages_together_are_left() -> None:
    parameters = {"decodeProfile": "d", "profiles": {"decode": "e"}}
    found = to("1.0.0", plugins=[{"type": "disagg-profile-handler", "parameters": parameters}])
    assert found.data["plugins"][0]["parameters"] == parameters
    assert found.left


def test_a_gate_that_is_always_on_goes() -> None:
    assert "featureGates" not in to("0.10.0", featureGates=["dataLayer"], plugins=[PLUGIN]).data
    assert to("0.9.0", featureGates=["dataLayer"], plugins=[PLUGIN]).data["featureGates"] == ["dataLayer"]


def test_back_to_an_older_version_names_what_it_lacks() -> None:
    found = convert(
        {"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", "requestHandler": {"propagatePriority": True}},
        Version((0, 10, 0)),
    )
    assert found.data["apiVersion"] == "llm-d.ai/v1alpha1"
    assert [place for place, _, _ in found.left] == ["requestHandler.propagatePriority"]


def test_what_can_not_be_decoded_is_refused() -> None:
    with pytest.raises(UserError, match="unknown field"):
        to("1.0.0", plugin=[])


@pytest.mark.parametrize("version", ["0.9.0", "0.10.0", "1.0.0"])
def test_the_routers_own_configs_convert(shared: Path, version: str) -> None:
    number = Version.parse(version)
    assert number is not None
    for file in (shared / "corpus" / "router-configs").glob("*.yaml"):
        found = convert(yaml.safe_load(file.read_text(encoding="utf-8")), number)
        load(found.data)
        again = convert(found.data, number)
        assert again.data == found.data and again.changes == (), file.name
        if version == "1.0.0":
            assert found.left == ()
            assert "RTR010" not in {fault.code for fault in lint(found.data, number)}, file.name


@pytest.mark.parametrize(
    ("body", "version", "code"),
    [
        ({"saturationDetector": {"pluginRef": "utilization-detector"}}, "1.0.0", "RTR034"),
        ({"saturationDetector": {"pluginRef": "utilization-detector"}}, "0.10.0", "RTR010"),
        ({"parser": {"pluginRef": "openai-parser"}}, "", "RTR010"),
        ({"dataLayer": {"peerDiscovery": {"pluginRef": "p"}}}, "1.0.0", "RTR034"),
        ({"dataLayer": {"discovery": {"endpoints": {"pluginRef": "p"}}}}, "0.10.0", "RTR034"),
        ({"dataLayer": {"crossReplica": {"syncInterval": "1s"}}}, "0.9.0", "RTR034"),
    ],
)
def test_fields_that_moved_are_told_by_version(body: dict[str, Any], version: str, code: str) -> None:
    faults = lint({**HEAD, "plugins": [PLUGIN], **body}, Version.parse(version) if version else None)
    assert code in {fault.code for fault in faults}


@pytest.mark.parametrize(
    "body",
    [
        {"saturationDetector": {"pluginRef": "a"}, "flowControl": [1]},
        {"parser": {"pluginRef": "a"}, "requestHandler": "b"},
        {"dataLayer": {"peerDiscovery": {"pluginRef": "a"}, "discovery": 3}},
        {"dataLayer": {"crossReplicaSyncInterval": "1s", "crossReplica": []}},
    ],
)
def test_old_fields_beside_odd_new_ones_are_faults(body: dict[str, Any]) -> None:
    assert {fault.code for fault in lint({**HEAD, **body}, None)} >= {"RTR001"}


def test_a_block_size_in_tokens_gets_its_newer_name() -> None:
    plugin = {"type": "precise-prefix-cache-producer", "parameters": {"tokenProcessorConfig": {"blockSize": 64}}}
    (made,) = to("0.10.0", plugins=[plugin]).data["plugins"]
    assert made["parameters"] == {"tokenProcessorConfig": {"blockSizeTokens": 64}}
    assert to("0.9.0", plugins=[plugin]).data["plugins"] == [plugin]


KEYS = st.sampled_from(
    ["label", "validValues", "matchLabels", "decodeProfile", "deciders", "deciderPluginName", "tokenProcessorConfig",
     "blockSize", "modelName", "prefixMatchInfoProducerName", "x"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "tokenizer", "token-producer"])
PARAMETERS = st.dictionaries(KEYS, st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
PLUGINS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(sorted(plugin_types()))},
        optional={"name": st.sampled_from(["a", "tokenizer", "token-producer"]), "parameters": PARAMETERS},
    ),
    max_size=5,
)


@given(
    PLUGINS,
    st.lists(st.sampled_from(["a", "tokenizer", "by-label"]), max_size=3),
    st.sampled_from(["0.9.0", "0.10.0", "1.0.0"]),
)
def test_any_config_converts_once_and_for_all(plugins: list[Any], used: list[str], version: str) -> None:
    number = Version.parse(version)
    assert number is not None
    profiles = [{"name": "default", "plugins": [{"pluginRef": name} for name in used]}]
    found = to(version, plugins=plugins, schedulingProfiles=profiles)
    again = convert(found.data, number)
    assert again.data == found.data and again.changes == ()
    started(load(found.data), number)
