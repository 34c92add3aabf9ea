"""ENG010 to ENG014: command lines that engines refuse, or silently change, while they start."""

from __future__ import annotations

from typing import Any

import pytest
from stacks import prefill, sglang, titles, transfer

from llmdctl.validate.rules.start_flags import ENG010, ENG012
from llmdctl.validate.rules.start_ranks import ENG011
from llmdctl.validate.rules.start_transfer import ENG013, ENG014

MULTI_PORT = "--data-parallel-multi-port-external-lb --data-parallel-size=4 --data-parallel-size-local=4"
HYBRID = "--data-parallel-hybrid-lb --data-parallel-size=16"


def offloading(**extra: Any) -> str:
    return transfer("OffloadingConnector", kv_connector_extra_config=extra)


def of_all(*objects: Any) -> list[str]:
    return [title for rule in (ENG010, ENG011, ENG012, ENG013, ENG014) for title in titles(rule, *objects)]


@pytest.mark.parametrize(
    ("rule", "line", "told"),
    [
        (ENG010, "--enable-auto-tool-choice", "--enable-auto-tool-choice needs --tool-call-parser"),
        (ENG010, "--enable-log-outputs", "--enable-log-outputs needs --enable-log-requests"),
        (ENG010, "--enable-per-request-metrics --disable-log-stats", "needs the statistics"),
        (ENG010, "--enable-eplb --data-parallel-size=8", "--enable-eplb needs --enable-expert-parallel"),
        (ENG010, '--eplb-config={"num_redundant_experts":32}', "asks for 32 redundant experts"),
        (ENG010, "--mamba-block-size=64 --no-enable-prefix-caching", "needs prefix caching"),
        (ENG011, f"{MULTI_PORT} --data-parallel-rank=0", "choose different ways"),
        (ENG011, "--data-parallel-external-lb --data-parallel-hybrid-lb", "choose different ways"),
        (ENG011, "--data-parallel-rank=1 --data-parallel-start-rank=1", "choose different ways"),
        (ENG011, HYBRID, "needs --data-parallel-size-local"),
        (ENG011, f"{HYBRID} --data-parallel-size-local=8 --headless", "needs an API server in each pod"),
        (ENG011, f"{MULTI_PORT} --api-server-count=4", "each rank has one server"),
        (
            ENG011,
            f"{MULTI_PORT} --port=9254",
            "9256 is also that of a rank: they take 9254 to 9257",
        ),
        (ENG011, f"{MULTI_PORT} --ssl-keyfile=/k", "--ssl-keyfile is given without its other half"),
        (ENG011, "--data-parallel-multi-port-external-lb --data-parallel-size=4", "needs --data-parallel-size-local"),
        (ENG011, "--headless --api-server-count=1", "--headless has no API server"),
        (ENG011, "--data-parallel-size=4 --data-parallel-rank=4", "--data-parallel-rank=4 is beyond"),
        (ENG011, "--data-parallel-size=4 --data-parallel-size-local=8", "--data-parallel-size-local=8 is beyond"),
        (ENG011, "--data-parallel-external-lb --data-parallel-size=1", "of 2 or more"),
        (ENG011, "--data-parallel-external-lb --data-parallel-size=2", "nothing tells which rank"),
        (ENG011, "--data-parallel-rank=1 --data-parallel-size=4 --data-parallel-size-local=2", "starts one rank"),
        (ENG011, "--nnodes=2 --node-rank=2 --tensor-parallel-size=2", "--node-rank=2 is beyond --nnodes=2"),
        (ENG011, "--nnodes=2 --tensor-parallel-size=3", "3 ranks can't be spread evenly over --nnodes=2"),
        (
            ENG011,
            "--nnodes=2 --tensor-parallel-size=2 --distributed-executor-backend=ray",
            "does not go with",
        ),
        (ENG012, "--max-num-batched-tokens=64 --max-num-seqs=128", "--max-num-seqs is 128"),
        (
            ENG012,
            "--no-enable-chunked-prefill --max-model-len=4096 --max-num-batched-tokens=2048",
            "does not fit",
        ),
        (ENG012, "--max-loras=4 --max-cpu-loras=2", "--max-loras is 4, above --max-cpu-loras, which is 2"),
        (ENG012, "--tensor-parallel-size=4 --decode-context-parallel-size=3", "does not divide"),
        (ENG012, "--enable-eplb --enable-expert-parallel", "there is one rank"),
        (ENG012, "--gpu-memory-utilization=95", "is no share of the memory"),
        (ENG013, transfer(role="both"), "NixlConnector has the kv_role 'both'"),
        (ENG013, '--kv-transfer-config={"kv_connector":"NixlConnector"}', "NixlConnector has no kv_role"),
        (ENG013, transfer("NixlConector"), "vLLM has no KV connector NixlConector"),
        (ENG013, offloading(), "needs cpu_bytes_to_use"),
        (ENG013, offloading(cpu_bytes_to_use=1, block_size=64, blocks_per_chunk=2), "not both"),
        (ENG013, transfer("MultiConnector"), "MultiConnector has no list of connectors"),
        (ENG013, transfer("LMCacheConnectorV1") + " --no-disable-hybrid-kv-cache-manager", "does not support it"),
        (ENG014, transfer() + " --kv-offloading-size=8", "--kv-offloading-size replaces NixlConnector"),
        (ENG014, "--data-parallel-hybrid-lb --data-parallel-size=2 --data-parallel-size-local=2", "is turned off"),
    ],
)
def test_vllm_refuses(rule: Any, line: str, told: str) -> None:
    found = titles(rule, prefill(*_words(line), config=""))
    assert len(found) == 1
    assert told in found[0]


