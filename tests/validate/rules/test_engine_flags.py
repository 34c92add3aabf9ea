"""ENG and IMG: what argument parsers refuse, and versions that contradict each other."""

from __future__ import annotations

from typing import Any

import pytest
from stacks import deployment, outcomes, prefill, sglang, titles, transfer

from llmdctl.findings import Hit, Skip
from llmdctl.validate.rules.engine_flags import ENG001, ENG002, ENG003, ENG004
from llmdctl.validate.rules.images import IMG001
from llmdctl.view.versions import ANNOTATION

OLD = "vllm/vllm-openai:v0.26.0"


def fixes(rule: Any, *objects: Any) -> list[str]:
    return [item.fix for item in outcomes(rule, *objects) if isinstance(item, Hit)]


@pytest.mark.parametrize(
    ("flag", "fix"),
    [
        ("--max-model-length=4096", "did you mean --max-model-len?"),
        ("--no-enable-prefix-cachin", "did you mean --no-enable-prefix-caching?"),
        ("--zzzzzzzz=1", "remove it, or use the version that has it"),
        ("--task=generate", "remove it, or use the version that has it"),
    ],
)
def test_unknown_flags(flag: str, fix: str) -> None:
    assert titles(ENG001, prefill(flag)) == [f"vllm 0.30.0 has no flag {flag.partition('=')[0]}"]
    assert fixes(ENG001, prefill(flag)) == [fix]


@pytest.mark.parametrize(
    "flag",
    [
        "--max_model_len=4096",
        "-tp=2",
        "--no-enable-prefix-caching",
        "--max-model-len=32k",
        "--max-model-len=auto",
        "--kv-cache-memory-bytes=",
        "--kv-transfer-config.kv_rank=0",
        "--compilation-config=3",
        "--gpu-memory-utilization=0.9",
    ],
)
def test_forms_that_the_parser_takes(flag: str) -> None:
    for rule in (ENG001, ENG002, ENG003, ENG004):
        assert titles(rule, prefill(flag)) == []


def test_a_flag_of_a_newer_version() -> None:
    assert titles(ENG001, prefill("--enable-scale-out")) == []
    assert titles(ENG001, prefill("--enable-scale-out", image=OLD)) == ["vllm 0.26.0 has no flag --enable-scale-out"]


def test_sglang_has_its_own_flags() -> None:
    assert titles(ENG001, sglang("a", "decode", "--enable-prefix-caching")) == [
        "sglang 0.5.20 has no flag --enable-prefix-caching"
    ]
    assert titles(ENG001, sglang("a", "decode", "--tp=2", "--page-size=64")) == []
    assert titles(ENG002, sglang("a", "decode", "--kv-cache-dtype=int3")) == [
        "--kv-cache-dtype of sglang 0.5.20 has no choice 'int3'"
    ]


@pytest.mark.parametrize(
    ("flag", "title"),
    [
        ("--enforce-eager=true", "--enforce-eager of vllm 0.30.0 is a switch and takes no value"),
        ("--port=http", "--port of vllm 0.30.0 takes a whole number, not 'http'"),
        ("--gpu-memory-utilization=90%", "--gpu-memory-utilization of vllm 0.30.0 takes a number, not '90%'"),
        ("--kv-cache-dtype=fp9", "--kv-cache-dtype of vllm 0.30.0 has no choice 'fp9'"),
        ("--max-num-seqs", "--max-num-seqs of vllm 0.30.0 needs a value"),
    ],
)
def test_values_that_the_parser_refuses(flag: str, title: str) -> None:
    assert titles(ENG002, prefill(flag)) == [title]


def test_what_only_the_pod_knows_is_no_finding() -> None:
    assert titles(ENG002, prefill("--max-num-seqs=$(SEQS)")) == []
    found = outcomes(ENG003, prefill(config="--kv-transfer-config=$(CONFIG)"))
    assert [type(item) for item in found] == [Skip]


