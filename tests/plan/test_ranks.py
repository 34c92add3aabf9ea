"""Data-parallel ranks: sizes, ports, groups and claims agree everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llmdctl.catalog.load import Catalog
from llmdctl.engines import find_engine, load_table, parse
from llmdctl.findings import UserError
from llmdctl.plan.model import Balancing, Plan, RolePlan
from llmdctl.render.objects import render

WIDE = "wide-ep"
ROLES = ("prefill", "decode")


def role(plan: Plan, name: str) -> RolePlan:
    return next(found for found in plan.roles if found.name == name)


def parallel(**sizes: Any) -> dict[str, Any]:
    """A spec that gives both roles the same sizes; wide expert parallelism's default is DP16 with 8 a pod."""
    return {"roles": {name: {"parallelism": sizes} for name in ROLES}}


def flags(found: RolePlan) -> dict[str, str]:
    """The engine's flags as a real reader of the container sees them."""
    invocation = find_engine(found.container.command, found.container.args, {})
    assert invocation is not None
    parsed = parse("vllm", invocation.argv, load_table("vllm", "0.30.0"))
    assert not parsed.unknown
    texts = {name: options[-1].values for name, options in parsed.options.items()}
    return {name: str(getattr(words[0], "text", words[0])) if words else "" for name, words in texts.items()}


def test_the_default_is_sixteen_ranks_a_role_on_two_nodes(make_plan: Any) -> None:
    plan = make_plan(WIDE)
    prefill, decode = role(plan, "prefill"), role(plan, "decode")
    for found in (prefill, decode):
        sizes = found.parallelism
        assert (sizes.data, sizes.data_local, sizes.pods, sizes.accelerators, sizes.world_size) == (16, 8, 2, 8, 16)
        assert found.restart_policy == "RecreateGroupOnPodRestart"
        assert found.rollout == {"maxSurge": 0, "maxUnavailable": 1}
        assert found.container.command == [
            "/bin/sh",
            "-c",
            'exec vllm serve "$@" --data-parallel-start-rank=$((LWS_WORKER_INDEX * 8))',
            "vllm",
        ]
    assert plan.pool.ports == list(range(8000, 8008))
    assert [port["containerPort"] for port in prefill.container.ports] == [*range(8000, 8009), 5555]
    assert [port["containerPort"] for port in decode.container.ports] == [*range(8200, 8209), 5555]
    assert prefill.container.readiness_probe["httpGet"] == {"path": "/readyz", "port": "supervisor"}
    assert decode.sidecar is not None
    assert {"--data-parallel-size=8", "--enable-prefiller-sampling=true"} <= set(decode.sidecar.args)
    assert [port["containerPort"] for port in decode.sidecar.ports] == list(range(8000, 8008))
    assert decode.metrics_ports == [f"rank{index}" for index in range(8)]
    given_flags = flags(decode)
    assert given_flags["data-parallel-address"] == "$(LWS_LEADER_ADDRESS)"
    assert given_flags["data-parallel-supervisor-port"] == "8208"
    assert given_flags["data-parallel-start-rank"] == "$((LWS_WORKER_INDEX * 8))"


def test_hybrid_balancing_has_one_port_a_pod(make_plan: Any) -> None:
    plan = make_plan(WIDE, {"preset": "hybrid"})
    decode = role(plan, "decode")
    assert plan.pool.ports == [8000]
    assert [port["name"] for port in decode.container.ports] == ["modelserver", "dp-rpc"]
    assert decode.container.readiness_probe["httpGet"]["port"] == "modelserver"
    given_flags = flags(decode)
    assert given_flags["data-parallel-hybrid-lb"] == ""
    assert not {"data-parallel-multi-port-external-lb", "data-parallel-supervisor-port"} & set(given_flags)
    assert decode.sidecar is not None
    assert not any(arg.startswith("--data-parallel-size") for arg in decode.sidecar.args)


def test_one_rank_a_pod_takes_its_number_from_the_group(make_plan: Any) -> None:
    decode = role(make_plan(WIDE, parallel(tensor=8, data=2, dataLocal=1)), "decode")
    assert (decode.parallelism.pods, decode.parallelism.accelerators) == (2, 8)
    assert decode.container.command == ["vllm", "serve"]
    given_flags = flags(decode)
    assert given_flags["data-parallel-rank"] == "$(LWS_WORKER_INDEX)"
    assert "data-parallel-size-local" not in given_flags


def test_ranks_of_one_pod_need_no_group(make_plan: Any) -> None:
    plan = make_plan(WIDE, parallel(data=8, dataLocal=8))
    decode = role(plan, "decode")
    assert decode.parallelism.pods == 1
    assert decode.container.command == ["vllm", "serve"]
    assert not {"data-parallel-address", "data-parallel-start-rank"} & set(flags(decode))
    assert len(plan.pool.ports) == 8