@pytest.mark.parametrize(
    "line",
    [
        "--enable-auto-tool-choice --tool-call-parser=hermes",
        "--no-enable-auto-tool-choice",
        "--enable-eplb --enable-expert-parallel --data-parallel-size=8",
        MULTI_PORT,
        f"{MULTI_PORT} --data-parallel-start-rank=4",
        f"{HYBRID} --data-parallel-size-local=8 --data-parallel-start-rank=8",
        "--data-parallel-size=16 --data-parallel-size-local=8 --data-parallel-start-rank=8 --headless",
        "--data-parallel-external-lb --data-parallel-size=4 --data-parallel-rank=3",
        "--nnodes=2 --node-rank=1 --tensor-parallel-size=16",
        "--max-num-batched-tokens=8192 --max-num-seqs=128",
        "--max-num-seqs=128 --max-num-batched-tokens=$BATCH",
        offloading(cpu_bytes_to_use=1073741824),
        transfer("MyConnector", kv_connector_module_path="mine.connector"),
        transfer("LMCacheConnectorV1") + " --disable-hybrid-kv-cache-manager",
        "--kv-offloading-size=8",
    ],
)
def test_vllm_takes(line: str) -> None:
    assert of_all(prefill(*_words(line), config="")) == []


def _words(line: str) -> list[str]:
    """Words of a command line; the JSON of `transfer` holds spaces of its own."""
    words: list[str] = []
    for word in line.split(" "):
        if word.startswith("--") or not words:
            words.append(word)
        else:
            words[-1] += f" {word}"
    return words


def test_a_child_of_several_connectors_is_checked_too() -> None:
    children = [
        {"kv_connector": "NixlConnector", "kv_role": "kv_both", "engine_id": "x"},
        {"kv_connector": "NixlConnector"},
    ]
    config = transfer("MultiConnector", kv_connector_extra_config={"connectors": children})
    assert [title.partition(": ")[2] for title in titles(ENG013, prefill(config=config))] == [
        "connectors[0]: a child of MultiConnector can't have an engine_id",
        "connectors[1]: NixlConnector has no kv_role",
    ]


def test_memory_that_no_connector_can_register() -> None:
    server = prefill()
    engine = server["spec"]["template"]["spec"]["containers"][0]
    engine["env"] = [{"name": "PYTORCH_CUDA_ALLOC_CONF", "value": "expandable_segments:True"}]
    assert "expandable_segments" in titles(ENG013, server)[0]
    engine["env"][0]["value"] = "expandable_segments:False"
    assert titles(ENG013, server) == []


def test_flags_that_may_come_from_a_file_are_not_missed() -> None:
    assert titles(ENG010, prefill("--enable-auto-tool-choice", "--config=/etc/vllm.yaml")) == []


@pytest.mark.parametrize(
    ("rule", "line", "told"),
    [
        (ENG010, "--served-model-name=a:b", "holds a colon"),
        (
            ENG010,
            "--disaggregation-mode=prefill --disaggregation-transfer-backend=fake",
            "can't use",
        ),
        (ENG010, "--encoder-only --language-only", "does not go with"),
        (ENG012, "--tp-size=3 --nnodes=2", "3 ranks can't be spread evenly over --nnodes=2"),
        (ENG012, "--tp-size=2 --nnodes=2 --dp-size=2", "--dp-size=2 is for one node"),
        (ENG012, "--tp-size=6 --dp-size=4 --enable-dp-attention", "does not divide --tp-size=6"),
        (ENG012, "--attn-dp-size=2 --dp-size=2 --tp-size=4", "can't both be above 1"),
        (ENG012, "--chunked-prefill-size=1000 --page-size=64", "is no multiple of --page-size=64"),
        (ENG012, "--grpc-port=8000", "gRPC and HTTP both take port 8000"),
    ],
)
def test_sglang_refuses(rule: Any, line: str, told: str) -> None:
    found = titles(rule, sglang("server", "both", *line.split()))
    assert len(found) == 1
    assert told in found[0]


@pytest.mark.parametrize(
    "line",
    [
        "--tp-size=16 --nnodes=2 --dp-size=8 --enable-dp-attention",
        "--chunked-prefill-size=-1 --page-size=64",
        "--disaggregation-mode=decode --chunked-prefill-size=1000 --page-size=64",
        "--tp-size=8 --attn-dp-size=4",
        "--dp-size=4",
    ],
)
def test_sglang_takes(line: str) -> None:
    assert of_all(sglang("server", "both", *line.split())) == []
