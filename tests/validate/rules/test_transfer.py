"""KVT: every branch of every predicate."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from stacks import decode, outcomes, pool, prefill, sglang, sidecar, titles, transfer

from llmdctl.findings import Hit, Severity, Skip
from llmdctl.validate.rules.compatibility import KVT022
from llmdctl.validate.rules.shapes import KVT004, KVT007
from llmdctl.validate.rules.transfer import KVT001, KVT002, KVT003


def multi(*children: tuple[str, str]) -> str:
    """A MultiConnector configuration."""
    connectors = [{"kv_connector": name, "kv_role": role} for name, role in children]
    return transfer("MultiConnector", kv_connector_extra_config={"connectors": connectors})


def sglang_pair(prefill_args: tuple[str, ...] = (), decode_args: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Two SGLang servers in their modes."""
    return [
        sglang("prefill", "prefill", *prefill_args, mode="prefill"),
        sglang("decode", "decode", *decode_args, port=8200, mode="decode"),
    ]


@pytest.mark.parametrize(
    "left",
    [
        transfer("MooncakeConnector"),
        transfer(kv_connector_module_path="other.module"),
        "",
        multi(("MooncakeConnector", "kv_both")),
    ],
    ids=["other", "module", "none", "multi"],
)
def test_connectors_differ(left: str) -> None:
    assert titles(KVT001, pool(), prefill(config=left), decode())


def test_one_common_connector_is_enough() -> None:
    both = multi(("NixlConnector", "kv_both"), ("OffloadingConnector", "kv_both"))
    assert not outcomes(KVT001, pool(), prefill(config=both), decode())
    assert not outcomes(KVT001, pool(), prefill(config=transfer("NixlPullConnector")), decode())
    assert not outcomes(KVT001, pool(), prefill(config=""), decode(config=""))


def test_different_engines_and_backends() -> None:
    (title,) = titles(KVT001, pool(), prefill(), sglang("decode", "decode", mode="decode"))
    assert title == "prefill runs vllm, decode runs sglang"
    backend = "--disaggregation-transfer-backend=nixl"
    assert titles(KVT001, pool(), *sglang_pair((backend,)))
    assert not titles(KVT001, pool(), *sglang_pair((backend,), (backend,)))
    assert not titles(KVT001, pool(), *sglang_pair(("--disaggregation-transfer-backend=mooncake_tcp",)))


def test_unknown_connectors_and_configurations_are_skipped() -> None:
    for config in (transfer("OurConnector"), "--kv-transfer-config=$(CONFIG)"):
        assert [type(item) for item in outcomes(KVT001, pool(), prefill(config=config), decode())] == [Skip]


def test_servers_of_different_stacks_are_no_pair() -> None:
    other = prefill(config=transfer("MooncakeConnector"), labels={"llm-d.ai/guide": "other"})
    assert not outcomes(KVT001, pool(), other, decode())


def test_overlays_with_common_names_are_alternatives() -> None:
    """`validate overlays/*.yaml`: the prefill of one overlay never meets the decode of another."""
    mooncake = transfer("MooncakeConnector")
    objects = [prefill(namespace=""), decode(namespace="")]
    objects += [prefill(config=mooncake, namespace=""), decode(config=mooncake, namespace="")]
    assert not outcomes(KVT001, *objects, files=["a.yaml", "a.yaml", "b.yaml", "b.yaml"])


def test_directions() -> None:
    assert titles(KVT002, prefill(config=transfer(role="kv_consumer")))
    assert titles(KVT002, decode(config=transfer(role="kv_producer")))
    assert not titles(KVT002, prefill(config=transfer(role="kv_producer")), decode(config=transfer(role="kv_consumer")))
    assert not titles(KVT002, prefill(), decode())
    assert titles(KVT002, prefill(config=multi(("NixlConnector", "kv_consumer"), ("OffloadingConnector", "kv_both"))))
    assert titles(KVT002, sglang("d", "decode", mode="prefill"))


