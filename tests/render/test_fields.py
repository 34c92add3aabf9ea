"""Each field of the spec changes the output where it should, or is listed here with the reason why not."""

from __future__ import annotations

from typing import Any

import pytest
from spec_fields import leaves

PD = "pd-disaggregation"
GATEWAY = {"router": {"mode": "gateway"}}
DIGEST = "sha256:" + "b" * 64

# path -> (spec with the field set, spec to compare with; {} when left out)
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "spec.preset": ({"preset": "8p2d"}, {}),
    "spec.release": ({"release": "0.9"}, {}),
    "spec.model.id": ({"model": {"id": "openai/gpt-oss-20b"}}, {}),
    "spec.model.revision": ({"model": {"revision": "main"}}, {}),
    "spec.model.servedName": ({"model": {"servedName": "gpt"}}, {}),
    "spec.model.source": (
        {"model": {"source": "local", "cache": {"pvc": {"claimName": "models"}}}},
        {"model": {"cache": {"pvc": {"claimName": "models"}}}},
    ),
    "spec.model.maxLength": ({"model": {"maxLength": 8192}}, {}),
    "spec.model.tokenSecret.name": ({"model": {"tokenSecret": {"name": "other"}}}, {}),
    "spec.model.tokenSecret.key": ({"model": {"tokenSecret": {"key": "TOKEN"}}}, {}),
    "spec.model.cache.emptyDir.sizeLimit": ({"model": {"cache": {"emptyDir": {"sizeLimit": "200Gi"}}}}, {}),
    "spec.model.cache.pvc.claimName": ({"model": {"cache": {"pvc": {"claimName": "models"}}}}, {}),
    "spec.model.cache.hostPath.path": ({"model": {"cache": {"hostPath": {"path": "/mnt/models"}}}}, {}),
    "spec.engine": ({"engine": "sglang"}, {}),
    "spec.accelerator": ({"accelerator": "nvidia-h100"}, {}),
    "spec.provider": ({"provider": "coreweave"}, {}),
    "spec.workload": ({"workload": "deployment"}, {}),
    "spec.devices.mode": ({"provider": "gke", "devices": {"mode": "devicePlugin"}}, {"provider": "gke"}),
    "spec.kvTransfer.backends": ({"kvTransfer": {"backends": ["LIBFABRIC"]}}, {}),
    "spec.pod.nodeSelector": ({"pod": {"nodeSelector": {"pool": "a"}}}, {}),
    "spec.pod.tolerations": ({"pod": {"tolerations": [{"key": "a", "operator": "Exists"}]}}, {}),
    "spec.pod.affinity": ({"pod": {"affinity": {"nodeAffinity": {}}}}, {}),
    "spec.pod.priorityClassName": ({"pod": {"priorityClassName": "high"}}, {}),
    "spec.pod.runtimeClassName": ({"pod": {"runtimeClassName": "nvidia"}}, {}),
    "spec.pod.imagePullSecrets": ({"pod": {"imagePullSecrets": [{"name": "a"}]}}, {}),
    "spec.pod.labels": ({"pod": {"labels": {"team": "a"}}}, {}),
    "spec.pod.annotations": ({"pod": {"annotations": {"note": "a"}}}, {}),
    "spec.pod.serviceAccount": ({"pod": {"serviceAccount": "own"}}, {}),
    "spec.images.registry": ({"images": {"registry": "mirror.example"}}, {}),
    "spec.images.overrides.{}.repository": ({"images": {"overrides": {"envoy": {"repository": "a.example/b"}}}}, {}),
    "spec.images.overrides.{}.tag": ({"images": {"overrides": {"envoy": {"tag": "v9"}}}}, {}),
    "spec.images.overrides.{}.digest": ({"images": {"overrides": {"envoy": {"digest": DIGEST}}}}, {}),
    "spec.router.mode": (GATEWAY, {}),
    "spec.router.replicas": ({"router": {"replicas": 2}}, {}),
    "spec.router.failureMode": ({"router": {"failureMode": "FailClose"}}, {}),
    "spec.router.proxy.resources.requests": ({"router": {"proxy": {"resources": {"requests": {"cpu": 2}}}}}, {}),
    "spec.router.proxy.resources.limits": ({"router": {"proxy": {"resources": {"limits": {"memory": "9Gi"}}}}}, {}),
    "spec.router.proxy.concurrency": ({"router": {"proxy": {"concurrency": 2}}}, {}),
    "spec.router.gateway.className": ({"router": {"mode": "gateway", "gateway": {"className": "istio"}}}, GATEWAY),
    "spec.router.gateway.name": ({"router": {"mode": "gateway", "gateway": {"name": "own"}}}, GATEWAY),
    "spec.router.config": ({"router": {"config": {"plugins": [{"type": "queue-scorer"}]}}}, {}),
    "spec.router.resources.requests": ({"router": {"resources": {"requests": {"cpu": 2}}}}, {}),
    "spec.router.resources.limits": ({"router": {"resources": {"limits": {"memory": "9Gi"}}}}, {}),
    "spec.monitoring.enabled": ({"monitoring": {"enabled": True}}, {}),
    "spec.queue.kueue.localQueue": ({"queue": {"kueue": {"localQueue": "gpus"}}}, {}),
    "spec.patches.[].kind": ({"patches": [{"kind": "Service", "name": f"{PD}-epp", "merge": {"spec": {"a": 1}}}]}, {}),
    "spec.patches.[].name": (
        {"patches": [{"kind": "ConfigMap", "name": f"{PD}-envoy", "merge": {"data": {"a": "b"}}}]},
        {"patches": [{"kind": "ConfigMap", "name": f"{PD}-epp", "merge": {"data": {"a": "b"}}}]},
    ),
    "spec.patches.[].merge": ({"patches": [{"kind": "Service", "name": f"{PD}-epp", "merge": {"spec": {"b": 1}}}]}, {}),
}
for _role in ("prefill", "decode"):
    for _field, _value in {
        "replicas": 3,
        "parallelism.tensor": 8,
        "resources.requests": {"cpu": 3},
        "resources.limits": {"memory": "99Gi"},
        "engineArgs": {"max-num-seqs": 7},
        "env.[].name": [{"name": "A"}],
        "env.[].value": [{"name": "A", "value": "1"}],
        "env.[].valueFrom": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "pod.nodeSelector": {"pool": "a"},
        "pod.tolerations": [{"key": "a", "operator": "Exists"}],
        "pod.affinity": {"nodeAffinity": {}},
        "pod.priorityClassName": "high",
        "pod.runtimeClassName": "nvidia",
        "pod.imagePullSecrets": [{"name": "a"}],
        "pod.labels": {"team": "a"},
        "pod.annotations": {"note": "a"},
        "pod.serviceAccount": "own",
    }.items():
        _nested: Any = _value
        for _step in reversed(_field.split(".[]")[0].split(".")):
            _nested = {_step: _nested}
        CHANGES[f"spec.roles.{_role}.{_field}"] = ({"roles": {_role: _nested}}, {})