def test_the_aggregated_preset_is_one_group_without_transfer(make_plan: Any, catalog: Catalog) -> None:
    plan = make_plan(WIDE, {"preset": "aggregated"})
    (decode,) = plan.roles
    assert plan.stack.workload == "leaderWorkerSet"
    assert decode.sidecar is None
    assert "kv-transfer-config" not in flags(decode)
    assert [profile["name"] for profile in plan.router.config["schedulingProfiles"]] == ["default"]
    kinds = [rendered["kind"] for rendered in render(plan, catalog.template_dirs(WIDE)).objects]
    assert "LeaderWorkerSet" in kinds
    assert "DisaggregatedSet" not in kinds
    with pytest.raises(UserError, match="no role 'prefill' with this preset"):
        make_plan(WIDE, {"preset": "aggregated", "roles": {"prefill": {"replicas": 1}}})
    with pytest.raises(UserError, match="kvTransfer has no meaning"):
        make_plan(WIDE, {"preset": "aggregated", "kvTransfer": {"connector": "nixl"}})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (parallel(data=12, dataLocal=8), "not a multiple of dataLocal"),
        (parallel(data=24, dataLocal=8), "do not divide the 256 experts"),
        (parallel(data=32, dataLocal=16), "needs 16 accelerators"),
        ({"roles": {"decode": {"parallelism": {"data": 8, "dataLocal": 4}}}}, "prefill serves on 8 ports"),
        ({"model": {"id": "Qwen/Qwen3-32B"}}, "a model without experts"),
        ({"roles": {"decode": {"engineArgs": {"data-parallel-size": 4}}}}, "llmdctl sets this flag itself"),
    ],
)
def test_sizes_that_cannot_work_are_refused(make_plan: Any, spec: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_plan(WIDE, spec)


SIZES = st.tuples(
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["perRank", "hybrid", "leader"]),
).filter(lambda sizes: sizes[0] * sizes[1] <= 8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SIZES, st.integers(1, 3), st.sampled_from(["generic", "gke", "coreweave"]))
def test_every_number_follows_from_the_sizes(
    make_plan: Any, catalog: Catalog, sizes: tuple[int, int, int, str], replicas: int, provider: str
) -> None:
    tensor, local, pods, form = sizes
    spec = parallel(tensor=tensor, data=local * pods, dataLocal=local, loadBalancing=form)
    spec["roles"]["decode"]["replicas"] = replicas
    for name in ROLES:
        # Sizes of all kinds are wanted here, whether or not the model would fit.
        spec["roles"][name]["engineArgs"] = {"load-format": "dummy"}
    plan = make_plan(WIDE, {**spec, "provider": provider})
    objects = render(plan, catalog.template_dirs(WIDE)).objects
    pool = next(item for item in objects if item["kind"] == "InferencePool")
    targets = [port["number"] for port in pool["spec"]["targetPorts"]]
    ranked = form == "perRank" and local > 1
    led = form == "leader" and pods > 1
    assert targets == list(range(8000, 8000 + (local if ranked else 1)))
    (workload,) = [item for item in objects if item["kind"] == "DisaggregatedSet"]
    for found in workload["spec"]["roles"]:
        template = found["spec"]["leaderWorkerTemplate"]
        assert ("leaderTemplate" in template) == led
        pod = template["leaderTemplate" if led else "workerTemplate"]["spec"]
        (container,) = pod["containers"]
        (worker,) = template["workerTemplate"]["spec"]["containers"]
        assert ("--headless" in worker["args"]) == led
        assert worker["resources"] == container["resources"]
        base = 8200 if found["name"] == "decode" else 8000
        given_flags = flags(role(plan, found["name"]))
        assert template["size"] == pods
        assert int(given_flags.get("data-parallel-size", "1")) == local * pods
        assert int(given_flags.get("data-parallel-size-local", "1")) == (local if local * pods > 1 else 1)
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert len(set(ports.values())) == len(ports)
        if ranked:
            assert [ports[f"rank{index}"] for index in range(local)] == list(range(base, base + local))
            assert int(given_flags["data-parallel-supervisor-port"]) == ports["supervisor"] == base + local
        else:
            assert ports["modelserver"] == base
        devices = int(container["resources"].get("limits", {}).get("nvidia.com/gpu", 0))
        claims = len(container["resources"].get("claims", []))
        assert tensor * local == (claims if provider == "gke" else devices)
        assert claims == len(pod.get("resourceClaims", []))