@pytest.mark.parametrize(
    ("connector", "protocol"),
    [("NixlConnector", "nixlv2"), ("MooncakeConnector", "mooncake"), ("MoRIIOConnector", "nixlv2")],
)
def test_the_sidecar_speaks_the_engines_protocol(connector: str, protocol: str) -> None:
    ports = ("--port=8000", "--vllm-port=8200")
    fitting = decode(config=transfer(connector), proxy=(*ports, f"--kv-connector={protocol}"))
    assert not outcomes(KVT003, fitting)
    assert titles(KVT003, decode(config=transfer(connector), proxy=(*ports, "--kv-connector=shared-storage")))


def test_the_sidecar_before_sglang_and_before_an_engine_that_moves_nothing() -> None:
    assert titles(KVT003, sglang("d", "decode", port=8200, mode="decode", init=[sidecar()]))
    assert not outcomes(
        KVT003, sglang("d", "decode", port=8200, mode="decode", init=[sidecar("--kv-connector=sglang")])
    )
    assert not outcomes(KVT003, decode(config=""))
    assert [type(item) for item in outcomes(KVT003, decode(config=transfer("OurConnector")))] == [Skip]


def tensor(left: int, right: int, **options: Any) -> list[str]:
    """What KVT004 says of these sizes."""
    sizes = (f"--tensor-parallel-size={left}", f"--tensor-parallel-size={right}")
    return [
        item.title if isinstance(item, Hit) else "skipped"
        for item in outcomes(KVT004, pool(), prefill(sizes[0]), decode(sizes[1]), **options)
    ]


def facts(kv_heads: int | None, *, mla: bool = False, mamba: bool = False) -> Any:
    """A model lookup that knows one model."""
    return lambda _: SimpleNamespace(kv_heads=kv_heads, mla=mla, mamba=mamba, hybrid_attention=False)


def test_tensor_parallel_sizes_divide_each_other() -> None:
    assert tensor(3, 4) == ["tensor-parallel sizes 3 (prefill) and 4 (decode): neither divides the other"]
    assert tensor(1, 4) == tensor(4, 4) == tensor(2, 8) == []


def test_a_larger_prefill_is_bound_by_the_models_kv_heads() -> None:
    assert tensor(8, 4, models=facts(8)) == []
    assert len(tensor(8, 4, models=facts(4))) == 1
    assert tensor(8, 4, models=facts(4, mla=True)) == tensor(8, 4, models=facts(4, mamba=True)) == []
    assert tensor(8, 4, models=facts(None)) == tensor(8, 4) == ["skipped"]


def test_mooncake_only_needs_divisible_sizes() -> None:
    config = transfer("MooncakeConnector")
    sides = prefill("--tensor-parallel-size=8", config=config), decode("--tensor-parallel-size=4", config=config)
    assert not outcomes(KVT004, pool(), *sides, models=facts(2))


def test_sglang_compares_attention_ranks() -> None:
    """--tp 8 with DP attention over 2 has 4 attention ranks; a raw comparison would take 8 and 3 for the fault."""
    attention = ("--tensor-parallel-size=8", "--dp-size=2", "--enable-dp-attention")
    assert not titles(KVT004, pool(), *sglang_pair(attention, ("--tensor-parallel-size=4",)))
    assert titles(KVT004, pool(), *sglang_pair(("--tensor-parallel-size=4",), ("--tensor-parallel-size=3",)))


def blocks(left: str, right: str, image: str = "vllm/vllm-openai:v0.30.0", **more: str) -> list[str]:
    """What KVT007 says of these flags."""
    config = transfer(
        more.get("connector", "NixlConnector"), **({"kv_buffer_device": more["device"]} if "device" in more else {})
    )
    sides = (
        prefill(*left.split(), config=config, image=image),
        decode(*right.split(), config=config, image=image),
    )
    return [
        str(item.severity or "error") if isinstance(item, Hit) else "skipped"
        for item in outcomes(KVT007, pool(), *sides)
    ]


