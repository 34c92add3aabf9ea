"""RES: what pods of an engine need of their host."""

from __future__ import annotations

from typing import Any

import pytest
from stacks import SGLANG, VLLM, container, deployment, outcomes, titles

from llmdctl.findings import Skip
from llmdctl.validate.rules.host import RES001, RES003, RES010, RES013, RES016, RES019, RES020

SHM = {"name": "shm", "mountPath": "/dev/shm"}


def server(*args: str, image: str = VLLM, limits: Any = None, pod: Any = None, **more: Any) -> dict[str, Any]:
    """A Deployment of one engine."""
    resources = {"resources": {"limits": limits}} if limits else {}
    return deployment("d", container(["m", *args], image, **resources, **more), pod=pod)


def memory(size: str) -> dict[str, Any]:
    """A pod with shared memory of that size."""
    return {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}}]}


def test_shared_memory() -> None:
    two = {"nvidia.com/gpu": 2}
    assert titles(RES001, server("-tp=2", limits=two))
    assert titles(RES001, server("--tp-size=1", image=SGLANG, limits={"nvidia.com/gpu": 1}))
    assert not outcomes(RES001, server(limits={"nvidia.com/gpu": 1}))
    assert not outcomes(RES001, server("-tp=2", limits=two, pod={"hostIPC": True}))
    assert not outcomes(RES001, server("-tp=8", limits={"google.com/tpu": 8}))
    sized = {**two, "memory": "16Gi"}
    assert not outcomes(RES001, server("-tp=2", limits=sized, pod=memory("8Gi"), volumeMounts=[SHM]))
    assert titles(RES001, server("-tp=2", limits=sized, pod=memory("20Gi"), volumeMounts=[SHM]))


def test_interfaces() -> None:
    devices = {"amd.com/gpu": 4, "nvidia.com/sriov-rdma-vf": 4}
    assert not outcomes(RES003, server(limits=devices))
    assert titles(RES003, server(limits={**devices, "nvidia.com/sriov-rdma-vf": 2}))
    assert not outcomes(RES003, server(limits={"nvidia.com/gpu": 8, "rdma/ib": 1}))
    assert not outcomes(RES003, server(limits={"amd.com/gpu": 8, "amd.com/vnic": 2}))
    wired = server(limits=devices)
    wired["spec"]["template"]["metadata"]["annotations"] = {"k8s.v1.cni.cncf.io/networks": "a,a,a"}
    assert titles(RES003, wired) == ["3 networks are attached, 4 nvidia.com/sriov-rdma-vf are asked for"]


def test_a_read_only_root() -> None:
    closed = {"securityContext": {"readOnlyRootFilesystem": True}}
    assert titles(RES010, server(**closed))
    assert not outcomes(RES010, server(**closed, volumeMounts=[{"name": "t", "mountPath": "/tmp"}]))
    assert not outcomes(RES010, server(**closed, env=[{"name": "TMPDIR", "value": "/scratch"}]))


def test_a_cache_on_the_cpu() -> None:
    space = [{"name": "VLLM_CPU_KVCACHE_SPACE", "value": "40"}]
    assert not outcomes(RES013, server(limits={"memory": "64Gi"}, env=space))
    assert titles(RES013, server(limits={"memory": "40Gi"}, env=space))
    assert not outcomes(RES013, server(env=space))


@pytest.mark.parametrize(("shape", "chips", "wrong"), [("2x4", 8, False), ("2x2x1", 8, True), ("odd", 8, False)])
def test_chips_of_a_slice(shape: str, chips: int, wrong: bool) -> None:
    selector = {"nodeSelector": {"cloud.google.com/gke-tpu-topology": shape}}
    found = titles(RES016, server(limits={"google.com/tpu": chips}, pod=selector))
    assert bool(found) is wrong


def test_grace() -> None:
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "sleep 20"]}}}}
    assert not outcomes(RES019, server())
    assert titles(RES019, server("--shutdown-timeout=20", **hook))
    assert not outcomes(RES019, server("--shutdown-timeout=20", pod={"terminationGracePeriodSeconds": 60}, **hook))
    (skip,) = outcomes(RES019, server("--shutdown-timeout=$(T)"))
    assert isinstance(skip, Skip)


def test_probes_while_a_model_loads() -> None:
    get = {"httpGet": {"path": "/health", "port": 8000}}
    assert not outcomes(RES020, server())
    assert titles(RES020, server(livenessProbe=get))
    assert not outcomes(RES020, server(livenessProbe=get, startupProbe={**get, "failureThreshold": 120}))
    assert titles(RES020, server(livenessProbe=get, startupProbe={**get, "failureThreshold": 12}))
