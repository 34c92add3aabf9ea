# ruff: noqa: E501 - an example a line
"""Endpoint picker configs: what the loader refuses, each class with an example of ours, and that nothing breaks us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.findings import Severity
from llmdctl.findings.versions import Version
from llmdctl.router.config import API_VERSIONS, load_problems
from llmdctl.router.effective import effective
from llmdctl.router.lint import experimental, lint
from llmdctl.router.plugins import plugin_types
from llmdctl.validate.registry import all_rules

HEAD = "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n"
ONE = "schedulingProfiles:\n- name: default\n  plugins:\n  - pluginRef: queue-scorer\n"
QUEUE = "plugins:\n- type: queue-scorer\n"


def codes(text: str, version: str = "", head: str = HEAD) -> set[str]:
    return {fault.code for fault in lint(yaml.safe_load(head + text), Version.parse(version) if version else None)}


REFUSED = {
    "not a map": ("RTR001", "- a\n", ""),
    "unknown field": ("RTR001", HEAD + QUEUE + "scheduling: []\n", ""),
    "wrong type": ("RTR001", HEAD + "plugins: queue-scorer\n", ""),
    "no kind": ("RTR001", "apiVersion: llm-d.ai/v1\nplugins: []\n", ""),
    "old api on a new router": ("RTR002", HEAD.replace("llm-d.ai", "inference.networking.x-k8s.io") + QUEUE, "1.0.0"),
    "new api on an old router": ("RTR002", HEAD.replace("v1alpha1", "v1") + QUEUE, "0.10.0"),
    "unknown gate": ("RTR011", HEAD + "featureGates: [flows]\n" + QUEUE, ""),
    "gate without a boolean": ("RTR011", HEAD + "featureGates: [flowControl=qwerty]\n" + QUEUE, ""),
    "no type": ("RTR003", HEAD + "plugins:\n- name: a\n  type: ''\n", ""),
    "unknown type": ("RTR003", HEAD + "plugins:\n- type: best-scorer\n", ""),
    "text for a number": ("RTR009", HEAD + "plugins:\n- type: load-aware-scorer\n  parameters: {threshold: many}\n", ""),
    "same name": ("RTR004", HEAD + QUEUE + "- type: queue-scorer\n", ""),
    "decider that is not there": (
        "RTR005",
        HEAD + "plugins:\n- type: disagg-profile-handler\n  parameters: {deciders: {prefill: nobody}}\n",
        "",
    ),
    "profile without a name": ("RTR007", HEAD + QUEUE + ONE.replace("default", "''"), ""),
    "profile twice": ("RTR007", HEAD + QUEUE + ONE + ONE.partition("\n")[2], ""),
    "entry without a reference": ("RTR005", HEAD + QUEUE + ONE.replace("queue-scorer", "''"), ""),
    "entry that names nothing": ("RTR005", HEAD + QUEUE + ONE.replace("queue-scorer", "kv"), ""),
    "two pickers": (
        "RTR007",
        HEAD + QUEUE + "- type: max-score-picker\n- type: random-picker\n" + ONE
        + "  - pluginRef: max-score-picker\n  - pluginRef: random-picker\n",
        "",
    ),
    "two handlers": (
        "RTR008", HEAD + QUEUE + "- type: single-profile-handler\n- type: disagg-profile-handler\n" + ONE, "",
    ),
    "no handler": ("RTR008", HEAD + QUEUE + ONE + ONE.partition("\n")[2].replace("default", "other"), ""),
    "one handler for one profile": (
        "RTR008",
        HEAD + QUEUE + "- type: single-profile-handler\n" + ONE + ONE.partition("\n")[2].replace("default", "other"),
        "",
    ),
    "source that is not there": ("RTR005", HEAD + QUEUE + "dataLayer: {sources: [{pluginRef: nothing}]}\n", ""),
    "source that is none": ("RTR006", HEAD + QUEUE + "dataLayer: {sources: [{pluginRef: queue-scorer}]}\n", ""),
    "extractor that is not there": (
        "RTR005",
        HEAD + QUEUE + "- type: metrics-data-source\n"
        "dataLayer: {sources: [{pluginRef: metrics-data-source, extractors: [{pluginRef: none}]}]}\n",
        "",
    ),
    "policy that is not there": (
        "RTR005",
        HEAD + "featureGates: [flowControl]\n" + QUEUE + "flowControl: {priorityBands: [{fairnessPolicyRef: fair}]}\n",
        "",
    ),
    "policy of another kind": (
        "RTR006",
        HEAD + "featureGates: [flowControl]\n" + QUEUE + "flowControl: {priorityBands: [{orderingPolicyRef: queue-scorer}]}\n",
        "",
    ),
    "negative quantity": ("RTR012", HEAD + "featureGates: [flowControl]\n" + QUEUE + "flowControl: {maxBytes: -1Gi}\n", ""),
    "parser of another kind": ("RTR006", HEAD + QUEUE + "requestHandler: {parsers: [{pluginRef: queue-scorer}]}\n", ""),
    "parser that is not there": ("RTR005", HEAD + QUEUE + "requestHandler: {parsers: [{pluginRef: json-parser}]}\n", ""),
    "detector of another kind": (
        "RTR006", HEAD + QUEUE + "flowControl: {saturationDetector: {pluginRef: queue-scorer}}\n", "",
    ),
    "nobody makes the data": ("RTR017", HEAD + "plugins:\n- type: token-load-scorer\n", "0.10.0"),
    "no extractor": ("RTR017", HEAD + QUEUE + "dataLayer: {injectDefaults: false}\n", ""),
    "gone": ("RTR034", HEAD.replace("v1alpha1", "v1") + "plugins:\n- type: tokenizer\n", "1.0.0"),
    "not yet there": ("RTR034", HEAD + "plugins:\n- type: label-producer\n", "0.10.0"),
}  # fmt: skip
"""What the loader refuses: the code that sees it, a config, and the router's version where that matters."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_loader_refuses_is_an_error(name: str) -> None:
    code, text, version = REFUSED[name]
    assert code in codes(text, version, head="")
    rule = all_rules().get(code)
    assert rule is not None and rule.severity is Severity.ERROR


