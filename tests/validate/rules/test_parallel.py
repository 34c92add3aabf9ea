"""PAR: ranks against devices, groups and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from stacks import SGLANG, container, deployment, outcomes, titles

from llmdctl.findings import Hit, Severity, Skip
from llmdctl.validate.rules.parallel import PAR001, PAR002, PAR005
from llmdctl.view.arithmetic import evaluate

LOCAL = "--data-parallel-size-local=8"


def with_devices(args: Sequence[str], image: str = "", resource: str = "nvidia.com/gpu", **pod: Any) -> dict[str, Any]:
    """A Deployment whose engine gets the devices that its first argument counts."""
    limits = {resource: args[0]}
    item = container(["m", *args[1:]], image or "vllm/vllm-openai:v0.30.0", resources={"limits": limits})
    return deployment("d", item, pod=pod)


def group(size: int, *args: str, leader: Sequence[str] | None = None, image: str = "", **more: Any) -> dict[str, Any]:
    """A LeaderWorkerSet of pods with eight GPUs."""

    def template(words: Sequence[str]) -> dict[str, Any]:
        engine = container(words, image or "vllm/vllm-openai:v0.30.0", resources={"limits": {"nvidia.com/gpu": 8}})
        return {"spec": {"containers": [{**engine, **more}]}}

    inner = {"size": size, "workerTemplate": template(["m", *args])}
    if leader is not None:
        inner["leaderTemplate"] = template(["m", *leader])
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "g", "namespace": "llm-d"},
        "spec": {"leaderWorkerTemplate": inner},
    }


@pytest.mark.parametrize(
    "args",
    [
        ["2", "--tensor-parallel-size=2"],
        ["8", "-tp=4", "--pipeline-parallel-size=2"],
        ["4", "--tensor-parallel-size=2", "--data-parallel-size=2"],
        ["2", "--tensor-parallel-size=2", "--data-parallel-size=8", "--data-parallel-rank=3"],
        ["2", "--tensor-parallel-size=2", "--data-parallel-size=4", "--data-parallel-size-local=1"],
    ],
)
def test_ranks_that_fit(args: list[str]) -> None:
    assert not outcomes(PAR001, with_devices(args))


def test_too_few_and_idle_devices() -> None:
    assert titles(PAR001, with_devices(["2", "--tensor-parallel-size=4"])) == [
        "the engine starts 4 ranks (4 tensor parallel), the container gets nvidia.com/gpu: 2"
    ]
    (idle,) = outcomes(PAR001, with_devices(["4", "--tensor-parallel-size=2"]))
    assert isinstance(idle, Hit) and idle.severity is Severity.WARNING


def test_sglang_shares_its_ranks_with_data_parallel_attention() -> None:
    apart = with_devices(["4", "--tp-size=4", "--dp-size=4"], SGLANG)
    assert titles(PAR001, apart) == [
        "the engine starts 16 ranks (4 tensor x 4 data parallel), the container gets nvidia.com/gpu: 4"
    ]
    assert not outcomes(PAR001, with_devices(["4", "--tp-size=4", "--dp-size=4", "--enable-dp-attention"], SGLANG))


def test_a_tpu7x_chip_is_two_devices() -> None:
    selector = {"nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu7x"}}
    tpu = "google.com/tpu"
    assert not outcomes(PAR001, with_devices(["4", "--tensor-parallel-size=8"], resource=tpu, **selector))
    assert not outcomes(PAR001, with_devices(["4", "--tensor-parallel-size=8"], resource=tpu))
    older = {"nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}}
    assert titles(PAR001, with_devices(["4", "--tensor-parallel-size=8"], resource=tpu, **older))


def test_what_is_not_known_is_skipped() -> None:
    (unknown,) = outcomes(PAR001, with_devices(["4", "--tensor-parallel-size=$(TP)"]))
    assert isinstance(unknown, Skip)
    (nothing,) = outcomes(PAR001, deployment("d", container(["m", "--tensor-parallel-size=2"])))
    assert isinstance(nothing, Skip)
    assert not outcomes(PAR001, deployment("d", container(["m", "-tp=2"], "vllm/vllm-openai-cpu:v0.30.0")))
    ray = ["8", "--tensor-parallel-size=16", "--distributed-executor-backend=ray"]
    (spread,) = outcomes(PAR001, with_devices(ray))
    assert isinstance(spread, Skip)


def test_devices_that_were_forgotten() -> None:
    bare = deployment("d", container(["m"]))
    assert not outcomes(PAR001, bare)
    assert titles(PAR001, bare, complete=True) == ["modelserver runs vllm on accelerators and asks for none"]
    assert not titles(PAR001, deployment("d", container(["m"], "vllm/vllm-openai-cpu:v0.30.0")), complete=True)
    assert not titles(PAR001, deployment("d", container(["m"]), pod={"runtimeClassName": "nvidia"}), complete=True)
    own = container(["m"], resources={"limits": {"example.com/gpu": 1}})
    assert not titles(PAR001, deployment("d", own), complete=True)


def test_ray_spreads_ranks_over_a_group_and_no_further() -> None:
    ray = "--distributed-executor-backend=ray"
    assert not titles(PAR001, group(2, "--tensor-parallel-size=16", ray))
    assert titles(PAR001, group(2, "--tensor-parallel-size=32", ray)) == [
        "the engine starts 32 ranks (32 tensor parallel), all pods of a group together get nvidia.com/gpu: 8"
    ]


def shell(line: str) -> dict[str, Any]:
    """A container field: a shell line instead of the plain command."""
    return {"command": ["sh", "-c", line], "args": []}


SERVE = "exec vllm serve m --data-parallel-size-local=8 --data-parallel-hybrid-lb "


def test_ranks_of_a_group() -> None:
    size = "--data-parallel-size=$((LWS_GROUP_SIZE * 8)) "
    start = "--data-parallel-start-rank=$((LWS_WORKER_INDEX * 8))"
    assert not outcomes(PAR002, group(2, **shell(SERVE + size + start)))
    assert titles(PAR002, group(3, **shell(SERVE + "--data-parallel-size=16 " + start))) == [
        "data parallel is 16, and a group of 3 pods holds 24 ranks"
    ]
    assert titles(PAR002, group(2, **shell(SERVE + size + start.replace("8", "4")))) == [
        "pod 1 of a group starts at rank 4; 1 x 8 local ranks is 8"
    ]
    assert titles(PAR002, group(2, **shell(SERVE + size))) == [
        "the pods of a group don't tell their engines which ranks they hold"
    ]


def test_first_ranks_that_a_script_computes() -> None:
    lines = "DP=8\nSTART=$(( ${LWS_WORKER_INDEX:-0} * DP ))\n" + SERVE
    flags = "--data-parallel-size=$((LWS_GROUP_SIZE * 8)) --data-parallel-start-rank=$START"
    assert not outcomes(PAR002, group(2, **shell(lines + flags)))
    assert titles(PAR002, group(2, **shell(lines.replace("DP=8", "DP=4") + flags)))
    (skip,) = outcomes(PAR002, group(2, **shell("START=$(cat /rank)\n" + SERVE + flags)))
    assert isinstance(skip, Skip)
    circle = "START=$((OTHER * 1))\nOTHER=$((START * 1))\n"
    (skip,) = outcomes(PAR002, group(2, **shell(circle + SERVE + flags)))
    assert isinstance(skip, Skip)


def test_every_pod_starts_all_ranks() -> None:
    assert titles(PAR002, group(2, "--data-parallel-size=16")) == ["each of 2 pods starts all 16 data-parallel ranks"]


def test_leader_and_workers_with_ranks_of_their_own() -> None:
    both = ("--data-parallel-size=16", LOCAL)
    fits = group(2, *both, "--headless", "--data-parallel-start-rank=8", leader=both)
    assert not outcomes(PAR002, fits)
    late = group(2, *both, "--headless", "--data-parallel-start-rank=16", leader=both)
    assert titles(PAR002, late)


def test_ranks_that_nobody_can_join() -> None:
    alone = with_devices(["8", "--data-parallel-size=16", LOCAL])
    assert titles(PAR002, alone) == ["data parallel is 16, the pod holds 8 ranks, and no address tells of other pods"]
    assert not outcomes(PAR002, with_devices(["8", "--data-parallel-size=16", LOCAL, "--data-parallel-address=x"]))


def test_nodes_of_a_group() -> None:
    words = ["--model-path=m", "--tp-size=16", "--node-rank=$(LWS_WORKER_INDEX)", "--dist-init-addr=x:20000"]
    assert not outcomes(PAR005, group(2, *words, "--nnodes=$(LWS_GROUP_SIZE)", image=SGLANG))
    assert titles(PAR005, group(2, *words, "--nnodes=4", image=SGLANG)) == [
        "the engine waits for 4 nodes, a group has 2 pods"
    ]
    assert titles(PAR005, group(2, "--model-path=m", "--nnodes=2", "--node-rank=0", image=SGLANG)) == [
        "the engine runs on 2 nodes and lacks --dist-init-addr"
    ]
    assert not titles(PAR001, group(2, *words, "--nnodes=2", image=SGLANG))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("$N", 3),
        ("${N}", 3),
        ("$((N * 2 + 1))", 7),
        ("$(( ${N} * (1 + 1) ))", 6),
        ("$((9 / 2 % 3))", 1),
        ("$((N / 0))", None),
        ("$((M))", None),
        ("$((", None),
        ("$((1 +))", None),
        ("$(((((((((((((((((((((((((((((1))", None),
        ("a b", None),
        ("", None),
    ],
)
def test_shell_arithmetic(text: str, value: int | None) -> None:
    assert evaluate(text, {"N": 3}) == value