def leading(**more: Any) -> dict[str, Any]:
    return {
        "accelerator": "intel-xpu",
        "roles": {
            "decode": {"parallelism": {"tensor": 2, "data": 4, "dataLocal": 2, "loadBalancing": "leader", **more}}
        },
    }


def test_a_leader_serves_for_the_ranks_of_all_pods(make_plan: Any) -> None:
    plan = make_plan(WIDE, {"accelerator": "intel-xpu"})
    prefill, decode = role(plan, "prefill"), role(plan, "decode")
    assert prefill.worker is None and prefill.restart_policy is None
    assert (decode.parallelism.pods, decode.parallelism.accelerators) == (2, 2)
    assert decode.parallelism.balancing == Balancing.LEADER
    assert plan.pool.ports == [8000]
    leader = flags(decode)
    # With a start rank, even 0, the leader would balance for its own pod only and turn headless workers away.
    assert not {"data-parallel-start-rank", "data-parallel-rank", "headless"} & set(leader)
    assert (leader["data-parallel-size"], leader["data-parallel-size-local"]) == ("2", "1")
    assert decode.metrics_ports == ["modelserver"]
    worker = decode.worker
    assert worker is not None
    assert {"--headless", "--data-parallel-start-rank=$(LWS_WORKER_INDEX)"} <= set(worker.container.args)
    assert not any(arg.startswith("--port") for arg in worker.container.args)
    assert worker.container.readiness_probe is None and worker.container.liveness_probe is None
    assert not worker.container.ports
    assert worker.pod.annotations["llmdctl.io/component-version"] == "vllm@0.30.0"
    assert "routing-sidecar" in decode.pod.annotations["llmdctl.io/component-version"]
    # The pool finds leaders only; everything else about the labels is alike.
    assert set(decode.pod.labels) - set(worker.pod.labels) == {"llm-d.ai/inference-serving"}
    assert not plan.pool.selector.items() <= worker.pod.labels.items()
    assert plan.pool.selector.items() <= decode.pod.labels.items()


def test_workers_of_several_ranks_start_behind_those_of_the_pods_before(make_plan: Any) -> None:
    decode = role(make_plan(WIDE, leading()), "decode")
    assert decode.container.command == ["vllm", "serve"]
    assert decode.worker is not None
    assert decode.worker.container.command[-2:] == [
        'exec vllm serve "$@" --data-parallel-start-rank=$((LWS_WORKER_INDEX * 2))',
        "vllm",
    ]
    assert not any("start-rank" in arg for arg in decode.worker.container.args)


def test_a_leader_without_followers_is_one_port_for_its_ranks(make_plan: Any) -> None:
    decode = role(make_plan(WIDE, leading(data=2)), "decode")
    assert decode.parallelism.balancing == Balancing.HYBRID
    assert decode.worker is None


@pytest.mark.parametrize("workload", ["disaggregatedSet", "leaderWorkerSet"])
def test_leader_and_workers_have_templates_of_their_own(make_plan: Any, catalog: Catalog, workload: str) -> None:
    plan = make_plan(WIDE, {"accelerator": "intel-xpu", "workload": workload})
    objects = render(plan, catalog.template_dirs(WIDE)).objects
    if workload == "disaggregatedSet":
        (both,) = [item["spec"]["roles"] for item in objects if item["kind"] == "DisaggregatedSet"]
        groups = {item["name"]: item["spec"]["leaderWorkerTemplate"] for item in both}
    else:
        groups = {
            item["metadata"]["labels"]["llm-d.ai/role"]: item["spec"]["leaderWorkerTemplate"]
            for item in objects
            if item["kind"] == "LeaderWorkerSet"
        }
    assert "leaderTemplate" not in groups["prefill"]
    leader, worker = (groups["decode"][part]["spec"] for part in ("leaderTemplate", "workerTemplate"))
    assert [item["name"] for item in leader["initContainers"]] == ["routing-proxy"]
    assert "initContainers" not in worker
    assert not {"ports", "startupProbe", "livenessProbe", "readinessProbe"} & set(worker["containers"][0])
    assert worker["resourceClaims"] == leader["resourceClaims"]


def test_a_headless_flag_is_not_for_engine_args(make_plan: Any) -> None:
    spec = {"accelerator": "intel-xpu", "roles": {"decode": {"engineArgs": {"headless": True}}}}
    with pytest.raises(UserError, match=r"engineArgs\.headless: llmdctl sets this flag itself"):
        make_plan(WIDE, spec)


def test_a_leader_needs_a_connector_without_lists_of_hosts(make_plan: Any) -> None:
    spec = {"accelerator": "amd-mi355x", **parallel(loadBalancing="leader")}
    with pytest.raises(UserError, match="moriio over several ranks needs hybrid"):
        make_plan(WIDE, spec)
