"""What the view makes of manifests: engines, sidecars, ports, labels, versions, pairs."""

from __future__ import annotations

from typing import Any

import pytest
from stacks import container, decode, deployment, documents, pool, prefill, sglang

from llmdctl.findings import UserError
from llmdctl.view import EngineCommand, Match, VersionOptions, View, parse_version_options
from llmdctl.view.container import EnvValue, expand
from llmdctl.view.node import Node
from llmdctl.view.versions import image_version


def engine_of(args: list[str], **more: Any) -> EngineCommand:
    """The engine of a Deployment with these arguments."""
    engine = View(documents(deployment("d", container(args, **more)))).templates[0].engine
    assert engine is not None
    return engine


@pytest.mark.parametrize(
    ("image", "component", "version"),
    [
        ("vllm/vllm-openai:v0.30.0", "vllm", "0.30.0"),
        ("registry:5000/mirror/vllm-openai:v0.23.0@sha256:ab", "vllm", "0.23.0"),
        ("lmsysorg/sglang:v0.5.20", "sglang", "0.5.20"),
        ("ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.10.0", "sidecar", "0.10.0"),
        ("ghcr.io/llm-d/llm-d-cuda:v0.8.0", "vllm", None),
        ("vllm/vllm-openai:nightly", "vllm", None),
        ("vllm/vllm-openai@sha256:ab", "vllm", None),
        ("vllm/vllm-openai:v0.30.0", "sglang", None),
    ],
)
def test_versions_come_from_images_whose_tag_is_the_components(image: str, component: str, version: str | None) -> None:
    found = image_version(image, component)
    assert (str(found) if found else None) == version


def test_an_option_wins_over_the_annotation_and_that_over_the_image() -> None:
    annotated = deployment("d", container(["m"]), role="prefill")
    annotated["metadata"]["annotations"] = {"llmdctl.io/component-version": "vllm@0.26.0, sidecar@0.9.0"}
    options = parse_version_options(["vllm@0.33.0", "decode=vllm@0.20.0"])

    def version(options: VersionOptions, role: str) -> str:
        annotated["spec"]["template"]["metadata"]["labels"]["llm-d.ai/role"] = role
        engine = View(documents(annotated), versions=options).templates[0].engine
        assert engine is not None
        return str(engine.version)

    assert version(VersionOptions(), "prefill") == "0.26.0"
    assert version(options, "prefill") == "0.33.0"
    assert version(options, "decode") == "0.20.0"


@pytest.mark.parametrize("value", ["vllm", "vllm@main", "@1.0", "vlm@0.30.0", ""])
def test_a_version_option_that_cannot_be_read(value: str) -> None:
    with pytest.raises(UserError):
        parse_version_options([value])


def test_an_engine_inside_a_shell_line() -> None:
    line = (
        "PORT=8200\nexec vllm serve openai/gpt --port $PORT --tensor-parallel-size ${TP} --data-parallel-size $((N*2))"
    )
    engine = engine_of([], command=["/bin/bash", "-c", line], env=[{"name": "TP", "value": "4"}])
    assert (engine.model, engine.tensor_parallel, engine.data_parallel) == ("openai/gpt", 4, None)
    assert str(engine.http_ports) == "8200"
    assert engine.place_of("port").pointer == "spec.template.spec.containers[0].command[2]"


def test_arguments_know_their_place() -> None:
    engine = engine_of(["m", "--block-size", "64"])
    assert engine.block_size == 64
    assert engine.place_of("block-size").pointer == "spec.template.spec.containers[0].args[1]"
    assert engine.model_place.pointer == "spec.template.spec.containers[0].args[0]"


def test_what_a_shell_adds_leaves_unset_flags_unknown() -> None:
    engine = engine_of([], command=["sh", "-c", "vllm serve m $EXTRA --port 8000"])
    assert engine.is_open
    assert str(engine.http_ports) == "8000"
    assert engine.tensor_parallel is None
    assert engine.is_unknown("dtype")


def test_lws_variables_come_first_and_are_known_as_far_as_they_are_fixed() -> None:
    lws = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "big"},
        "spec": {
            "leaderWorkerTemplate": {
                "size": 4,
                "leaderTemplate": {"spec": {"containers": [container(["m"])]}},
                "workerTemplate": {"spec": {"containers": [container(["m"])]}},
            }
        },
    }
    leader, worker = View(documents(lws)).templates
    assert (leader.part, worker.part) == ("leader", "worker")
    assert leader.containers[0].env_text("LWS_GROUP_SIZE") == "4"
    assert leader.containers[0].env_text("LWS_WORKER_INDEX") == "0"
    assert worker.containers[0].env_text("LWS_WORKER_INDEX") is None
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    assert leader.labels.match({index: "0"}) is Match.ALL
    assert worker.labels.match({index: "3"}) is Match.SOME
    assert worker.labels.match({index: "0"}) is Match.NONE


def test_variables_are_expanded_as_the_kubelet_does() -> None:
    node = Node(documents(pool())[0], None)
    values = {"A": EnvValue("1", node), "IP": EnvValue(None, node)}
    assert expand("$(A)-$$(A)-$(B)", values) == "1-$(A)-$(B)"
    assert expand("$(IP)", values) is None


def test_json_flags_keep_what_only_the_pod_knows() -> None:
    engine = engine_of(
        ["m", '--kv-transfer-config={"kv_connector":"TPUConnector","kv_role":"kv_both","kv_ip":"$(IP)"}']
    )
    assert engine.kv_transfer is not None
    assert [item.name for item in engine.kv_transfer.peers] == ["TPUConnector"]


def test_a_pool_pairs_what_it_picks_and_a_stack_what_its_labels_name() -> None:
    assert len(View(documents(pool(), prefill(), decode())).pairs) == 1
    assert len(View(documents(prefill(), decode())).pairs) == 1
    assert not View(documents(prefill(labels={"llm-d.ai/model": "a"}), decode(labels={"llm-d.ai/model": "b"}))).pairs


def test_stacks_of_one_name_in_two_namespaces_are_not_compared() -> None:
    objects = [
        {**item, "metadata": {**item["metadata"], "namespace": namespace}}
        for namespace in ("staging", "prod")
        for item in (prefill(), decode())
    ]
    pairs = View(documents(*objects)).pairs
    assert [(pair.prefill.namespace, pair.decode.namespace) for pair in pairs] == [
        ("staging", "staging"), ("prod", "prod"),
    ]  # fmt: skip


def test_cross_file_pairs_need_a_stated_namespace() -> None:
    files = ["pool", "a", "a", "b", "b"]

    def stack(namespace: str) -> list[dict[str, Any]]:
        one = [prefill(namespace=namespace), decode(namespace=namespace)]
        two = [sglang(name, name, mode=name, namespace=namespace) for name in ("prefill", "decode")]
        for item in two:
            item["metadata"]["name"] += "-2"
        return [pool(), *one, *two]

    assert len(View(documents(*stack("llm-d"), files=files)).pairs) == 4
    assert len(View(documents(*stack(""), files=files)).pairs) == 2


def test_names_of_shared_objects_do_not_make_files_rivals() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "llm-d"}}
    view = View(documents(namespace, prefill(), namespace, decode(), files=["a", "a", "b", "b"]))
    assert len(view.pairs) == 1
