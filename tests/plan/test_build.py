"""What a plan derives from a stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llmdctl.catalog.load import load_catalog
from llmdctl.findings import UserError, format_path
from llmdctl.plan.build import build_plan
from llmdctl.plan.model import Plan, RolePlan
from llmdctl.plan.origin import Origin, OriginKind
from llmdctl.plan.request import Request, UserLayer

PD = "pd-disaggregation"
PVC = {"pvc": {"claimName": "models"}}
OB = "optimized-baseline"


def role(plan: Plan, name: str) -> RolePlan:
    return next(found for found in plan.roles if found.name == name)


def args(plan: Plan, name: str) -> list[str]:
    return role(plan, name).container.args


def env(plan: Plan, name: str) -> dict[str, Any]:
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in role(plan, name).container.env}


def kv_config(plan: Plan, name: str) -> dict[str, Any]:
    raw = next(arg for arg in args(plan, name) if arg.startswith("--kv-transfer-config="))
    loaded: dict[str, Any] = json.loads(raw.partition("=")[2])
    return loaded


def test_default_topology_of_prefill_decode(make_plan: Any) -> None:
    plan = make_plan(PD)
    prefill, decode = role(plan, "prefill"), role(plan, "decode")
    assert (prefill.replicas, prefill.parallelism.tensor, decode.replicas, decode.parallelism.tensor) == (1, 1, 1, 4)
    assert (prefill.engine_port, decode.engine_port, decode.serving_port) == (8000, 8200, 8000)
    assert prefill.sidecar is None
    assert decode.sidecar is not None
    assert "--port=8000" in decode.sidecar.args
    assert "--model-server-port=8200" in decode.sidecar.args
    assert "--kv-connector=nixlv2" in decode.sidecar.args
    assert "--secure-serving=false" in decode.sidecar.args


def test_sidecar_flags_follow_the_release(make_plan: Any) -> None:
    sidecar = role(make_plan(PD, {"release": "0.9"}), "decode").sidecar
    assert sidecar is not None
    # --secure-serving is unknown to sidecars up to 0.10 and would stop them.
    assert "--secure-proxy=false" in sidecar.args
    assert not any(arg.startswith("--secure-serving") for arg in sidecar.args)


def test_vllm_roles_are_a_producer_and_a_consumer_of_one_connector(make_plan: Any) -> None:
    plan = make_plan(PD)
    prefill, decode = kv_config(plan, "prefill"), kv_config(plan, "decode")
    assert (prefill["kv_role"], decode["kv_role"]) == ("kv_producer", "kv_consumer")
    assert prefill["kv_connector"] == decode["kv_connector"] == "NixlConnector"
    assert prefill["kv_connector_extra_config"] == {"backends": ["UCX"]}
    assert env(plan, "decode")["VLLM_NIXL_SIDE_CHANNEL_HOST"] == {"fieldRef": {"fieldPath": "status.podIP"}}
    assert env(plan, "prefill")["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"] == "120"


def test_sglang_roles_agree_on_pages_and_bootstrap_port(make_plan: Any) -> None:
    plan = make_plan(PD, {"engine": "sglang"})
    for name in ("prefill", "decode"):
        assert f"--disaggregation-mode={name}" in args(plan, name)
        assert "--page-size=64" in args(plan, name)
        assert "--host=0.0.0.0" in args(plan, name)
        assert "--enable-metrics" in args(plan, name)
    assert "--disaggregation-bootstrap-port=8998" in args(plan, "prefill")
    sidecar = role(plan, "decode").sidecar
    assert sidecar is not None
    assert "--kv-connector=sglang" in sidecar.args
    assert {"name": "SGLANG_BOOTSTRAP_PORT", "value": "8998"} in sidecar.env


def test_model_arguments_reach_the_engine(make_plan: Any) -> None:
    assert args(make_plan(PD), "decode")[0] == "openai/gpt-oss-120b"
    assert "--block-size=128" in args(make_plan(PD), "prefill")
    sglang = make_plan(OB, {"engine": "sglang"})
    assert "--model-path=Qwen/Qwen3-32B" in args(sglang, "decode")


def test_aggregated_stack_has_neither_sidecar_nor_transfer(make_plan: Any) -> None:
    decode = role(make_plan(OB), "decode")
    assert decode.sidecar is None
    assert decode.engine_port == decode.serving_port == 8000
    assert not any("kv-transfer" in arg for arg in decode.container.args)
    assert decode.container.lifecycle == {"preStop": {"sleep": {"seconds": 15}}}
    # grace period >= wait before SIGTERM + --shutdown-timeout + 15
    assert decode.pod.termination_grace_period_seconds == 75
    assert "--shutdown-timeout=45" in decode.container.args


def test_gke_claims_one_gpu_and_nic_pair_a_rank(make_plan: Any) -> None:
    plan = make_plan(PD, {"provider": "gke"})
    decode = role(plan, "decode")
    claims = decode.pod.resource_claims or []
    assert [claim["name"] for claim in claims] == [f"gke-rdma-{index}" for index in range(4)]
    assert decode.container.resources["claims"] == [{"name": f"gke-rdma-{index}"} for index in range(4)]
    # The claim brings the GPU: asking the device plugin too would take twice as many.
    assert "nvidia.com/gpu" not in decode.container.resources["limits"]
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in (decode.pod.tolerations or [])
    (template,) = plan.claims
    assert template.name == "pd-disaggregation-gke-rdma"
    assert template.constraints == [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    assert claims[0]["resourceClaimTemplateName"] == template.name


@pytest.mark.parametrize("provider", ["gke", "gke-a3u"])
def test_sglang_on_gke_has_the_figures_of_gke(make_plan: Any, provider: str) -> None:
    plan = make_plan(PD, {"provider": provider, "engine": "sglang"})
    for found in plan.roles:
        resources = found.container.resources
        assert resources["requests"] == {"cpu": "32", "memory": "128Gi"}
        assert resources["limits"] == {"cpu": "64", "memory": "512Gi"}
        assert env(plan, found.name)["UCX_TLS"] == "rc_mlx5,rc,cuda_copy,cuda_ipc,sm,shm,self,tcp"
        assert found.container.security_context["capabilities"]["add"] == ["IPC_LOCK"]
        assert found.container.startup_probe["failureThreshold"] >= 240
    # Elsewhere the guide's own figures hold.
    elsewhere = role(make_plan(PD, {"engine": "sglang"}), "decode").container.resources
    assert (elsewhere["requests"]["cpu"], elsewhere["limits"]["memory"]) == ("16", "64Gi")


def test_a4x_claims_only_the_nic(make_plan: Any) -> None:
    plan = make_plan(PD, {"provider": "gke-a4x", "accelerator": "nvidia-gb200"})
    decode = role(plan, "decode")
    assert decode.container.resources["limits"]["nvidia.com/gpu"] == "4"
    assert [claim.name for claim in plan.claims] == ["pd-disaggregation-gke-rdma-nic"]
    assert decode.container.security_context["capabilities"]["add"] == ["IPC_LOCK", "NET_ADMIN"]
    # What gke says holds for gke-a4x too, because it extends it.
    assert env(plan, "decode")["UCX_IB_ROCE_REACHABILITY_MODE"] == "all"


def test_coreweave_asks_for_rdma_once_a_pod(make_plan: Any) -> None:
    decode = role(make_plan(PD, {"provider": "coreweave"}), "decode")
    for side in ("requests", "limits"):
        assert decode.container.resources[side]["rdma/ib"] == "1"
        assert decode.container.resources[side]["nvidia.com/gpu"] == "4"


def test_presets_size_the_roles_and_a_user_overrides_them(make_plan: Any) -> None:
    plan = make_plan(PD, {"preset": "8p2d"})
    assert (role(plan, "prefill").replicas, role(plan, "decode").replicas) == (8, 2)
    plan = make_plan(PD, {"preset": "8p2d", "roles": {"decode": {"replicas": 3}}})
    assert (role(plan, "prefill").replicas, role(plan, "decode").replicas) == (8, 3)


def test_selectors_are_minimal_and_part_of_the_pod_labels(make_plan: Any) -> None:
    plan = make_plan(PD, metadata={"name": "gpt"})
    for found in plan.roles:
        assert found.selector == {"app.kubernetes.io/instance": "gpt", "llm-d.ai/role": found.name}
        assert found.selector.items() <= found.pod.labels.items()
        assert plan.pool.selector.items() <= found.pod.labels.items()
    assert not plan.pool.selector.items() <= plan.router.labels.items()


def test_a_user_cannot_break_the_selector_with_pod_labels(make_plan: Any) -> None:
    plan = make_plan(PD, {"pod": {"labels": {"llm-d.ai/role": "other", "team": "a"}}})
    assert role(plan, "decode").pod.labels["llm-d.ai/role"] == "decode"
    assert role(plan, "decode").pod.labels["team"] == "a"


def test_router_config_follows_the_release(make_plan: Any) -> None:
    assert make_plan(PD).router.config["apiVersion"] == "llm-d.ai/v1"
    assert make_plan(PD, {"release": "0.9"}).router.config["apiVersion"] == "llm-d.ai/v1alpha1"


def test_replicated_router_elects_a_leader(make_plan: Any) -> None:
    router = make_plan(OB, {"router": {"replicas": 2}}).router
    assert "--ha-enable-leader-election=true" in router.args
    assert (router.liveness_service, router.readiness_service) == ("liveness", "readiness")


def test_group_identity_needs_a_new_leader_worker_set(make_plan: Any) -> None:
    assert role(make_plan(PD), "decode").group_identity == "Hash"
    assert role(make_plan(PD, {"release": "0.9"}), "decode").group_identity is None
    queued = make_plan(PD, {"queue": {"kueue": {"localQueue": "gpus"}}})
    assert role(queued, "decode").group_identity == "Ordinal"
    assert role(queued, "decode").workload_labels["kueue.x-k8s.io/queue-name"] == "gpus"


def test_every_value_knows_where_it_comes_from(make_plan: Any) -> None:
    plan = make_plan(
        PD,
        {
            "provider": "gke",
            "roles": {"decode": {"engineArgs": {"max-num-seqs": 64}, "env": [{"name": "X", "value": "1"}]}},
            "pod": {"nodeSelector": {"pool": "a"}},
            "monitoring": {"enabled": True},
        },
    )
    origins = {format_path(path): str(origin) for path, _, origin in plan.values()}
    assert origins["spec.roles.decode.engineArgs.max-num-seqs"] == "flag: --set in a test"
    assert origins["roles.decode.container.args.--max-num-seqs"] == "flag: --set in a test"
    assert origins["roles.decode.container.env.X.value"] == "flag: --set in a test"
    assert origins["roles.decode.pod.nodeSelector.pool"] == "flag: --set in a test"
    assert "model openai/gpt-oss-120b" in origins["roles.decode.container.args.--block-size"]
    assert "provider gke" in origins["roles.decode.container.env.UCX_IB_ROCE_REACHABILITY_MODE.value"]
    assert "matrix" in origins["spec.roles.decode.parallelism.tensor"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"accelerator": "nvidia-h201"}, "nvidia-h20"),
        ({"engine": "vlm"}, "vlm"),
        ({"provider": "gke-a4x"}, "does not list"),
        ({"preset": "8p3d"}, "no preset"),
        ({"release": "7.7"}, "7.7"),
        ({"workload": "leaderWorkerSet"}, "does not run as leaderWorkerSet"),
        ({"networkPolicy": {"enabled": True}}, "not supported yet"),
        ({"roles": {"encode": {"replicas": 1}}}, "no role"),
        ({"roles": {"decode": {"parallelism": {"data": 2}}}}, "not supported yet"),
        ({"roles": {"decode": {"parallelism": {"tensor": 16}}}}, "16 accelerators"),
        ({"roles": {"decode": {"parallelism": {"tensor": 3}}}}, "64 attention heads"),
        ({"roles": {"decode": {"engineArgs": {"port": 1}}}}, "llmdctl sets this flag itself"),
        ({"roles": {"decode": {"engineArgs": {"tensor_parallel_size": 1}}}}, "llmdctl sets this flag itself"),
        ({"model": {"maxLength": 999999}}, "more than"),
        ({"model": {"cache": {"pvc": {"claimName": "a"}, "hostPath": {"path": "/x"}}}}, "exclude each other"),
        ({"kubeVersion": "1.33", "provider": "gke"}, "needs Kubernetes 1.34"),
        ({"kvTransfer": {"connector": "offloading"}}, "has no connector 'offloading' in the catalog"),
        ({"images": {"overrides": {"vlm-nvidia": {"tag": "x"}}}}, "no such image"),
        ({"patches": [{"kind": "Service", "name": "nope", "merge": {}}]}, "nope"),
    ],
)
def test_what_cannot_work_is_refused_with_a_way_out(
    make_plan: Any, catalog: Any, spec: dict[str, Any], message: str
) -> None:
    from llmdctl.render.objects import render

    with pytest.raises(UserError, match=message) as caught:
        render(make_plan(PD, spec), catalog.template_dirs(PD))
    assert caught.value.fix


def test_unlisted_combinations_name_the_nearest_and_can_be_forced(make_plan: Any) -> None:
    with pytest.raises(UserError) as caught:
        make_plan(PD, {"provider": "gke-a4x", "accelerator": "nvidia-h200"})
    assert "gke-a4x" in caught.value.fix or "gke" in caught.value.fix
    plan = make_plan(PD, {"provider": "gke-a4x", "accelerator": "nvidia-h200"}, allow=True)
    assert any("--allow-unsupported" in notice for notice in plan.notices)


def test_inferred_image_tags_are_told_once(make_plan: Any) -> None:
    told = [notice for notice in make_plan(PD).notices if "inferred" in notice]
    assert len(told) == len(set(told)) == 2
    assert not [notice for notice in make_plan(PD, {"release": "0.9"}).notices if "inferred" in notice]


def test_stack_names_that_controllers_cannot_extend_are_refused() -> None:
    from llmdctl.plan.names import check_names

    check_names("disaggregatedSet", "a" * 30, "prefill", 8)
    with pytest.raises(UserError, match="too long"):
        check_names("disaggregatedSet", "a" * 60, "prefill", 8)
    with pytest.raises(UserError, match="too long"):
        check_names("deployment", "a" * 50, "decode", 1)


def test_kueue_makes_longer_names(make_plan: Any) -> None:
    # llm-d's own bound: a generated LeaderWorkerSet of at most 39 characters.
    queue = {"queue": {"kueue": {"localQueue": "gpus"}}}
    fits, too_long = {"name": "a" * 20}, {"name": "a" * 21}
    assert make_plan(PD, queue, metadata=fits)
    assert make_plan(PD, metadata=too_long)
    with pytest.raises(UserError, match="too long for role 'prefill'") as caught:
        make_plan(PD, queue, metadata=too_long)
    assert "Workload of Kueue" in str(caught.value.why)
    assert caught.value.fix == "shorten metadata.name by 1 or more"


def test_an_own_gateway_of_istio_gets_what_istio_needs(make_plan: Any) -> None:
    plan = make_plan(
        OB, {"router": {"mode": "gateway", "gateway": {"className": "istio"}}}, metadata={"namespace": "x"}
    )
    templates = [found.template for found in plan.objects]
    assert "router/destinationrule.yaml.j2" in templates
    assert plan.router.host == "optimized-baseline-epp.x.svc.cluster.local"
    other = make_plan(OB, {"router": {"mode": "gateway", "gateway": {"className": "kgateway"}}})
    assert "router/destinationrule.yaml.j2" not in [found.template for found in other.objects]
    standalone = make_plan(OB, {"router": {"gateway": {"className": "istio"}}})
    assert "router/destinationrule.yaml.j2" not in [found.template for found in standalone.objects]


def test_a_foreign_gateway_is_told_what_it_needs(make_plan: Any) -> None:
    foreign = make_plan(OB, {"router": {"mode": "gateway"}})
    assert any("DestinationRule" in notice for notice in foreign.notices)
    own = make_plan(OB, {"router": {"mode": "gateway", "gateway": {"className": "istio"}}})
    assert not any("DestinationRule" in notice for notice in own.notices)


def test_gke_routes_carry_no_timeouts(make_plan: Any) -> None:
    gateway = {"router": {"mode": "gateway", "gateway": {"className": "gke-l7-rilb"}}}
    assert make_plan(OB, {"provider": "gke", **gateway}).router.route_timeouts is None
    assert make_plan(OB, gateway).router.route_timeouts == {"request": "0s"}


DRA = {"devices": {"mode": "dra"}, "kubeVersion": "1.35"}
UNDESCRIBED = {**DRA, "provider": "coreweave", "accelerator": "nvidia-h200"}


@pytest.mark.parametrize("guide", [PD, OB])
def test_claims_that_nobody_describes_are_refused_rather_than_left_out(make_plan: Any, guide: str) -> None:
    with pytest.raises(UserError, match="nothing in the catalog says which devices to claim"):
        make_plan(guide, UNDESCRIBED)
    plan = make_plan(guide, UNDESCRIBED, allow=True)
    assert any("instead" in notice for notice in plan.notices)
    assert all("nvidia.com/gpu" in role.container.resources["limits"] for role in plan.roles)


def test_claims_of_a_provider_take_the_place_of_counted_accelerators(make_plan: Any) -> None:
    plan = make_plan(PD, {**DRA, "provider": "gke"})
    assert [claim.name for claim in plan.claims]
    assert all("nvidia.com/gpu" not in role.container.resources.get("limits", {}) for role in plan.roles)


@pytest.mark.parametrize(
    ("prefill", "decode", "workload", "good"),
    [
        (0, 1, "disaggregatedSet", False),
        (1, 0, "disaggregatedSet", False),
        (0, 0, "disaggregatedSet", True),
        (2, 1, "disaggregatedSet", True),
        (0, 1, "deployment", True),
    ],
)
def test_a_disaggregated_set_has_replicas_in_all_roles_or_in_none(
    make_plan: Any, prefill: int, decode: int, workload: str, good: bool
) -> None:
    spec = {"workload": workload, "roles": {"prefill": {"replicas": prefill}, "decode": {"replicas": decode}}}
    if good:
        make_plan(PD, spec)
        return
    with pytest.raises(UserError, match="replicas is 0") as caught:
        make_plan(PD, spec)
    assert "deployment" in caught.value.fix


@pytest.mark.parametrize(
    ("router", "told"),
    [
        ({"mode": "standalone", "gateway": {"className": "istio"}}, True),
        ({"gateway": {"name": "edge"}}, True),
        ({"mode": "gateway", "gateway": {"className": "istio"}}, False),
        ({"mode": "standalone"}, False),
        ({}, False),
    ],
)
def test_gateway_settings_without_a_gateway_are_told(make_plan: Any, router: dict[str, Any], told: bool) -> None:
    plan = make_plan(OB, {"router": router})
    assert any("spec.router.gateway has no effect" in notice for notice in plan.notices) is told


def test_gke_gateways_get_a_health_check_and_time_for_answers(make_plan: Any) -> None:
    plan = make_plan(OB, {"provider": "gke", "router": {"mode": "gateway"}})
    target = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": OB}
    specs = {policy.kind: policy.spec for policy in plan.router.policies}
    check = {"portSpecification": "USE_FIXED_PORT", "requestPath": "/health", "port": plan.pool.ports[0]}
    assert specs == {
        "HealthCheckPolicy": {"default": {"config": {"type": "HTTP", "httpHealthCheck": check}}, "targetRef": target},
        "GCPBackendPolicy": {"default": {"timeoutSec": 300}, "targetRef": target},
    }
    # Istio's certificate problem is not theirs.
    assert not any("Istio" in notice for notice in plan.notices)
    assert make_plan(OB, {"provider": "gke"}).router.policies == []
    for name in ("gke-l7-rilb", "gke-l7-regional-external-managed"):
        own = {"mode": "gateway", "gateway": {"className": name}}
        assert len(make_plan(OB, {"provider": "gke", "router": own}).router.policies) == 2
    # Other Gateways run on GKE too, and know nothing of its policies.
    other = make_plan(OB, {"provider": "gke", "router": {"mode": "gateway", "gateway": {"className": "istio"}}})
    assert other.router.policies == []
    assert other.router.route_timeouts == {"request": "0s"}
    assert make_plan(OB, {"router": {"mode": "gateway"}}).router.policies == []


@pytest.mark.parametrize(("engine", "sizes"), [("vllm", (1, 4)), ("sglang", (2, 2))])
def test_an_unlisted_combination_takes_the_sizes_of_the_nearest(
    make_plan: Any, engine: str, sizes: tuple[int, int]
) -> None:
    plan = make_plan(PD, {"engine": engine, "accelerator": "nvidia-h100", "provider": "gke-a4x"}, allow=True)
    assert (role(plan, "prefill").parallelism.tensor, role(plan, "decode").parallelism.tensor) == sizes
    assert f"the sizes of its roles are those of {engine} nvidia-h100" in "; ".join(plan.notices)


def test_an_engine_that_no_guide_lists_takes_the_sizes_of_another(root: Path, tmp_path: Path) -> None:
    ours = (root / "guides/_catalog/engines/vllm.yaml").read_text(encoding="utf-8")
    (tmp_path / "engine.yaml").write_text(ours.replace("name: vllm\n", "name: acme\n"), encoding="utf-8")
    image = {"repository": "registry.example/acme", "tag": "v1", "component": "vllm", "version": "0.30.0"}
    provenance = {"source": "a test", "confidence": "published"}
    image_catalog = {
        "apiVersion": "catalog.llmdctl.io/v1alpha1",
        "kind": "ImageCatalog",
        "releases": {"1.0": {"images": {"acme-nvidia": {**image, "provenance": provenance}}}},
    }
    (tmp_path / "images.yaml").write_text(json.dumps(image_catalog), encoding="utf-8")
    stack = {"spec": {"guide": PD, "engine": "acme"}}
    layer = UserLayer(stack, lambda _: Origin(OriginKind.FLAG, "test"))
    plan = build_plan(Request((layer,), allow_unsupported=True), load_catalog([str(tmp_path)]))
    assert [found.parallelism.tensor for found in plan.roles] == [1, 4]
    assert "the sizes of its roles are those of vllm nvidia-h200 generic" in plan.notices


@pytest.mark.parametrize("side", ["requests", "limits"])
@pytest.mark.parametrize("provider", ["generic", "gke"])
def test_accelerators_are_counted_not_given(make_plan: Any, side: str, provider: str) -> None:
    spec = {"provider": provider, "roles": {"decode": {"resources": {side: {"nvidia.com/gpu": 2}}}}}
    with pytest.raises(UserError, match=f"spec.roles.decode.resources.{side}: nvidia.com/gpu is counted") as caught:
        make_plan(PD, spec)
    assert "parallelism.tensor" in caught.value.fix


@pytest.mark.parametrize("side", ["requests", "limits"])
@pytest.mark.parametrize("name", ["amd.com/gpu", "google.com/tpu", "gpu.intel.com/xe"])
def test_accelerators_of_another_kind_are_refused(make_plan: Any, side: str, name: str) -> None:
    spec = {"roles": {"prefill": {"resources": {side: {name: 1}}}}}
    with pytest.raises(UserError, match=f"{name} is a resource of") as caught:
        make_plan(PD, spec)
    assert "spec.accelerator" in caught.value.fix


def test_other_extended_resources_are_a_users_own(make_plan: Any) -> None:
    spec = {"roles": {"decode": {"resources": {"limits": {"example.com/fpga": 1}}}}}
    resources = role(make_plan(PD, spec), "decode").container.resources
    assert resources["requests"]["example.com/fpga"] == resources["limits"]["example.com/fpga"] == "1"


def test_weights_that_do_not_fit_are_refused_before_they_are_loaded(make_plan: Any) -> None:
    def stack(**decode: Any) -> dict[str, Any]:
        return {"model": {"id": "meta-llama/Llama-3.3-70B-Instruct"}, "roles": {"decode": decode}}

    with pytest.raises(UserError, match="take 131 GiB, 1 x nvidia-h100 have 80 GiB") as caught:
        make_plan(OB, stack(parallelism={"tensor": 1}))
    assert "raise tensor" in caught.value.fix
    make_plan(OB, stack(parallelism={"tensor": 2}))
    # What is quantised on the way in is smaller than its files.
    make_plan(OB, stack(parallelism={"tensor": 1}, engineArgs={"quantization": "fp8"}))


@pytest.mark.parametrize(("replicas", "told"), [(1, False), (2, True)])
def test_a_claim_that_several_pods_mount_is_told(make_plan: Any, replicas: int, told: bool) -> None:
    spec = {"model": {"cache": {"pvc": {"claimName": "models"}}}, "roles": {"decode": {"replicas": replicas}}}
    assert any("ReadWriteMany" in notice for notice in make_plan(OB, spec).notices) is told


def test_pods_that_can_lose_one_have_a_budget_and_are_spread(make_plan: Any) -> None:
    single = make_plan(PD)
    assert single.budgets == ()
    assert all(found.pod.topology_spread_constraints is None for found in single.roles)
    plan = make_plan(PD, {"preset": "8p2d", "router": {"replicas": 2}})
    assert {budget.name: budget.selector for budget in plan.budgets} == {
        f"{PD}-prefill": role(plan, "prefill").selector,
        f"{PD}-decode": role(plan, "decode").selector,
        f"{PD}-epp": plan.router.selector,
    }
    (spread,) = role(plan, "decode").pod.topology_spread_constraints or []
    assert spread["labelSelector"] == {"matchLabels": role(plan, "decode").selector}
    assert spread["whenUnsatisfiable"] == "ScheduleAnyway"
    # A group of several pods counts as what it is, even when there is only one.
    assert {budget.name for budget in make_plan("wide-ep").budgets} == {"wide-ep-prefill", "wide-ep-decode"}


@pytest.mark.parametrize(
    ("model", "seconds"),
    [
        # The engine's own hour is more than small weights need, 642 GiB need 85 minutes.
        ("Qwen/Qwen3-0.6B", 120 * 30),
        ("deepseek-ai/DeepSeek-R1-0528", 600 + 7 * 642),
    ],
)
def test_the_startup_probe_waits_for_the_weights(make_plan: Any, model: str, seconds: int) -> None:
    plan = make_plan("wide-ep" if "R1" in model else OB, {"model": {"id": model}})
    probe = plan.roles[0].container.startup_probe
    budget = probe["failureThreshold"] * probe["periodSeconds"] + probe.get("initialDelaySeconds", 0)
    assert seconds <= budget < seconds + 60
    env = {item["name"]: item.get("value") for item in plan.roles[0].container.env}
    assert int(env.get("VLLM_ENGINE_READY_TIMEOUT_S") or budget) >= seconds


OLD_CONFIG = {
    "apiVersion": "llm-d.ai/v1alpha1",
    "kind": "EndpointPickerConfig",
    "plugins": [{"type": "queue-scorer"}, {"type": "utilization-detector"}],
    "saturationDetector": {"pluginRef": "utilization-detector"},
    "schedulingProfiles": [{"name": "default", "plugins": [{"pluginRef": "queue-scorer"}]}],
}


def test_a_users_config_is_read_in_its_own_version_and_written_in_the_routers(make_plan: Any) -> None:
    for release, version in (("0.9", "llm-d.ai/v1alpha1"), ("1.0", "llm-d.ai/v1")):
        config = make_plan(OB, {"release": release, "router": {"config": OLD_CONFIG}}).router.config
        assert config["apiVersion"] == version
        assert config["flowControl"] == {"saturationDetector": {"pluginRef": "utilization-detector"}}
        assert "saturationDetector" not in config
    with pytest.raises(UserError, match=r"spec\.router\.config: saturationDetector: unknown field"):
        make_plan(OB, {"router": {"config": {**OLD_CONFIG, "apiVersion": "llm-d.ai/v1"}}})


def test_a_users_config_that_the_releases_router_refuses_is_refused_with_all_its_faults(make_plan: Any) -> None:
    config = {
        "plugins": [
            {"type": "tokenizer"},
            {"type": "disagg-profile-handler", "parameters": {"deciderPluginName": "always-disagg-pd-decider"}},
        ]
    }
    with pytest.raises(UserError) as caught:
        make_plan(PD, {"router": {"config": config}})
    assert [error.what.partition(", and")[0].partition("spec.router.config: ")[2] for error in
            (caught.value, *caught.value.others)] == [
        "plugins[0].type: tokenizer is gone since router 0.11",
        "plugins[1].parameters.deciderPluginName: deciderPluginName is gone since router 0.11",
    ]  # fmt: skip
    assert caught.value.fix == "use token-producer"
    assert make_plan(PD, {"release": "0.9", "router": {"config": config}}).router.config["plugins"] == config["plugins"]


def test_tensorrt_llm_reads_its_file_and_the_router_its_metrics_path(make_plan: Any) -> None:
    plan = make_plan(OB, {"engine": "trtllm"})
    decode = role(plan, "decode")
    assert plan.engine_config is not None
    mounts = {mount["name"]: mount for mount in decode.container.volume_mounts}
    volumes = {volume["name"]: volume for volume in decode.pod.volumes}
    assert volumes["engine-options"]["configMap"]["name"] == plan.engine_config.name
    assert f"--extra_llm_api_options={mounts['engine-options']['mountPath']}/{plan.engine_config.file}" in args(
        plan, "decode"
    )
    assert plan.engine_config.data["return_perf_metrics"] is True
    source = next(item for item in plan.router.config["plugins"] if item["type"] == "metrics-data-source")
    assert source["parameters"] == {"path": "/prometheus/metrics"}
    sources = plan.router.config["dataLayer"]["sources"]
    assert sources == [{"pluginRef": "metrics-data-source", "extractors": [{"pluginRef": "core-metrics-extractor"}]}]
    assert "metrics-data-source" not in str(make_plan(OB).router.config)


def test_engine_flags_are_written_as_the_engine_spells_them(make_plan: Any) -> None:
    engine_args = {"max-batch-size": 64, "chat_template": "x"}
    found = args(make_plan(OB, {"engine": "trtllm", "roles": {"decode": {"engineArgs": engine_args}}}), "decode")
    assert {"--max_batch_size=64", "--chat_template=x"} <= set(found)
    found = args(make_plan(OB, {"roles": {"decode": {"engineArgs": {"max_num_seqs": 64}}}}), "decode")
    assert "--max-num-seqs=64" in found


@pytest.mark.parametrize(
    ("engine", "flag"),
    [
        ("vllm", "tp"),
        ("vllm", "tensor_parallel_size"),
        ("sglang", "tp"),
        ("sglang", "tp-size"),
        ("trtllm", "tensor_parallel_size"),
        ("trtllm", "config"),
    ],
)
def test_aliases_of_flags_that_llmdctl_sets_are_refused_too(make_plan: Any, engine: str, flag: str) -> None:
    with pytest.raises(UserError, match=f"engineArgs.{flag}: llmdctl sets this flag itself"):
        make_plan(OB, {"engine": engine, "roles": {"decode": {"engineArgs": {flag: 4}}}})


def test_tensorrt_llm_has_no_flag_for_another_name(make_plan: Any) -> None:
    with pytest.raises(UserError, match="no flag for another name"):
        make_plan(OB, {"engine": "trtllm", "model": {"id": "Qwen/Qwen3-32B", "servedName": "qwen"}})


@pytest.mark.parametrize(
    ("gateway", "name", "own"),
    [
        ({}, "llm-d-inference-gateway", None),
        ({"name": "edge"}, "edge", None),
        # Two stacks of one namespace must not make the same object.
        ({"className": "istio"}, "chat-gateway", "chat-gateway"),
        ({"className": "istio", "name": "edge"}, "edge", "edge"),
    ],
)
def test_a_gateway_of_its_own_has_a_name_of_its_own(
    make_plan: Any, gateway: dict[str, Any], name: str, own: str | None
) -> None:
    plan = make_plan(OB, {"router": {"mode": "gateway", "gateway": gateway}}, metadata={"name": "chat"})
    assert plan.router.gateway is not None
    assert plan.router.gateway.name == name
    assert (plan.router.own_gateway and plan.router.own_gateway.name) == own


@pytest.mark.parametrize(
    ("guide", "engine", "variable"),
    [
        (OB, "vllm", "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"),
        (PD, "vllm", "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"),
        ("wide-ep", "vllm", "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"),
        (OB, "sglang", "SGLANG_TIMEOUT_KEEP_ALIVE"),
        (PD, "sglang", "SGLANG_TIMEOUT_KEEP_ALIVE"),
    ],
)
def test_engines_keep_connections_longer_than_what_stands_in_front(
    make_plan: Any, guide: str, engine: str, variable: str
) -> None:
    plan = make_plan(guide, {"engine": engine})
    for found in plan.roles:
        # The sidecar's idle timeout is 90 s.
        assert int(env(plan, found.name)[variable]) > 90
    assert plan.router.proxy is not None
    assert plan.router.proxy.idle_timeout == "60s"


@pytest.mark.parametrize(
    ("spec", "idle"),
    [
        ({"engine": "trtllm"}, "4s"),
        ({"roles": {"decode": {"env": [{"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "30"}]}}}, "29s"),
        ({"roles": {"decode": {"env": [{"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "600"}]}}}, "60s"),
        ({"engine": "sim", "accelerator": "none"}, "60s"),
    ],
)
def test_the_proxy_closes_idle_connections_before_the_engine(make_plan: Any, spec: dict[str, Any], idle: str) -> None:
    plan = make_plan(OB, spec)
    assert plan.router.proxy is not None
    assert plan.router.proxy.idle_timeout == idle


@pytest.mark.parametrize(
    ("spec", "context"),
    [
        ({"model": {"cache": {"emptyDir": {}}}}, None),
        ({"model": {"cache": {"hostPath": {"path": "/models"}}}}, None),
        ({"model": {"cache": PVC}}, {"fsGroup": 1000, "fsGroupChangePolicy": "OnRootMismatch"}),
        # Nothing is written to models that are there already.
        ({"model": {"cache": PVC, "source": "local"}}, None),
        # The SCC chooses the group, and refuses any other.
        ({"model": {"cache": PVC}, "provider": "openshift"}, None),
        (
            {"model": {"cache": PVC}, "accelerator": "intel-xpu"},
            {"fsGroup": 107, "supplementalGroups": [107], "fsGroupChangePolicy": "OnRootMismatch"},
        ),
    ],
)
def test_engines_without_dac_override_may_write_a_claimed_cache(
    make_plan: Any, spec: dict[str, Any], context: dict[str, Any] | None
) -> None:
    decode = role(make_plan(OB, spec), "decode")
    assert decode.pod.security_context == context
    assert decode.container.security_context["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("guide", [OB, PD, "wide-ep", "precise-prefix-cache-routing", "topology-aware-accelerators"])
@pytest.mark.parametrize(
    "empty",
    [
        {"roles": None},
        {"roles": {"decode": None}},
        {"roles": {"decode": {"parallelism": None, "pod": None}}},
        {"model": None},
        {"model": {"cache": None, "tokenSecret": None}},
        {"router": None},
        {"router": {"gateway": None, "proxy": None}},
        {"devices": None, "images": None, "pod": None, "monitoring": None},
    ],
)
def test_an_empty_section_takes_nothing_away(make_plan: Any, guide: str, empty: dict[str, Any]) -> None:
    assert list(make_plan(guide, empty).values()) == list(make_plan(guide).values())


def test_empty_metadata_and_an_empty_kv_transfer_take_nothing_away(make_plan: Any) -> None:
    usual = make_plan(PD)
    assert make_plan(PD, {"kvTransfer": None}).roles == usual.roles


def test_null_still_takes_single_values_away(make_plan: Any) -> None:
    decode = role(make_plan(OB, {"roles": {"decode": {"engineArgs": {"shutdown-timeout": None}}}}), "decode")
    assert not any("shutdown-timeout" in word for word in decode.container.args)


def test_connectors_of_other_hardware_are_refused(make_plan: Any) -> None:
    for connector, family in (("tpu", "google"), ("moriio", "amd")):
        with pytest.raises(UserError, match=f"{connector} works on {family} accelerators, not on nvidia"):
            make_plan(PD, {"accelerator": "nvidia-h200", "kvTransfer": {"connector": connector}})
    for chosen, connector, fitting in (
        ({"accelerator": "google-tpu-v6e", "provider": "gke"}, "nixl", "connectors for google: tpu"),
        ({"accelerator": "intel-xpu"}, "mooncake", "connectors for intel: nixl"),
    ):
        with pytest.raises(UserError, match=f"{connector} does not work on {chosen['accelerator']}") as caught:
            make_plan(PD, {**chosen, "kvTransfer": {"connector": connector}})
        assert caught.value.fix == fitting


def test_engines_that_hand_over_no_cache_cannot_split_prefill_from_decode(make_plan: Any) -> None:
    with pytest.raises(UserError, match="trtllm hands no KV cache"):
        make_plan(PD, {"engine": "trtllm"}, allow=True)


def test_sglang_takes_one_backend(make_plan: Any) -> None:
    with pytest.raises(UserError, match="SGLang takes one backend of nixl, not 2"):
        make_plan(PD, {"engine": "sglang", "kvTransfer": {"backends": ["UCX", "LIBFABRIC"]}})
    for name in ("prefill", "decode"):
        own = env(make_plan(PD, {"engine": "sglang", "kvTransfer": {"backends": ["LIBFABRIC"]}}), name)
        assert own["SGLANG_DISAGGREGATION_NIXL_BACKEND"] == "LIBFABRIC"
    mooncake = make_plan(PD, {"engine": "sglang", "kvTransfer": {"connector": "mooncake"}})
    assert "--disaggregation-transfer-backend=mooncake" in args(mooncake, "decode")
    assert "SGLANG_DISAGGREGATION_NIXL_BACKEND" not in env(mooncake, "decode")


def test_local_models_need_something_that_holds_them(make_plan: Any) -> None:
    with pytest.raises(UserError, match="source is local, but the cache is an empty directory"):
        make_plan(PD, {"model": {"source": "local"}})
    plan = make_plan(PD, {"model": {"source": "local", "cache": {"pvc": {"claimName": "weights"}}}})
    assert args(plan, "decode")[0].startswith("/var/cache/huggingface/")
