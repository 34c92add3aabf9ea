"""Precise prefix-cache routing: both sides of every agreement."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmdctl.catalog.load import Catalog
from llmdctl.findings import UserError
from llmdctl.plan.kvevents import plan_events
from llmdctl.plan.model import Plan
from llmdctl.render.objects import render

GUIDE = "precise-prefix-cache-routing"
PRODUCER = "precise-prefix-cache-producer"


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
    assert match[2] == plan.model.served_name == tokens["modelName"]
    assert events["topic"].startswith(producer["kvEventsConfig"]["topicFilter"])
    (decode,) = plan.roles
    assert {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}} in decode.container.env
    assert port in {item["containerPort"] for item in decode.container.ports}
    assert plan.render is not None
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
    moe = {"model": {"id": "openai/gpt-oss-120b"}, "roles": {"decode": {"parallelism": {"tensor": 1, "dataLocal": 4}}}}
    plan = make_plan(GUIDE, moe)
    (decode,) = plan.roles
    ports = {item["name"]: item["containerPort"] for item in decode.container.ports}
    assert [ports[f"kv-events{rank}"] for rank in range(4)] == [5556, 5557, 5558, 5559]
    assert plan.pool.ports == [8000, 8001, 8002, 8003]
    with pytest.raises(UserError, match="8 ranks take 2 pods"):
        make_plan(GUIDE, {**moe, "roles": {"decode": {"parallelism": {"tensor": 1, "data": 8, "dataLocal": 4}}}})


def test_groups_of_pods_are_refused_for_guides_that_have_them(make_plan: Any, catalog: Catalog) -> None:
    settings = catalog.guide(GUIDE).kv_events
    assert settings is not None
    groups = make_plan("wide-ep").roles[0].parallelism
    with pytest.raises(UserError, match="KV events of a group of pods"):
        plan_events(settings, catalog.engine("vllm"), "0.30.0", make_plan(GUIDE).model, groups, 8000)


def test_flags_that_have_to_agree_are_not_the_users(make_plan: Any) -> None:
    for name in ("block-size", "kv-events-config", "enable_scale_out"):
        with pytest.raises(UserError, match="llmdctl sets this flag itself"):
            make_plan(GUIDE, {"roles": {"decode": {"engineArgs": {name: 1}}}})


def test_a_router_config_of_ones_own_is_left_alone(make_plan: Any) -> None:
    own = {"plugins": [{"type": "token-producer", "parameters": {"modelName": "mine"}}]}
    plan = make_plan(GUIDE, {"router": {"config": own}})
    assert plugin(plan, "token-producer") == {"modelName": "mine"}


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    NAMES, st.sampled_from([1, 2, 4, 8]), st.sampled_from(["vllm", "sglang"]), st.sampled_from(["0.8", "0.9", "1.0"])
)
def test_they_agree_for_any_model_and_size(make_plan: Any, served: str, tensor: int, engine: str, release: str) -> None:
    spec = {
        "engine": engine,
        "release": release,
        "model": {"servedName": served},
        "roles": {"decode": {"parallelism": {"tensor": tensor}}},
    }
    assert_agreement(
        make_plan(GUIDE, spec, metadata={"name": "a"}), "page-size" if engine == "sglang" else "block-size"
    )
