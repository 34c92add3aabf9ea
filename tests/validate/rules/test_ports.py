"""PRT: every branch of every predicate."""

from __future__ import annotations

from typing import Any

import pytest
from stacks import container, decode, deployment, outcomes, pool, prefill, sglang, sidecar, titles

from llmdctl.findings import Hit, Severity, Skip
from llmdctl.validate.rules.ports import PRT001, PRT002, PRT004, PRT005, PRT008


def test_a_target_port_that_nobody_serves() -> None:
    (hit,) = outcomes(PRT001, pool(ports=(8080,)), deployment("decode", container(["m"])))
    assert isinstance(hit, Hit)
    assert hit.title == "requests go to port 8080, where Deployment/decode serves none"
    assert hit.fix == "use target port 8000"


def test_a_pool_must_use_the_sidecar_not_the_engine_behind_it() -> None:
    assert not outcomes(PRT001, pool(), prefill(), decode())
    found = titles(PRT001, pool(ports=(8200,)), decode())
    assert found == ["requests go to port 8200 of Deployment/decode, past the routing sidecar on 8000"]


def test_each_rank_of_a_multi_port_server_is_served() -> None:
    flags = ["--data-parallel-multi-port-external-lb", "--data-parallel-size-local=2", "--data-parallel-size=4"]
    ranks = deployment("d", container(["m", *flags]))
    assert not outcomes(PRT001, pool(ports=(8000, 8001)), ranks)
    assert titles(PRT001, pool(ports=(8000, 8001, 8002)), ranks) == [
        "requests go to port 8002, where Deployment/d serves none"
    ]


def test_sglang_on_loopback_serves_nobody() -> None:
    loopback = deployment("d", container(["--model-path=m", "--port=8000"], "lmsysorg/sglang:v0.5.20"))
    assert titles(PRT001, pool(), loopback)
    assert not titles(PRT001, pool(), sglang("d", "decode"))


def test_a_headless_worker_serves_nothing() -> None:
    (hit,) = outcomes(PRT001, pool(), deployment("d", container(["m", "--headless"])))
    assert isinstance(hit, Hit)
    assert hit.fix == "select only the pods that serve requests"


@pytest.mark.parametrize("engine", [container(["m", "--port=$(PORT)"]), {"name": "x", "image": "unknown"}])
def test_what_only_the_pod_knows_is_skipped(engine: dict[str, Any]) -> None:
    assert [type(item) for item in outcomes(PRT001, pool(), deployment("d", engine))] == [Skip]


@pytest.mark.parametrize(
    ("ports", "part"),
    [((), "no target port"), (tuple(range(8000, 8009)), "9 target ports, 8 are allowed"), ((1, 1), "more than once")],
)
def test_the_number_of_target_ports(ports: tuple[int, ...], part: str) -> None:
    (title,) = titles(PRT002, pool(ports=ports))
    assert part in title


def test_the_old_pool_has_one_target_port() -> None:
    old = {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha2",
        "kind": "InferencePool",
        "metadata": {"name": "demo", "namespace": "llm-d"},
        "spec": {"selector": {"llm-d.ai/guide": "demo"}, "targetPortNumber": 8080},
    }
    assert not outcomes(PRT002, old)
    assert titles(PRT001, old, deployment("decode", container(["m"])))


@pytest.mark.parametrize(
    ("version", "fits"), [("v0.9.0", False), ("v0.10.0", True), ("v1.0.0", True)], ids=["old", "new", "1.0"]
)
def test_the_sidecars_default_depends_on_its_version(version: str, fits: bool) -> None:
    workload = deployment("d", container(["m", "--port=8200"]), init=[sidecar("--port=8000", version=version)])
    assert bool(titles(PRT004, workload)) is not fits


@pytest.mark.parametrize(
    ("engine", "fix"),
    [
        (["m", "--port=8300"], "give the routing sidecar the engine's port 8300, or the engine --port=8200"),
        (["m"], "give the engine --port=8200: the routing sidecar itself listens on 8000"),
    ],
)
def test_the_sidecar_is_never_told_to_forward_to_itself(engine: list[str], fix: str) -> None:
    (hit,) = outcomes(PRT004, deployment("d", container(engine), init=[sidecar("--port=8000")]))
    assert isinstance(hit, Hit)
    assert hit.fix == fix


def test_an_unknown_sidecar_version_without_flag_is_skipped() -> None:
    workload = deployment("d", container(["m", "--port=8200"]), init=[sidecar(version="main")])
    (skip,) = outcomes(PRT004, workload)
    assert isinstance(skip, Skip)
    assert "version is unknown" in skip.reason