@pytest.mark.parametrize("rule", [ENG001, ENG002, ENG004])
@pytest.mark.parametrize("image", ["vllm/vllm-openai:v0.27.1", "vllm/vllm-openai:nightly", "r.example/vllm:main"])
def test_versions_without_a_table_are_skipped_with_the_reason(rule: Any, image: str) -> None:
    found = outcomes(rule, prefill("--not-a-flag", image=image))
    assert len(found) == 1
    assert isinstance(found[0], Skip)
    assert "version is not known" in found[0].reason or "no flag table of vllm 0.27.1" in found[0].reason


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('{"kv_connector":"NixlConnector",', "is not JSON, column 33: Expecting property name"),
        ("{'kv_connector': 'NixlConnector'}", "is not JSON, column 2: Expecting property name"),
        ("NixlConnector", "is not JSON, column 1: Expecting value"),
        ("[]", "takes a JSON object, not '[]'"),
        ("", "is not JSON, column 1: Expecting value"),
    ],
)
def test_text_that_is_no_json(config: str, message: str) -> None:
    (title,) = titles(ENG003, prefill(config=f"--kv-transfer-config={config}"))
    assert message in title


def test_a_variable_inside_json_does_not_hide_it() -> None:
    config = '{"kv_connector":"NixlConnector","engine_id":"$(POD_IP)"}'
    assert outcomes(ENG003, prefill(config=f"--kv-transfer-config={config}")) == []


def test_fields_that_the_configuration_lacks() -> None:
    (title,) = titles(ENG004, prefill(config=transfer(backends=["UCX"])))
    assert title == "--kv-transfer-config of vllm 0.30.0 has no field 'backends'"
    assert titles(ENG004, prefill(config=transfer(kv_connector_extra_config={"anything": 1}))) == []
    events = '--kv-events-config={"enable_kv_cache_events":true,"publisher":"zmq","topics":"kv"}'
    assert fixes(ENG004, prefill(events)) == ["did you mean 'topic'?"]


def test_fields_in_flags_of_their_own() -> None:
    words = ["--kv-transfer-config.kv_connector=NixlConnector", "--kv-transfer-config.kv_rolle=kv_both"]
    assert fixes(ENG004, prefill(*words, config="")) == ["did you mean 'kv_role'?"]
    assert titles(ENG004, prefill(words[0], "--kv-transfer-config.kv_role=kv_both", config="")) == []


def annotated(version: str, image: str) -> dict[str, Any]:
    made = deployment("a", {"name": "a", "image": image, "command": ["vllm", "serve"], "args": ["m"]})
    made["spec"]["template"]["metadata"]["annotations"] = {ANNOTATION: version}
    return made


@pytest.mark.parametrize(
    ("stated", "image", "expected"),
    [
        ("vllm@0.30.0", OLD, ["the image carries vllm 0.26.0, annotation llmdctl.io/component-version says 0.30.0"]),
        ("vllm@0.26.0", OLD, []),
        ("sglang@0.5.20", OLD, []),
        ("vllm@0.30.0", "registry.example/own-build:1.2.3", []),
        (
            "endpoint-picker@0.10.0",
            "ghcr.io/llm-d/llm-d-router-endpoint-picker:v1.0.0",
            ["the image carries epp 1.0.0, annotation llmdctl.io/component-version says 0.10.0"],
        ),
    ],
)
def test_a_stated_version_that_the_tag_contradicts(stated: str, image: str, expected: list[str]) -> None:
    assert titles(IMG001, annotated(stated, image)) == expected


def trtllm(*args: str) -> dict[str, Any]:
    engine = {
        "name": "modelserver",
        "image": "nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc28",
        "command": ["trtllm-serve", "serve"],
        "args": ["Qwen/Qwen3-32B", *args],
    }
    made = deployment("trt", engine)
    made["spec"]["template"]["metadata"]["annotations"] = {ANNOTATION: "trtllm@1.3.0rc28"}
    return made


def test_an_incomplete_table_refuses_values_but_no_unknown_flag() -> None:
    assert titles(ENG002, trtllm("--tp_size=two")) == ["--tp_size of trtllm 1.3.0rc28 takes a whole number, not 'two'"]
    assert [type(item) for item in outcomes(ENG001, trtllm("--tp_size=2"))] == []
    assert [type(item) for item in outcomes(ENG001, trtllm("--brand_new=2"))] == [Skip]
