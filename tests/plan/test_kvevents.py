"""Precise prefix-cache routing: both sides of every agreement."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmdctl.catalog.load import Catalog
from llmdctl.catalog.model import Guide, KvEvents
from llmdctl.findings import Path, UserError
from llmdctl.plan.build import build_plan
from llmdctl.plan.kvevents import plan_events
from llmdctl.plan.model import Plan
from llmdctl.plan.origin import Origin, OriginKind
from llmdctl.plan.request import Request, UserLayer
from llmdctl.render.objects import render

GUIDE = "precise-prefix-cache-routing"
PRODUCER = "precise-prefix-cache-producer"
MOE: dict[str, Any] = {
    "model": {"id": "openai/gpt-oss-120b"},
    "roles": {"decode": {"parallelism": {"tensor": 1, "dataLocal": 4}}},
}


class WithEvents(Catalog):
    """The catalog with other figures of KV events in its guides, as a vendor's guide might have them."""

    events: KvEvents

    def guide(self, name: str) -> Guide:
        return replace(super().guide(name), kv_events=self.events)


def plan_with(catalog: Catalog, spec: dict[str, Any], **figures: int) -> Plan:
    found = catalog.guide(GUIDE).kv_events
    assert found is not None
    changed = WithEvents(catalog.roots)
    changed.events = replace(found, **figures)
    data = {"metadata": {"name": "a"}, "spec": {"guide": GUIDE, **spec}}
    return build_plan(Request((UserLayer(data, flag),), False), changed)


def flag(_: Path) -> Origin:
    return Origin(OriginKind.FLAG, "a test")


def flags(plan: Plan) -> dict[str, str]:
    (decode,) = plan.roles
    return {name.lstrip("-"): value for name, _, value in (arg.partition("=") for arg in decode.container.args)}


def plugin(plan: Plan, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in plan.router.config["plugins"] if item["type"] == kind)["parameters"]
    return found


def assert_agreement(plan: Plan, block_flag: str) -> None:
    """What the engine says and what the router expects are one."""
    events = json.loads(flags(plan)["kv-events-config"])
    producer, tokens = plugin(plan, PRODUCER), plugin(plan, "token-producer")
    size = producer["tokenProcessorConfig"].get("blockSizeTokens") or producer["tokenProcessorConfig"]["blockSize"]
    assert int(flags(plan)[block_flag]) == size
    port = int(events["endpoint"].rpartition(":")[2])
    assert events["endpoint"] == f"tcp://*:{port}"
    assert producer["kvEventsConfig"]["podDiscoveryConfig"]["socketPort"] == port
    match = re.fullmatch(r"kv@\$\(POD_IP\):(\d+)@(.+)", events["topic"])
    assert match is not None
    assert int(match[1]) == plan.pool.ports[0]
    # The model is the third of three parts, and the router takes no other number of them.
    assert events["topic"].count("@") == 2
    assert match[2] == plan.model.served_name == tokens["modelName"]
    assert events["topic"].startswith(producer["kvEventsConfig"]["topicFilter"])
    (decode,) = plan.roles
    assert {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}} in decode.container.env
    # The router dials the first port plus the place of the endpoint's port in the pool.
    open_ports = [item["containerPort"] for item in decode.container.ports]
    assert set(range(port, port + len(plan.pool.ports))) <= set(open_ports)
    assert len(open_ports) == len(set(open_ports))
    assert plan.render is not None
    if plan.render.server is None:
        assert plan.render.target_port == plan.pool.ports[0]
        assert plan.render.selector == plan.pool.selector
    else:
        command = plan.render.server.args
        assert f"--port={plan.render.target_port}" in command
        assert tokens["modelName"] in (command[0], *(arg.partition("=")[2] for arg in command if "served" in arg))
    assert tokens["vllm"] == {"url": f"http://{plan.render.name}:{plan.render.port}"}
    for user in ("inflight-load-producer", "prefix-cache-affinity-filter"):
        if any(item["type"] == user for item in plan.router.config["plugins"]):
            assert plugin(plan, user)["prefixMatchInfoProducerName"] == PRODUCER