def test_block_sizes_by_version_and_layout() -> None:
    big, small = "--block-size=128", "--block-size=64"
    old = "vllm/vllm-openai:v0.26.0"
    off = " --disable-hybrid-kv-cache-manager"
    assert blocks(big, big) == blocks("", "") == []
    assert blocks(big, small) == ["error"]
    assert blocks(small, big) == []
    assert blocks(small, big, old) == ["error"]
    assert blocks(small + off, big + off, old) == []
    assert blocks(small, big, "vllm/vllm-openai:nightly") == ["skipped"]
    assert blocks(small, big, device="cpu") == ["error"]
    assert blocks(small, big, connector="NixlPushConnector") == ["error"]
    assert blocks(small + " --tensor-parallel-size=2", big) == ["warning"]
    assert blocks(small, "") == ["warning"]
    assert blocks(small, big, connector="MooncakeConnector") == ["warning"]


def test_sglang_wants_equal_pages() -> None:
    assert titles(KVT007, pool(), *sglang_pair(("--page-size=64",), ("--page-size=128",)))
    assert not titles(KVT007, pool(), *sglang_pair(("--page-size=64",), ("--page-size=64",)))


def compared(left: dict[str, Any], right: dict[str, Any]) -> list[tuple[str, str]]:
    """Severity and title of what KVT022 says."""
    found = outcomes(KVT022, pool(), left, right)
    return [(str(item.severity or Severity.ERROR), item.title) for item in found if isinstance(item, Hit)]


@pytest.mark.parametrize(
    ("left", "right", "severity", "what"),
    [
        (prefill(image="vllm/vllm-openai:v0.26.0"), decode(), "error", "vLLM version"),
        (prefill(image="ours:a"), decode(image="ours:b"), "warning", "image"),
        (prefill(model="/models/x"), decode(), "error", "model"),
        (prefill("--dtype=half"), decode("--dtype=bfloat16"), "error", "--dtype"),
        (prefill("--kv-cache-dtype=fp8"), decode(), "warning", "--kv-cache-dtype"),
        (prefill("--attention-backend=A"), decode("--attention-backend=B"), "error", "--attention-backend"),
        (prefill("--disable-hybrid-kv-cache-manager"), decode(), "error", "the hybrid KV cache manager"),
        (prefill(config=transfer("NixlPushConnector")), decode(), "error", "transfer mode"),
        (prefill(), decode('--speculative-config={"method":"eagle3","model":"d"}'), "error", "speculation"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_part_of_the_hash(left: dict[str, Any], right: dict[str, Any], severity: str, what: str) -> None:
    ((found, title),) = compared(left, right)
    assert found == severity
    assert title.startswith(f"prefill and decode differ in {what}: ")


def test_equal_sides_and_equal_spellings_agree() -> None:
    assert not compared(prefill("--kv-cache-dtype=fp8"), decode("--kv-cache-dtype=fp8_e4m3"))
    assert not compared(prefill("--dtype=half"), decode("--dtype=float16"))
    assert not compared(prefill('--speculative-config={"method":"ngram"}'), decode())


def test_a_connector_without_hybrid_cache_on_one_side_only() -> None:
    both = multi(("NixlConnector", "kv_both"), ("LMCacheConnectorV1", "kv_both"))
    ((severity, title),) = compared(prefill(config=both), decode())
    assert severity == "error"
    assert title.endswith("off and on")


def test_speculation_is_compared_from_0_30_on() -> None:
    old = "vllm/vllm-openai:v0.26.0"
    assert not compared(prefill(image=old), decode('--speculative-config={"method":"eagle3"}', image=old))


def test_a_side_that_is_told_not_to_compare() -> None:
    lax = transfer(kv_connector_extra_config={"enforce_handshake_compat": False})
    assert not compared(prefill(model="/models/x", config=lax), decode(config=lax))


def test_sglang_compares_the_cache_type_and_never_the_model() -> None:
    left, right = sglang_pair(("--kv-cache-dtype=fp8_e5m2",), ("--kv-cache-dtype=fp8_e4m3",))
    assert compared(left, right)
    assert not compared(*sglang_pair())
