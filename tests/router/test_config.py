"""EndpointPickerConfig: one model for all its versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.findings import UserError
from llmdctl.manifest import read_paths
from llmdctl.router.config import (
    CrossReplica,
    DataLayer,
    DataSource,
    Discovery,
    FlowControl,
    Plugin,
    PriorityBand,
    Profile,
    ProfilePlugin,
    Ref,
    RequestHandler,
    RouterConfig,
    dump,
    load,
)

NAMES = st.text(alphabet="abc-", min_size=1, max_size=6)
REFS = st.builds(Ref, plugin_ref=NAMES)
OPTIONAL = st.none()
BANDS = st.builds(PriorityBand, priority=OPTIONAL | st.integers(-5, 5), max_requests=OPTIONAL | st.integers(0, 9))
CONFIGS = st.builds(
    RouterConfig,
    feature_gates=OPTIONAL | st.lists(NAMES, max_size=2),
    plugins=st.lists(
        st.builds(
            Plugin, type=NAMES, name=OPTIONAL | NAMES, parameters=OPTIONAL | st.dictionaries(NAMES, st.integers())
        ),
        max_size=3,
    ),
    scheduling_profiles=OPTIONAL
    | st.lists(
        st.builds(
            Profile,
            name=NAMES,
            plugins=st.lists(st.builds(ProfilePlugin, plugin_ref=NAMES, weight=OPTIONAL | st.floats(0, 9)), max_size=2),
        ),
        max_size=2,
    ),
    data_layer=OPTIONAL
    | st.builds(
        DataLayer,
        inject_defaults=OPTIONAL | st.booleans(),
        sources=OPTIONAL
        | st.lists(st.builds(DataSource, plugin_ref=NAMES, extractors=OPTIONAL | st.lists(REFS)), max_size=2),
        discovery=OPTIONAL | st.builds(Discovery, endpoints=REFS, peers=OPTIONAL | REFS),
        cross_replica=OPTIONAL
        | st.builds(CrossReplica, syncer_plugin_ref=NAMES, sync_interval=OPTIONAL | st.just("1s")),
    ),
    flow_control=OPTIONAL
    | st.builds(
        FlowControl,
        max_bytes=OPTIONAL | st.just("1G"),
        priority_bands=OPTIONAL | st.lists(BANDS, max_size=2),
        saturation_detector=OPTIONAL | REFS,
    ),
    request_handler=OPTIONAL | st.builds(RequestHandler, parsers=OPTIONAL | st.lists(REFS, max_size=2)),
)


@given(CONFIGS, st.sampled_from(["0.9.0", "0.10.0", "1.0.0", "main"]))
def test_loading_gives_back_what_was_dumped(config: RouterConfig, version: str) -> None:
    assert load(dump(config, version)) == config


@pytest.mark.parametrize(
    ("version", "api_version"),
    [
        ("0.9.0", "llm-d.ai/v1alpha1"),
        ("0.10.0", "llm-d.ai/v1alpha1"),
        ("1.0.0", "llm-d.ai/v1"),
        ("main", "llm-d.ai/v1"),
    ],
)
def test_each_router_gets_the_version_that_it_reads(version: str, api_version: str) -> None:
    assert dump(RouterConfig(), version)["apiVersion"] == api_version


def old(**body: Any) -> dict[str, Any]:
    return {"apiVersion": "llm-d.ai/v1alpha1", "kind": "EndpointPickerConfig", **body}


def test_what_moved_between_versions_is_found_in_its_new_place() -> None:
    config = load(
        old(
            saturationDetector={"pluginRef": "detector"},
            parser={"pluginRef": "openai-parser"},
            dataLayer={
                "discovery": {"pluginRef": "files"},
                "peerDiscovery": {"pluginRef": "peers"},
                "crossReplicaSyncerPluginRef": "syncer",
                "crossReplicaSyncInterval": "2s",
            },
        )
    )
    assert config.flow_control is not None and config.flow_control.saturation_detector == Ref(plugin_ref="detector")
    assert config.request_handler is not None and config.request_handler.parsers == [Ref(plugin_ref="openai-parser")]
    assert config.data_layer is not None
    assert config.data_layer.discovery == Discovery(endpoints=Ref(plugin_ref="files"), peers=Ref(plugin_ref="peers"))
    assert config.data_layer.cross_replica == CrossReplica(syncer_plugin_ref="syncer", sync_interval="2s")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "not a map"),
        ({}, "no endpoint picker config"),
        ({"apiVersion": "llm-d.ai/v2", "kind": "EndpointPickerConfig"}, "llm-d.ai/v2"),
        (old(plugins=[{"typ": "queue-scorer"}]), "unknown field 'typ'"),
        (old(plugins=[{"name": "a"}]), "'type' is missing"),
        (old(schedulingProfiles=[{"name": "a", "plugins": [{"pluginRef": "b", "weight": "2"}]}]), "expected a number"),
    ],
)
def test_what_the_decoder_refuses_is_refused(data: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(data)


def test_configs_of_the_routers_own_repository_load(shared: Path) -> None:
    documents = read_paths([str(shared / "corpus" / "router-configs")]).documents
    assert len(documents) == 19
    for document in documents:
        config = load(document.object)
        assert load(dump(config, "1.0.0")) == config