METADATA = {
    "metadata.name": {"name": "other"},
    "metadata.namespace": {"namespace": "other"},
    "metadata.labels": {"labels": {"team": "a"}},
    "metadata.annotations": {"annotations": {"note": "a"}},
}

UNCHANGED = {
    "spec.guide": "chooses the guide; every test here renders another output for another guide",
    "spec.kubeVersion": "bounds what may be rendered and what it is validated against, see test_build.py",
    "spec.kvTransfer.connector": "only nixl so far; others are refused, see test_build.py",
    "spec.networkPolicy.enabled": "refused: not supported yet by these guides",
    "spec.roles.*.parallelism.pipeline": "refused by pd-disaggregation; optimized-baseline below",
    "spec.roles.*.parallelism.data": "refused by this guide; wide-ep in tests/plan/test_ranks.py",
    "spec.roles.*.parallelism.dataLocal": "refused by this guide; wide-ep in tests/plan/test_ranks.py",
    "spec.roles.*.parallelism.loadBalancing": "refused by this guide; wide-ep in tests/plan/test_ranks.py",
    "spec.roles.*.parallelism.expert": "optimized-baseline below",
    "spec.roles.encode": "refused: these guides have no such role",
}


def reason(path: str) -> str | None:
    for pattern, text in UNCHANGED.items():
        head, star, tail = pattern.partition("*")
        if path == pattern or (not star and path.startswith(f"{pattern}.")):
            return text
        if star and path.startswith(head) and path.endswith(tail):
            return text
    return None


def test_no_field_of_the_spec_is_forgotten() -> None:
    known = {".".join(path) for path, _ in leaves()}
    missing = [path for path in known if path not in CHANGES and path not in METADATA and reason(path) is None]
    assert missing == []
    assert [path for path in CHANGES if path not in known] == []


@pytest.mark.parametrize("path", CHANGES)
def test_the_field_changes_the_output(render_stack: Any, path: str) -> None:
    spec, other = CHANGES[path]
    assert render_stack(PD, spec).objects != render_stack(PD, other).objects


@pytest.mark.parametrize("path", METADATA)
def test_the_metadata_changes_the_output(render_stack: Any, path: str) -> None:
    assert render_stack(PD, {}, METADATA[path]).objects != render_stack(PD).objects


@pytest.mark.parametrize("parallelism", [{"pipeline": 2}, {"expert": True}])
def test_parallelism_of_aggregated_serving(render_stack: Any, parallelism: dict[str, Any]) -> None:
    spec = {"roles": {"decode": {"parallelism": parallelism}}}
    assert render_stack("optimized-baseline", spec).objects != render_stack("optimized-baseline").objects


def test_what_a_field_says_arrives_where_it_belongs(render_stack: Any) -> None:
    spec = {
        "model": {"servedName": "gpt", "revision": "r1", "maxLength": 4096, "cache": {"pvc": {"claimName": "models"}}},
        "workload": "deployment",
        "queue": {"kueue": {"localQueue": "gpus"}},
    }
    objects = {(obj["kind"], obj["metadata"]["name"]): obj for obj in render_stack(PD, spec).objects}
    decode = objects["Deployment", f"{PD}-decode"]
    container = decode["spec"]["template"]["spec"]["containers"][0]
    assert {"--served-model-name=gpt", "--revision=r1", "--max-model-len=4096"} <= set(container["args"])
    assert decode["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpus"
    volumes = {volume["name"]: volume for volume in decode["spec"]["template"]["spec"]["volumes"]}
    assert volumes["model-cache"] == {"name": "model-cache", "persistentVolumeClaim": {"claimName": "models"}}
