"""LBL: every branch of every predicate."""

from __future__ import annotations

import pytest
from stacks import container, decode, deployment, outcomes, pool, prefill, sglang, titles

from llmdctl.findings import Hit, Severity, Unresolved
from llmdctl.validate.rules.labels import LBL001, LBL003, LBL005, LBL008

ENGINE = container(["Qwen/Qwen3-32B"])


def test_a_selector_that_no_pod_has_is_an_error_when_a_pod_of_the_namespace_nearly_fits() -> None:
    (hit,) = outcomes(LBL001, pool(guide="demmo"), deployment("decode", ENGINE))
    assert isinstance(hit, Hit)
    assert hit.severity is Severity.ERROR
    assert hit.at.pointer == "spec.selector.matchLabels"
    assert "llm-d.ai/guide is 'demo', not 'demmo'" in hit.evidence[0].text


def test_a_pool_alone_is_unresolved_and_in_a_complete_input_an_error() -> None:
    (open_world,) = outcomes(LBL001, pool())
    assert isinstance(open_world, Unresolved)
    assert titles(LBL001, pool(), complete=True)


def test_a_pool_of_another_stack_in_files_without_namespace_is_unresolved() -> None:
    workload = deployment("decode", ENGINE, namespace="")
    found = outcomes(LBL001, pool(guide="flow-control"), workload, files=["pool.yaml", "decode.yaml"])
    assert [type(item) for item in found] == [Unresolved]


def test_pods_that_fit_in_another_namespace_are_named() -> None:
    (hit,) = outcomes(LBL001, pool(namespace="a"), deployment("decode", ENGINE, namespace="b"))
    assert isinstance(hit, Hit)
    assert "in namespace b" in hit.evidence[0].text


def test_a_pool_that_picks_decode_but_not_its_prefill_servers() -> None:
    found = titles(LBL001, pool(guide="demo", role="decode"), prefill(), decode())
    assert found == ["the pool demo picks decode but not prefill: llm-d.ai/role is 'prefill', not 'decode'"]


def test_two_stacks_with_a_pool_each_are_fine() -> None:
    other = deployment("other", ENGINE, labels={"llm-d.ai/guide": "other"})
    assert not titles(LBL001, pool(), deployment("decode", ENGINE), pool("other", guide="other"), other)


def test_labels_that_lws_injects_count() -> None:
    lws = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "big", "namespace": "llm-d"},
        "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": {"containers": [ENGINE]}}}},
    }
    chosen = pool()
    chosen["spec"]["selector"]["matchLabels"] = {
        "leaderworkerset.sigs.k8s.io/name": "big",
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
    }
    assert not outcomes(LBL001, chosen, lws)
    chosen["spec"]["selector"]["matchLabels"]["leaderworkerset.sigs.k8s.io/worker-index"] = "2"
    assert titles(LBL001, chosen, lws, complete=True)


def test_disaggregated_set_overwrites_app() -> None:
    role = {
        "name": "decode",
        "spec": {
            "leaderWorkerTemplate": {
                "workerTemplate": {"metadata": {"labels": {"app": "mine"}}, "spec": {"containers": [ENGINE]}}
            }
        },
    }
    ds = {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": "pd", "namespace": "llm-d"},
        "spec": {"roles": [role]},
    }
    chosen = pool()
    chosen["spec"]["selector"]["matchLabels"] = {"app": "mine"}
    assert titles(LBL001, chosen, ds)
    chosen["spec"]["selector"]["matchLabels"] = {"app": "pd-0-decode"}
    assert not titles(LBL001, chosen, ds)


def test_a_role_that_no_filter_knows_names_the_nearest() -> None:
    wrong = deployment("prefill", ENGINE, role="prefil")
    (hit,) = outcomes(LBL003, pool(), wrong, decode())
    assert isinstance(hit, Hit)
    assert hit.fix == "use 'prefill'"
    assert hit.at.pointer == "spec.template.metadata.labels.llm-d.ai/role"