def test_the_routers_own_configs_are_accepted(shared: Path) -> None:
    files = sorted((shared / "corpus" / "router-configs").glob("*.yaml"))
    assert len(files) == 19
    told = {}
    for file in files:
        faults = lint(yaml.safe_load(file.read_text(encoding="utf-8")), Version.parse("0.10.0"))
        rules = [all_rules().get(fault.code) for fault in faults]
        assert not [rule for rule in rules if rule is None or rule.severity is Severity.ERROR], (file.name, faults)
        told[file.stem] = {fault.code for fault in faults}
    # The group that newer routers refuse, and tokens that are only estimated.
    assert "RTR010" in told["sim-program-aware-config"] and "RTR010" in told["probabilistic-admitter-epp-config"]
    assert "RTR018" in told["sim-epp-no-hit-lru"]


def test_experimental_plugins_are_known(shared: Path) -> None:
    names = {
        "epp-burst-prefix-cache-config", "pd-topology-epp-config", "sim-epp-gpu-config", "soft-reflective-ceiling-epp-config",
    }  # fmt: skip
    for file in (shared / "corpus" / "router-configs").glob("*.yaml"):
        config, _ = load_problems(yaml.safe_load(file.read_text(encoding="utf-8")))
        assert config is not None
        assert bool(experimental(config)) is (file.stem in names), file.name


def test_what_runs_in_the_end() -> None:
    config, _ = load_problems(yaml.safe_load(HEAD + "plugins:\n- type: prefix-cache-scorer\n- type: queue-scorer\n"))
    assert config is not None
    found = effective(config)
    names = [plugin.instance for plugin in found.config.plugins]
    assert {"approx-prefix-cache-producer", "token-producer", "max-score-picker", "single-profile-handler"} <= set(
        names
    )
    assert {"metrics-data-source", "core-metrics-extractor", "utilization-detector", "openai-parser"} <= set(names)
    (profile,) = found.config.scheduling_profiles or []
    assert [entry.weight for entry in profile.plugins][:2] == [1.0, 1.0]
    assert found.missing == ()
    assert any("random order" in note for note in found.notes)


def test_nothing_at_all_runs_the_built_in_config() -> None:
    config, _ = load_problems(yaml.safe_load(HEAD + "plugins: []\n"))
    assert config is not None
    (profile,) = effective(config).config.scheduling_profiles or []
    assert {entry.plugin_ref: entry.weight for entry in profile.plugins if entry.weight} == {
        "queue-scorer": 2.0, "kv-cache-utilization-scorer": 2.0, "prefix-cache-scorer": 3.0,
    }  # fmt: skip


def test_every_type_is_declared_once_with_facets() -> None:
    assert len(plugin_types()) > 80
    assert all(plugin.facets for plugin in plugin_types().values())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(sorted(plugin_types())),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["plugins", "type", "name", "parameters", "schedulingProfiles", "pluginRef", "weight", "dataLayer", "sources",
             "flowControl", "priorityBands", "deciders", "profiles", "requestHandler", "parsers", "featureGates",
             "parser", "saturationDetector", "discovery", "peerDiscovery", "crossReplica", "crossReplicaSyncInterval"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(values, st.sampled_from(API_VERSIONS), st.sampled_from(["", "0.9.0", "0.10.0", "1.0.0"]))
def test_any_data_gives_faults_and_no_crash(value: Any, api_version: str, version: str) -> None:
    data = {"apiVersion": api_version, "kind": "EndpointPickerConfig", **value} if isinstance(value, dict) else value
    for fault in lint(data, Version.parse(version) if version else None):
        assert fault.code.startswith("RTR")
        assert fault.title


plugins = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(sorted(plugin_types()))},
        optional={"name": st.text(max_size=4), "parameters": st.dictionaries(st.text(max_size=6), values, max_size=3)},
    ),
    max_size=6,
)


@given(plugins)
def test_any_list_of_plugins_can_be_completed(listed: list[dict[str, Any]]) -> None:
    data = {"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", "plugins": listed}
    lint(data, None)
    config, _ = load_problems(data)
    if config is not None:
        done = effective(config).config
        assert [plugin.type for plugin in effective(done).config.plugins] == [plugin.type for plugin in done.plugins]