def test_vllm_tokenises_on_the_fleet(make_plan: Any) -> None:
    plan = make_plan(GUIDE)
    assert_agreement(plan, "block-size")
    assert json.loads(flags(plan)["kv-events-config"])["enable_kv_cache_events"] is True
    assert "enable-scale-out" in flags(plan)
    assert plan.render is not None
    assert plan.render.server is None
    assert plan.render.selector == plan.pool.selector
    assert plugin(plan, PRODUCER)["tokenProcessorConfig"] == {"blockSizeTokens": 64}


def test_sglang_has_servers_that_only_tokenise(make_plan: Any, catalog: Catalog) -> None:
    plan = make_plan(GUIDE, {"engine": "sglang"})
    assert_agreement(plan, "page-size")
    assert "enable_kv_cache_events" not in json.loads(flags(plan)["kv-events-config"])
    assert plugin(plan, PRODUCER)["kvEventsConfig"]["engineType"] == "sglang"
    assert plugin(plan, PRODUCER)["tokenProcessorConfig"] == {"blockSizeTokens": 64, "hashAlgorithm": "xxh64"}
    assert plan.render is not None and plan.render.server is not None
    assert plan.render.server.args == ["Qwen/Qwen3-32B", "--port=8000"]
    assert {budget.name: budget.selector for budget in plan.budgets}[f"{GUIDE}-render"] == plan.render.selector
    # The pool must not select them, or the router would send them prompts.
    assert not plan.pool.selector.items() <= plan.render.labels.items()
    made = {(item["kind"], item["metadata"]["name"]) for item in render(plan, catalog.template_dirs(GUIDE)).objects}
    assert {("Service", f"{GUIDE}-render"), ("Deployment", f"{GUIDE}-render")} <= made


@pytest.mark.parametrize(
    ("release", "key", "scale_out"),
    [("0.8", "blockSize", False), ("0.9", "blockSizeTokens", False), ("1.0", "blockSizeTokens", True)],
)
def test_names_follow_the_release(make_plan: Any, release: str, key: str, scale_out: bool) -> None:
    plan = make_plan(GUIDE, {"release": release})
    assert_agreement(plan, "block-size")
    assert plugin(plan, PRODUCER)["tokenProcessorConfig"] == {key: 64}
    assert ("enable-scale-out" in flags(plan)) is scale_out


def test_each_rank_publishes_on_a_port_of_its_own(make_plan: Any) -> None:
    plan = make_plan(GUIDE, MOE)
    assert_agreement(plan, "block-size")
    (decode,) = plan.roles
    ports = {item["name"]: item["containerPort"] for item in decode.container.ports}
    assert [ports[f"kv-events{rank}"] for rank in range(4)] == [5556, 5557, 5558, 5559]
    assert plan.pool.ports == [8000, 8001, 8002, 8003]
    with pytest.raises(UserError, match="8 ranks take 2 pods"):
        make_plan(GUIDE, {**MOE, "roles": {"decode": {"parallelism": {"tensor": 1, "data": 8, "dataLocal": 4}}}})


def test_groups_of_pods_are_refused_for_guides_that_have_them(make_plan: Any, catalog: Catalog) -> None:
    settings = catalog.guide(GUIDE).kv_events
    assert settings is not None
    groups = make_plan("wide-ep").roles[0].parallelism
    with pytest.raises(UserError, match="KV events of a group of pods"):
        plan_events(settings, catalog.engine("vllm"), "0.30.0", make_plan(GUIDE).model, groups, 8000)


def test_ranks_behind_one_port_are_refused(make_plan: Any) -> None:
    """The router has one subscription for each port of the pool."""
    hybrid = {"tensor": 1, "dataLocal": 4, "loadBalancing": "hybrid"}
    with pytest.raises(UserError, match="KV events of ranks behind one port") as caught:
        make_plan(GUIDE, {**MOE, "roles": {"decode": {"parallelism": hybrid}}})
    assert caught.value.fix == "set loadBalancing: perRank"


def test_a_router_that_takes_all_ranks_for_one_is_refused(make_plan: Any) -> None:
    with pytest.raises(UserError, match=r"router 0\.9\.0, which takes the events of all ranks") as caught:
        make_plan(GUIDE, {**MOE, "release": "0.8"})
    assert caught.value.fix == "choose a newer release, or one rank a pod"
    assert make_plan(GUIDE, {**MOE, "release": "0.9"}).pool.ports == [8000, 8001, 8002, 8003]