def test_a_prefill_server_without_role_is_an_error_another_pod_a_warning() -> None:
    config = '--kv-transfer-config={"kv_connector":"NixlConnector","kv_role":"kv_producer"}'
    producer = deployment("p", container(["m", config]))
    (hit,) = outcomes(LBL003, pool(), producer, decode())
    assert isinstance(hit, Hit)
    assert (hit.severity, hit.fix) == (Severity.ERROR, "add llm-d.ai/role: prefill to the pod template")
    (mild,) = outcomes(LBL003, pool(), prefill(), deployment("d", ENGINE))
    assert isinstance(mild, Hit)
    assert mild.severity is Severity.WARNING


def test_roles_do_not_matter_where_nothing_is_disaggregated() -> None:
    assert not outcomes(LBL003, pool(), deployment("decode", ENGINE))


@pytest.mark.parametrize("key", ["app.kubernetes.io/version", "helm.sh/chart"])
def test_a_label_that_changes_with_versions_in_a_selector(key: str) -> None:
    selector = {"llm-d.ai/guide": "demo", key: "1"}
    assert titles(LBL005, deployment("decode", ENGINE, labels={key: "1"}, selector=selector))


def test_a_selector_that_catches_another_workload() -> None:
    both = {"llm-d.ai/guide": "demo"}
    found = titles(
        LBL005, deployment("a", ENGINE, role="prefill", selector=both), deployment("b", ENGINE, role="decode")
    )
    assert found == ["the selector also matches the pods of Deployment/b"]
    apart = deployment("b", ENGINE, role="decode", namespace="elsewhere")
    assert not titles(LBL005, deployment("a", ENGINE, role="prefill", selector=both), apart)


def test_overlays_in_files_of_their_own_do_not_catch_each_other() -> None:
    one, other = (deployment(name, ENGINE, namespace="") for name in ("a", "b"))
    assert titles(LBL005, one, other)
    assert not titles(LBL005, one, other, files=["one.yaml", "other.yaml"])


def test_the_engine_label_must_tell_the_engine() -> None:
    assert titles(LBL008, sglang("a", "decode", labels={"llm-d.ai/engine-type": "vllm"}))
    assert titles(LBL008, deployment("a", ENGINE, labels={"llm-d.ai/engine-type": "sglang"}))
    assert not titles(LBL008, deployment("a", ENGINE, labels={"llm-d.ai/engine-type": "vllm"}))
    assert not titles(LBL008, deployment("a", ENGINE))


def picker(config: str) -> list[dict[str, object]]:
    """An endpoint picker of the pool `demo` with its config."""
    epp = {
        "name": "epp",
        "image": "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.10.0",
        "args": ["--pool-name", "demo", "--config-file", "/config/c.yaml"],
        "volumeMounts": [{"name": "config", "mountPath": "/config"}],
    }
    volumes = [{"name": "config", "configMap": {"name": "epp"}}]
    workload = deployment("epp", epp, labels={"llm-d.ai/guide": "none"}, pod={"volumes": volumes})
    data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "epp", "namespace": "llm-d"}}
    return [workload, {**data, "data": {"c.yaml": config}}]


CONFIG = """
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- type: core-metrics-extractor
  parameters: {defaultEngine: ENGINE}
schedulingProfiles: []
"""


def test_an_unlabelled_engine_depends_on_the_pickers_default() -> None:
    workload = deployment("a", container(["--model-path=m", "--host=0.0.0.0"], "lmsysorg/sglang:v0.5.20"))
    assert [type(item) for item in outcomes(LBL008, pool(), workload)] == [Unresolved]
    assert titles(LBL008, pool(), workload, *picker(CONFIG.replace("ENGINE", "vllm")))
    assert not outcomes(LBL008, pool(), workload, *picker(CONFIG.replace("ENGINE", "sglang")))
    assert titles(LBL008, pool(), workload, complete=True)
