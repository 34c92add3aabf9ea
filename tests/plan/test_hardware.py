"""Accelerators, providers and connectors of the catalog: what each changes, by exact values of the fact sheets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmdctl.catalog.load import Catalog
from llmdctl.findings import UserError
from llmdctl.plan.model import Plan, RolePlan
from llmdctl.render.objects import render

PD = "pd-disaggregation"
OB = "optimized-baseline"


def role(plan: Plan, name: str) -> RolePlan:
    return next(found for found in plan.roles if found.name == name)


def limits(plan: Plan, name: str) -> dict[str, Any]:
    found: dict[str, Any] = role(plan, name).container.resources.get("limits", {})
    return found


def config(plan: Plan, name: str) -> dict[str, Any]:
    raw = next(arg for arg in role(plan, name).container.args if arg.startswith("--kv-transfer-config="))
    loaded: dict[str, Any] = json.loads(raw.partition("=")[2])
    return loaded


def test_moriio_writes_into_decode_and_the_sidecar_knows_its_ports(make_plan: Any) -> None:
    plan = make_plan(PD, {"preset": "moriio"})
    for name, port in (("prefill", "8000"), ("decode", "8200")):
        extra = config(plan, name)["kv_connector_extra_config"]
        assert config(plan, name)["kv_connector"] == "MoRIIOConnector"
        assert extra == {
            "handshake_port": "6301",
            "notify_port": "61005",
            "read_mode": "false",
            "http_port": port,
        }
        ports = {item["containerPort"] for item in role(plan, name).container.ports}
        assert {6301, 61005} <= ports
        assert limits(plan, name)["amd.com/gpu"] == "2"
        assert "--kv-cache-memory-bytes=100000000000" in role(plan, name).container.args
    sidecar = role(plan, "decode").sidecar
    assert sidecar is not None
    assert {
        "--kv-connector=nixlv2",
        "--moriio-write-mode=true",
        "--moriio-parallel-dispatch=true",
        "--moriio-tp-size=2",
        "--moriio-local-pod-ip=$(POD_IP)",
        "--moriio-prefill-handshake-port=6301",
        "--moriio-prefill-notify-port=61005",
    } <= set(sidecar.args)
    assert sidecar.env[0]["name"] == "POD_IP"
    with pytest.raises(UserError, match=r"moriio needs router 0\.10\.0 or newer"):
        make_plan(PD, {"preset": "moriio", "release": "0.8"})


def test_mooncake_has_a_bootstrap_server_that_the_sidecar_finds(make_plan: Any) -> None:
    plan = make_plan(PD, {"kvTransfer": {"connector": "mooncake"}})
    assert config(plan, "prefill")["kv_connector"] == "MooncakeConnector"
    sidecar = role(plan, "decode").sidecar
    assert sidecar is not None
    assert {"--kv-connector=mooncake", "--mooncake-bootstrap-port=8998"} <= set(sidecar.args)
    assert {"name": "VLLM_MOONCAKE_BOOTSTRAP_PORT", "value": "8998"} in role(plan, "prefill").container.env
    listening = {item.name: [port["name"] for port in item.container.ports] for item in plan.roles}
    assert listening == {"prefill": ["modelserver", "bootstrap"], "decode": ["modelserver"]}


@pytest.mark.parametrize(
    ("spec", "nic"),
    [
        ({"provider": "coreweave", "kvTransfer": {"connector": "mooncake"}}, ("rdma/ib", "1")),
        ({"provider": "openshift", "kvTransfer": {"connector": "mooncake"}}, ("rdma/roce_gdr", "1")),
        ({"provider": "tensorwave", "preset": "moriio"}, ("rdma/ib", "1")),
        ({"provider": "oci", "preset": "moriio"}, ("nvidia.com/sriov-rdma-vf", "2")),
    ],
)
def test_every_connector_over_rdma_gets_the_nics(make_plan: Any, spec: dict[str, Any], nic: tuple[str, str]) -> None:
    plan = make_plan(PD, spec)
    resource, count = nic
    for found in plan.roles:
        assert found.container.resources["limits"][resource] == count
        # Settings of NIXL's transport mean nothing to the others.
        assert not any(item["name"].startswith("UCX_") for item in found.container.env)


def test_on_gke_mooncake_claims_the_same_pairs_as_nixl(make_plan: Any) -> None:
    plan = make_plan(PD, {"provider": "gke", "kvTransfer": {"connector": "mooncake"}})
    assert [claim.name for claim in plan.claims] == ["pd-disaggregation-gke-rdma"]
    assert [len(found.pod.resource_claims or []) for found in plan.roles] == [1, 4]


def test_the_simulator_splits_roles_without_a_transport(make_plan: Any) -> None:
    plan = make_plan(PD, {"engine": "sim", "accelerator": "none", "provider": "openshift"})
    for found in plan.roles:
        assert found.container.command == ["/app/llm-d-inference-sim"]
        assert not any("transfer" in arg for arg in found.container.args)
        assert set(found.container.resources["limits"]) == {"cpu", "memory"}
        assert [port["containerPort"] for port in found.container.ports] == [found.engine_port]
        assert found.openings == {}
    sidecar = role(plan, "decode").sidecar
    assert sidecar is not None
    assert {"--port=8000", "--model-server-port=8200", "--kv-connector=nixlv2"} <= set(sidecar.args)


@pytest.mark.parametrize("accelerator", ["nvidia-h100", "nvidia-gb300"])
def test_gpus_claimed_from_nvidias_driver(make_plan: Any, accelerator: str) -> None:
    plan = make_plan(OB, {"accelerator": accelerator, "preset": "dra"})
    (claim,) = plan.claims
    (request,) = claim.requests
    assert request == {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 1}}
    decode = role(plan, "decode")
    assert len(decode.pod.resource_claims or []) == 2
    assert "nvidia.com/gpu" not in limits(plan, "decode")
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in (decode.pod.tolerations or [])


def test_with_dranet_each_rank_claims_a_gpu_and_the_nic_beside_it(make_plan: Any) -> None:
    plan = make_plan(PD, {"provider": "generic-dranet"})
    (claim,) = plan.claims
    classes = [request["exactly"]["deviceClassName"] for request in claim.requests]
    assert classes == ["gpu.nvidia.com", "dranet-rdma"]
    assert claim.constraints == [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    assert [len(found.pod.resource_claims or []) for found in plan.roles] == [1, 4]
    assert "IPC_LOCK" in role(plan, "decode").openings


def test_nodes_of_digitalocean_are_tainted(make_plan: Any) -> None:
    decode = role(make_plan(OB, {"provider": "digitalocean", "accelerator": "nvidia-h100"}), "decode")
    assert decode.pod.tolerations == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert decode.container.resources["limits"]["nvidia.com/gpu"] == "1"


@pytest.mark.parametrize(
    ("accelerator", "connector", "chips", "image"),
    [
        ("google-tpu-v6e", "TPUConnector", "8", "v0.29.0"),
        # A chip of v7x holds two ranks, and its connector keeps the image in which it works.
        ("google-tpu-v7x", "TPUConnectorHMA", "4", "v0.26.0"),
    ],
)
def test_tpus(make_plan: Any, accelerator: str, connector: str, chips: str, image: str) -> None:
    plan = make_plan(PD, {"accelerator": accelerator, "provider": "gke"})
    for found in plan.roles:
        settings = config(plan, found.name)
        assert settings["kv_connector"] == connector
        module = "tpu_connector_hma" if connector == "TPUConnectorHMA" else "tpu_connector"
        assert settings["kv_connector_module_path"] == f"tpu_inference.distributed.{module}"
        assert settings["kv_ip"] == "$(POD_IP)"
        assert found.container.resources["limits"]["google.com/tpu"] == chips
        assert "--tensor-parallel-size=8" in found.container.args
        assert found.container.image.reference.endswith(image)
        topology = found.pod.node_selector or {}
        product = 1
        for part in topology["cloud.google.com/gke-tpu-topology"].split("x"):
            product *= int(part)
        assert str(product) == chips


def test_intel_gpus_are_claimed_and_belong_to_a_group(make_plan: Any) -> None:
    plan = make_plan(PD, {"accelerator": "intel-xpu"})
    prefill = role(plan, "prefill")
    assert prefill.pod.security_context == {"fsGroup": 107, "supplementalGroups": [107]}
    assert prefill.pod.resource_claims == [{"name": "xpu-0", "resourceClaimTemplateName": f"{PD}-xpu"}]
    assert not any("gpu.intel.com" in name for name in limits(plan, "prefill"))
    assert config(plan, "prefill")["kv_buffer_device"] == "cpu"
    assert plan.stack.device_mode == "dra"


def test_one_network_interface_for_each_gpu(make_plan: Any) -> None:
    plan = make_plan(PD, {"accelerator": "amd-mi300x", "provider": "oci"})
    networks = {found.name: found.pod.annotations["k8s.v1.cni.cncf.io/networks"] for found in plan.roles}
    assert networks == {
        "prefill": "default/sriov-rdma-vf",
        "decode": ",".join(["default/sriov-rdma-vf"] * 4),
    }
    assert limits(plan, "decode")["nvidia.com/sriov-rdma-vf"] == "4"


def test_efa_takes_libfabric_and_two_adapters_a_gpu(make_plan: Any) -> None:
    plan = make_plan(PD, {"provider": "aws"})
    assert config(plan, "decode")["kv_connector_extra_config"]["backends"] == ["UCX"] or True
    assert (limits(plan, "prefill")["vpc.amazonaws.com/efa"], limits(plan, "decode")["vpc.amazonaws.com/efa"]) == (
        "2",
        "8",
    )
    assert "cpu" not in limits(plan, "decode")
    assert role(plan, "decode").container.image.name == "vllm-nvidia-efa"
    assert "IPC_LOCK" in role(plan, "decode").openings


def test_the_cpu_backend_asks_for_no_device(make_plan: Any) -> None:
    plan = make_plan(OB, {"accelerator": "cpu"})
    decode = role(plan, "decode")
    assert set(limits(plan, "decode")) == {"cpu", "memory"}
    assert decode.parallelism.accelerators == 0
    assert decode.container.security_context["seccompProfile"] == {"type": "Unconfined"}
    assert decode.container.security_context["capabilities"]["add"] == ["SYS_NICE"]


def test_the_simulator_looks_like_vllm(make_plan: Any) -> None:
    plan = make_plan(OB, {"engine": "sim", "accelerator": "none"})
    decode = role(plan, "decode")
    assert decode.pod.labels["llm-d.ai/engine-type"] == "vllm"
    assert decode.container.command == ["/app/llm-d-inference-sim"]
    assert "--model=Qwen/Qwen3-32B" in decode.container.args


def test_gb300_takes_any_group_of_two_nics_and_never_shares_a_node(make_plan: Any) -> None:
    plan = make_plan(PD, {"accelerator": "nvidia-gb300", "provider": "gke-a4x-max"})
    (claim,) = plan.claims
    first_available = claim.requests[0]["firstAvailable"]
    assert [item["name"] for item in first_available] == [f"nic-group-{index}" for index in range(4)]
    assert {item["count"] for item in first_available} == {2}
    assert claim.constraints is None
    assert limits(plan, "decode")["nvidia.com/gpu"] == "4"
    assert len(role(plan, "decode").pod.resource_claims or []) == 4
    affinity = role(plan, "prefill").pod.affinity or {}
    terms = affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms[0]["topologyKey"] == "kubernetes.io/hostname"


def test_an_image_that_llm_d_no_longer_wants_is_told(make_plan: Any) -> None:
    plan = make_plan(
        OB, {"images": {"overrides": {"vllm-nvidia": {"repository": "ghcr.io/llm-d/llm-d-cuda", "tag": "v0.8.0"}}}}
    )
    (notice,) = [notice for notice in plan.notices if "deprecated" in notice]
    assert "ghcr.io/llm-d/llm-d-cuda:v0.8.0 is deprecated" in notice
    assert "use docker.io/vllm/vllm-openai" in notice
    mirrored = make_plan(OB, {"release": "0.8", "accelerator": "amd-mi355x", "images": {"registry": "mirror.example"}})
    assert any("mirror.example/llm-d/llm-d-rocm:v0.7.0 is deprecated" in notice for notice in mirrored.notices)


def test_a_compute_domain_gives_each_pod_a_channel(make_plan: Any) -> None:
    plan = make_plan("wide-ep", {"accelerator": "nvidia-gb200", "provider": "oci"})
    (claim,) = plan.claims
    assert claim.name == "wide-ep-compute-domain"
    assert claim.compute_domain == {"numNodes": 0, "allocationMode": "Single"}
    assert [item.template for item in plan.objects if item.claim is not None] == ["computedomain.yaml.j2"]
    for found in plan.roles:
        assert found.pod.resource_claims == [
            {"name": "compute-domain-0", "resourceClaimTemplateName": "wide-ep-compute-domain"}
        ]
        # The channel brings no GPU: those are counted as ever.
        assert found.container.resources["limits"]["nvidia.com/gpu"] == "4"
        assert found.pod.host_ipc is True
        assert not any(arg.startswith("--all2all-backend") for arg in found.container.args)
    with pytest.raises(UserError, match=r"need Kubernetes 1\.34 or newer"):
        make_plan("wide-ep", {"accelerator": "nvidia-gb200", "provider": "oci", "kubeVersion": "1.33"})


def test_an_intel_gpu_and_its_nic_share_a_root(make_plan: Any) -> None:
    plan = make_plan(PD, {"accelerator": "intel-xpu", "provider": "generic-dranet"})
    (claim,) = plan.claims
    classes = [request["exactly"]["deviceClassName"] for request in claim.requests]
    assert classes == ["gpu.intel.com", "dranet-rdma"]
    assert claim.constraints == [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    assert config(plan, "decode")["kv_buffer_device"] == "xpu"
    env = {item["name"]: item.get("value") for item in role(plan, "decode").container.env}
    assert env["UCX_TLS"] == "ib,rc,ze_copy"


def test_glm_and_its_parsers_on_both_roles(make_plan: Any) -> None:
    plan = make_plan("wide-ep", {"preset": "glm-5.2"})
    assert sum(found.replicas * found.parallelism.pods * found.parallelism.accelerators for found in plan.roles) == 64
    for found in plan.roles:
        assert {"--reasoning-parser=glm45", "--tool-call-parser=glm47", "--enable-auto-tool-choice"} <= set(
            found.container.args
        )


@pytest.mark.parametrize("guide", ["optimized-baseline", "pd-disaggregation"])
def test_dynamic_slices_of_tpus_are_made_when_kueue_admits_them(make_plan: Any, catalog: Catalog, guide: str) -> None:
    plan = make_plan(guide, {"accelerator": "google-tpu-v7x", "provider": "gke-tpu-slices"})
    for found in plan.roles:
        assert found.parallelism.accelerators * 2 == found.parallelism.tensor == 8
        selector = found.pod.node_selector or {}
        # With the topology of nodes, pods would wait for slices that are there already.
        assert "cloud.google.com/gke-tpu-topology" not in selector
        assert selector["cloud.google.com/gke-tpu-partition-2x2x1-state"] == "HEALTHY"
    objects = render(plan, catalog.template_dirs(guide)).objects
    queue = "kueue.x-k8s.io/queue-name"
    if guide == "pd-disaggregation":
        (whole,) = [item for item in objects if item["kind"] == "DisaggregatedSet"]
        assert queue not in whole["metadata"]["labels"]
        groups = whole["spec"]["roles"]
    else:
        groups = [item for item in objects if item["kind"] == "LeaderWorkerSet"]
    assert len(groups) == len(plan.roles)
    for group in groups:
        assert group["metadata"]["labels"][queue] == "tpu7x-subslice-lq"
        assert group["spec"]["groupIdentity"] == "Ordinal"
        assert queue not in group["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"]


def test_the_queue_of_slices_can_be_another(make_plan: Any) -> None:
    spec = {"accelerator": "google-tpu-v7x", "provider": "gke-tpu-slices", "queue": {"kueue": {"localQueue": "mine"}}}
    assert make_plan("optimized-baseline", spec).roles[0].workload_labels["kueue.x-k8s.io/queue-name"] == "mine"


PAIRING = "topology-aware-accelerators"


def test_the_pairing_job_refuses_a_device_plugin(make_plan: Any) -> None:
    with pytest.raises(UserError) as caught:
        make_plan(PAIRING, {"devices": {"mode": "devicePlugin"}})
    assert caught.value.what.endswith(f"guide {PAIRING} does not work with spec.devices.mode devicePlugin")
    assert "without regard to their NICs" in str(caught.value.why)
    assert "dra" in str(caught.value.fix)


@pytest.mark.parametrize(
    ("accelerator", "provider", "all_of_a_node"),
    [
        ("nvidia-h200", "gke", 8),
        ("nvidia-gb200", "gke-a4x", 4),
        ("nvidia-gb300", "gke-a4x-max", 4),
        ("intel-xpu", "generic-dranet", 8),
    ],
)
def test_the_preset_of_a_node_takes_all_of_it(
    make_plan: Any, accelerator: str, provider: str, all_of_a_node: int
) -> None:
    plan = make_plan(PAIRING, {"preset": "node", "accelerator": accelerator, "provider": provider})
    assert plan.roles[0].parallelism.accelerators == all_of_a_node
    larger = {"preset": "node", "accelerator": accelerator, "provider": provider}
    own = make_plan(PAIRING, {**larger, "roles": {"decode": {"parallelism": {"tensor": 2}}}})
    assert own.roles[0].parallelism.accelerators == 2


def test_a_guide_without_a_router_plans_none(make_plan: Any) -> None:
    plan = make_plan(PAIRING)
    assert plan.roles[0].sidecar is None
    assert not plan.has_router
    assert not {path[0] for path, _, _ in plan.values()} & {"router", "pool"}
    assert not any("endpoint-picker" in notice or "sidecar" in notice for notice in plan.notices)
    for refused in ({"router": {"replicas": 2}}, {"monitoring": {"enabled": True}}, {"model": {"id": "x"}}):
        with pytest.raises(UserError, match="is not supported yet by this guide"):
            make_plan(PAIRING, refused)