def test_a_name_that_does_not_fit_into_a_topic_is_refused(make_plan: Any) -> None:
    with pytest.raises(UserError, match="'team@qwen' holds a @"):
        make_plan(GUIDE, {"model": {"servedName": "team@qwen"}})


@pytest.mark.parametrize(
    ("port", "what"),
    [(8000, "port 8000 is taken by rank0"), (7997, "port 8000 is taken by rank0"), (8004, "taken by supervisor")],
)
def test_ports_of_events_are_free(catalog: Catalog, port: int, what: str) -> None:
    with pytest.raises(UserError, match=what):
        plan_with(catalog, MOE, port=port)


def test_ports_of_events_exist(catalog: Catalog) -> None:
    assert plan_with(catalog, MOE, port=65532).roles[0].container.ports[-1]["containerPort"] == 65535
    with pytest.raises(UserError, match="4 ranks would end at port 65536"):
        plan_with(catalog, MOE, port=65533)


@pytest.mark.parametrize(
    ("spec", "holders"),
    [
        # The router's own ten are enough for five endpoints, each reported and assumed.
        ({"roles": {"decode": {"replicas": 5}}}, None),
        ({"roles": {"decode": {"replicas": 6}}}, 12),
        ({"preset": "8xtp2"}, 16),
        (MOE, 16),
    ],
)
def test_the_index_has_room_for_all_that_hold_a_block(
    make_plan: Any, spec: dict[str, Any], holders: int | None
) -> None:
    index = plugin(make_plan(GUIDE, spec), PRODUCER)["indexerConfig"]["kvBlockIndexConfig"]
    assert index == {"enableMetrics": True, **({"inMemoryConfig": {"podCacheSize": holders}} if holders else {})}


def test_servers_that_tokenise_answer_to_the_name_that_the_router_asks_for(make_plan: Any) -> None:
    plan = make_plan(GUIDE, {"engine": "sglang", "model": {"servedName": "qwen", "revision": "abc"}})
    assert plan.render.server.args == [
        "Qwen/Qwen3-32B", "--revision=abc", "--served-model-name=qwen", "--port=8000",
    ]  # fmt: skip
    assert plugin(plan, "token-producer")["modelName"] == "qwen"


@pytest.mark.parametrize(
    ("cache", "volume"),
    [
        ({"pvc": {"claimName": "models"}}, {"persistentVolumeClaim": {"claimName": "models"}}),
        ({"hostPath": {"path": "/models"}}, {"hostPath": {"path": "/models", "type": "DirectoryOrCreate"}}),
    ],
)
def test_servers_that_tokenise_read_a_local_model_where_the_engines_do(
    make_plan: Any, cache: dict[str, Any], volume: dict[str, Any]
) -> None:
    plan = make_plan(GUIDE, {"engine": "sglang", "model": {"source": "local", "cache": cache}})
    server = plan.render.server
    assert server.volumes == [{"name": "model-cache", **volume}]
    assert server.args[0].startswith(f"{server.volume_mounts[0]['mountPath']}/")
    assert {"name": "HF_HUB_OFFLINE", "value": "1"} in server.env
    # Two engines and three servers.
    assert [notice for notice in plan.notices if "mounted by 5 pods" in notice] == (
        [notice for notice in plan.notices if "PersistentVolumeClaim" in notice]
    )


def test_servers_that_tokenise_keep_a_tokenizer_of_the_hub_to_themselves(make_plan: Any) -> None:
    cache = {"pvc": {"claimName": "models"}}
    plan = make_plan(GUIDE, {"engine": "sglang", "model": {"cache": cache}})
    assert plan.render.server.volumes == [{"name": "model-cache", "emptyDir": {}}]
    assert any("mounted by 2 pods" in notice for notice in plan.notices)


def test_models_whose_blocks_the_router_does_not_all_learn_of_are_told(make_plan: Any) -> None:
    assert any("layers without full attention" in notice for notice in make_plan(GUIDE, MOE).notices)
    assert not any("full attention" in notice for notice in make_plan(GUIDE).notices)
    assert not any("full attention" in notice for notice in make_plan("pd-disaggregation").notices)