def test_a_sidecar_that_forwards_to_more_ports_than_the_engine_has() -> None:
    proxy = ("--port=8000", "--vllm-port=8200", "--data-parallel-size=2")
    (hit,) = outcomes(PRT004, decode(proxy=proxy))
    assert isinstance(hit, Hit)
    assert hit.fix == "give the routing sidecar --data-parallel-size=1, as many as the engine has ports"


def probed(port: object, *args: str, ports: tuple[dict[str, object], ...] = ()) -> dict[str, Any]:
    """A Deployment whose engine has a readiness probe."""
    probe = {"httpGet": {"path": "/health", "port": port}}
    return deployment("d", container(["m", *args], readinessProbe=probe, livenessProbe=probe, ports=list(ports)))


def test_probes_ask_a_port_that_is_bound() -> None:
    assert titles(PRT004, probed(8080)) == [
        "the readinessProbe of modelserver asks port 8080, the engine listens on 8000"
    ]
    assert titles(PRT004, probed("web", ports=({"name": "web", "containerPort": 8080},)))
    assert not outcomes(PRT004, probed(8000))
    supervised = ("--data-parallel-multi-port-external-lb", "--data-parallel-size-local=2", "--data-parallel-size=2")
    assert not outcomes(PRT004, probed(8008, *supervised, "--data-parallel-supervisor-port=8008"))


def test_collisions_in_one_pod() -> None:
    same = decode(proxy=("--port=8200", "--vllm-port=8200"))
    assert titles(PRT005, same) == ["the vllm server (8200) and the routing sidecar (8200) want the same port"]
    ranks = decode(proxy=("--port=8199", "--vllm-port=8200", "--data-parallel-size=2"))
    assert titles(PRT005, ranks)
    assert not titles(PRT005, decode())


def test_side_channels_and_events_count() -> None:
    events = '--kv-events-config={"publisher":"zmq","endpoint":"tcp://*:5600"}'
    assert titles(PRT005, prefill(events)) == ["the NIXL side channel (5600) and KV events (5600) want the same port"]
    assert titles(PRT005, sglang("p", "prefill", "--disaggregation-bootstrap-port=8000", mode="prefill"))


def test_ports_end_at_65535() -> None:
    (title,) = titles(PRT005, decode(proxy=("--port=65535", "--vllm-port=8200", "--data-parallel-size=2")))
    assert "65535-65536" in title


def test_a_probe_names_a_port_of_its_own_container() -> None:
    assert titles(PRT008, probed("web"))
    assert not titles(PRT008, probed("web", ports=({"name": "web", "containerPort": 8000},)))


def test_one_name_for_two_ports_of_a_pod() -> None:
    proxy = {**sidecar(), "ports": [{"name": "http", "containerPort": 8000}]}
    workload = deployment("d", container(["m"], ports=[{"name": "http", "containerPort": 8200}]), init=[proxy])
    (hit,) = outcomes(PRT008, workload)
    assert isinstance(hit, Hit)
    assert hit.severity is Severity.WARNING


def referring(kind: str) -> dict[str, Any]:
    """A Service or PodMonitor that names the port `web` of the demo pods."""
    meta = {"name": "x", "namespace": "llm-d"}
    labels = {"llm-d.ai/guide": "demo"}
    if kind == "Service":
        spec: dict[str, Any] = {"selector": labels, "ports": [{"port": 80, "targetPort": "web"}]}
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": spec}
    spec = {"selector": {"matchLabels": labels}, "podMetricsEndpoints": [{"port": "web"}]}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": kind, "metadata": meta, "spec": spec}


@pytest.mark.parametrize("kind", ["Service", "PodMonitor"])
def test_services_and_monitors_name_declared_ports(kind: str) -> None:
    named = deployment("a", container(["m"], ports=[{"name": "web", "containerPort": 8000}]))
    bare = deployment("b", container(["m"]), role="decode")
    assert not outcomes(PRT008, referring(kind), named)
    (error,) = outcomes(PRT008, referring(kind), bare)
    (warning,) = outcomes(PRT008, referring(kind), named, bare)
    assert isinstance(error, Hit)
    assert isinstance(warning, Hit)
    assert (error.severity, warning.severity) == (Severity.ERROR, Severity.WARNING)


def test_a_monitor_finds_no_port_in_headless_workers_and_needs_none() -> None:
    leader = deployment("a", container(["m"], ports=[{"name": "web", "containerPort": 8000}]))
    worker = deployment("b", container(["m", "--headless"]))
    assert not outcomes(PRT008, referring("PodMonitor"), leader, worker)
    (error,) = outcomes(PRT008, referring("PodMonitor"), worker)
    assert isinstance(error, Hit) and error.severity == Severity.ERROR