@pytest.mark.parametrize(
    ("engine", "names"),
    [
        ("vllm", ["block-size", "kv-events-config", "enable_scale_out", "enable-prefix-caching"]),
        ("vllm", ["no-enable-prefix-caching"]),
        ("sglang", ["page-size", "kv-events-config", "disable-radix-cache"]),
    ],
)
def test_flags_that_have_to_agree_are_not_the_users(make_plan: Any, engine: str, names: list[str]) -> None:
    for name in names:
        for value in (1, False, None):
            with pytest.raises(UserError, match="llmdctl sets this flag itself"):
                make_plan(GUIDE, {"engine": engine, "roles": {"decode": {"engineArgs": {name: value}}}})


def test_engines_keep_what_they_tell_of(make_plan: Any) -> None:
    assert "--enable-prefix-caching" in make_plan(GUIDE).roles[0].container.args
    assert not any("radix" in arg for arg in make_plan(GUIDE, {"engine": "sglang"}).roles[0].container.args)


def test_pods_that_tokenise_are_asked_where_they_listen(catalog: Catalog) -> None:
    fleet = plan_with(catalog, {}, render_port=9000).render
    assert fleet is not None and (fleet.port, fleet.target_port) == (9000, 8000)
    own = plan_with(catalog, {"engine": "sglang"}, render_port=9000, render_replicas=1)
    assert own.render is not None and own.render.server is not None
    assert (own.render.port, own.render.target_port, own.render.server.replicas) == (9000, 9000, 1)
    assert "--port=9000" in own.render.server.args
    assert not any(budget.name == own.render.name for budget in own.budgets)


def test_a_router_config_of_ones_own_is_left_alone(make_plan: Any) -> None:
    own = {"plugins": [{"type": "token-producer", "parameters": {"modelName": "mine"}}]}
    plan = make_plan(GUIDE, {"router": {"config": own}})
    assert plugin(plan, "token-producer") == {"modelName": "mine"}


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,20}", fullmatch=True)
SERVING = range(8000, 8009)
"""Ports of eight ranks and their supervisor."""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    served=NAMES,
    port=st.integers(1024, 65528).filter(lambda port: not set(range(port, port + 8)) & set(SERVING)),
    block=st.sampled_from([1, 16, 32, 64, 128, 256]),
    render_port=st.integers(1, 65535),
    ranks=st.integers(1, 8),
    release=st.sampled_from(["0.9", "1.0"]),
)
def test_ranks_of_vllm_agree_for_any_port_block_and_model(
    catalog: Catalog, served: str, port: int, block: int, render_port: int, ranks: int, release: str
) -> None:
    spec = {
        "release": release,
        "model": {"id": "openai/gpt-oss-120b", "servedName": served},
        "roles": {"decode": {"parallelism": {"tensor": 1, "dataLocal": ranks}}},
    }
    plan = plan_with(catalog, spec, port=port, block_size=block, render_port=render_port)
    assert_agreement(plan, "block-size")
    assert flags(plan)["block-size"] == str(block)
    assert plugin(plan, PRODUCER)["kvEventsConfig"]["podDiscoveryConfig"]["socketPort"] == port
    assert len(plan.pool.ports) == ranks


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    served=NAMES,
    tensor=st.sampled_from([1, 2, 4, 8]),
    engine=st.sampled_from(["vllm", "sglang"]),
    port=st.integers(1024, 65535).filter(lambda port: port not in SERVING),
    block=st.sampled_from([1, 16, 32, 64, 128, 256]),
    release=st.sampled_from(["0.8", "0.9", "1.0"]),
)
def test_they_agree_for_any_engine_and_release(
    catalog: Catalog, served: str, tensor: int, engine: str, port: int, block: int, release: str
) -> None:
    spec = {
        "engine": engine,
        "release": release,
        "model": {"servedName": served},
        "roles": {"decode": {"parallelism": {"tensor": tensor}}},
    }
    plan = plan_with(catalog, spec, port=port, block_size=block)
    flag_name = "page-size" if engine == "sglang" else "block-size"
    assert_agreement(plan, flag_name)
    assert flags(plan)[flag_name] == str(block)
    assert plugin(plan, "token-producer")["modelName"] == served
