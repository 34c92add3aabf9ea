"""Pods: what the API server refuses, at the field that it names, in the words that it uses."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmdctl.validate.admission import check_admission

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "engine", "namespace": "llm-d"},
    "spec": {
        "containers": [
            {
                "name": "modelserver",
                "image": "docker.io/vllm/vllm-openai:v0.30.0",
                "ports": [{"name": "modelserver", "containerPort": 8000}],
                "env": [{"name": "HF_HOME", "value": "/models"}],
                "resources": {"requests": {"cpu": "8"}, "limits": {"nvidia.com/gpu": "1"}},
                "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
                "readinessProbe": {"httpGet": {"path": "/health", "port": "modelserver"}},
                "securityContext": {"runAsUser": 1000},
            }
        ],
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    },
}
C = "spec.containers[0]"


def changed(path: str, value: Any) -> dict[str, Any]:
    """The pod with one field set; steps are dotted, numbers are list indices, `~` stands for a dot in a key."""
    pod = copy.deepcopy(POD)
    node: Any = pod
    *steps, last = path.split(".")
    for step in steps:
        node = node[int(step)] if step.isdigit() else node.setdefault(step.replace("~", "."), {})
    node[int(last) if last.isdigit() else last.replace("~", ".")] = value
    return pod


def found(obj: Any, minor: str = "1.36") -> list[tuple[str, str, str]]:
    return [(item.code, item.field, item.message) for item in check_admission(obj, minor=minor, namespaced=True)]


def test_the_base_is_accepted() -> None:
    assert found(POD) == []


P = "spec.containers.0"
REFUSED = [
    ("spec.containers", [], "ADM004", "spec.containers", "Required value"),
    (f"{P}.name", "Model_Server", "ADM004", f"{C}.name", 'Invalid value: "Model_Server"'),
    (f"{P}.name", "", "ADM004", f"{C}.name", "Required value"),
    (f"{P}.image", "", "ADM004", f"{C}.image", "Required value"),
    (f"{P}.image", " vllm", "ADM004", f"{C}.image", 'Invalid value: " vllm"'),
    (f"{P}.imagePullPolicy", "Allways", "ADM004", f"{C}.imagePullPolicy", 'Unsupported value: "Allways"'),
    (f"{P}.ports.0.containerPort", 0, "ADM005", f"{C}.ports[0].containerPort", "Required value"),
    (f"{P}.ports.0.containerPort", 70000, "ADM005", f"{C}.ports[0].containerPort", "Invalid value: 70000"),
    (f"{P}.ports.0.name", "a-very-long-port-name", "ADM005", f"{C}.ports[0].name", "Invalid value"),
    (f"{P}.ports.0.name", "8000", "ADM005", f"{C}.ports[0].name", "Invalid value"),
    (f"{P}.ports.0.protocol", "HTTP", "ADM005", f"{C}.ports[0].protocol", "Unsupported value"),
    (f"{P}.env.0.name", "A=B", "ADM006", f"{C}.env[0].name", "Invalid value"),
    (f"{P}.env.0.name", "", "ADM006", f"{C}.env[0].name", "Required value"),
    (f"{P}.env.0.valueFrom", {"fieldRef": {"fieldPath": "status.podIP"}}, "ADM006", f"{C}.env[0].valueFrom", "Invalid"),
    (f"{P}.envFrom", [{}], "ADM006", f"{C}.envFrom", "Invalid value"),
    ("spec.volumes.0.hostPath", {"path": "/x"}, "ADM007", "spec.volumes[0].hostPath", "Forbidden"),
    ("spec.volumes.0.name", "S_H", "ADM007", "spec.volumes[0].name", "Invalid value"),
    (f"{P}.volumeMounts.0.name", "cache", "ADM008", f"{C}.volumeMounts[0].name", 'Not found: "cache"'),
    (f"{P}.volumeMounts.0.mountPath", "", "ADM008", f"{C}.volumeMounts[0].mountPath", "Required value"),
    (f"{P}.volumeMounts.0.subPath", "../x", "ADM008", f"{C}.volumeMounts[0].subPath", "Invalid value"),
    (f"{P}.resources.requests.cpu", "8 cores", "ADM009", f"{C}.resources.requests[cpu]", "Invalid value"),
    (f"{P}.resources.limits.cpu", "4", "ADM009", f"{C}.resources.requests", "Invalid value"),
    (f"{P}.resources.limits.gpus", "1", "ADM009", f"{C}.resources.limits[gpus]", "Invalid value"),
    (f"{P}.resources.limits.memory", "-1Gi", "ADM009", f"{C}.resources.limits[memory]", "Invalid value"),
    (f"{P}.resources.limits.nvidia~com/gpu", "500m", "ADM009", f"{C}.resources.limits[nvidia.com/gpu]", "Invalid"),
    (f"{P}.resources.requests.nvidia~com/gpu", "2", "ADM009", f"{C}.resources.requests", "Invalid value"),
    (f"{P}.resources.requests.rdma/ib", "1", "ADM009", f"{C}.resources.limits", "Required value"),
    (f"{P}.readinessProbe", {"periodSeconds": 5}, "ADM010", f"{C}.readinessProbe", "Required value"),
    (f"{P}.readinessProbe.tcpSocket", {"port": 1}, "ADM010", f"{C}.readinessProbe.tcpSocket", "Forbidden"),
    (f"{P}.readinessProbe.periodSeconds", -1, "ADM010", f"{C}.readinessProbe.periodSeconds", "Invalid value"),
    (f"{P}.readinessProbe.httpGet.port", 0, "ADM010", f"{C}.readinessProbe.httpGet.port", "Invalid value"),
    (f"{P}.readinessProbe.httpGet.scheme", "H2", "ADM010", f"{C}.readinessProbe.httpGet.scheme", "Unsupported"),
    ("spec.restartPolicy", "Sometimes", "ADM011", "spec.restartPolicy", "Unsupported value"),
    ("spec.tolerations.0.value", "x", "ADM012", "spec.tolerations[0].operator", "Invalid value"),
    ("spec.tolerations.0.effect", "NoRun", "ADM012", "spec.tolerations[0].effect", "Unsupported value"),
    ("spec.nodeSelector", {"a b": "c"}, "ADM012", "spec.nodeSelector", "Invalid value"),
    (f"{P}.securityContext.runAsUser", -1, "ADM013", f"{C}.securityContext.runAsUser", "Invalid value"),
    (f"{P}.securityContext", {"privileged": True, "allowPrivilegeEscalation": False}, "ADM013", C, "Invalid value"),
    ("spec.dnsPolicy", "None", "ADM028", "spec.dnsConfig", "Required value"),
    ("spec.serviceAccountName", "S A", "ADM028", "spec.serviceAccountName", "Invalid value"),
    ("metadata.name", "Engine", "ADM002", "metadata.name", "Invalid value"),
    ("metadata.labels", {"a": "b c"}, "ADM003", "metadata.labels", "Invalid value"),
]


@pytest.mark.parametrize(
    ("path", "value", "code", "field", "message"), REFUSED, ids=[f"{r[0]}={r[1]}" for r in REFUSED]
)
def test_what_is_refused(path: str, value: Any, code: str, field: str, message: str) -> None:
    hits = found(changed(path, value))
    assert any(
        (hit_code, hit_message.startswith(message)) == (code, True) and hit_field.startswith(field)
        for hit_code, hit_field, hit_message in hits
    ), hits


ACCEPTED = [
    (f"{P}.resources.limits.cpu", "8"),
    (f"{P}.resources.limits.memory", "1.5Gi"),
    (f"{P}.resources.limits.memory", "128974848"),
    (f"{P}.resources.limits.memory", "1e9"),
    (f"{P}.resources.requests.nvidia~com/gpu", "1"),
    (f"{P}.readinessProbe.httpGet.port", "not-declared"),
    (f"{P}.readinessProbe.periodSeconds", 0),
    (f"{P}.env.0.name", "an odd name"),
    (f"{P}.securityContext.capabilities", {"add": ["IPC_LOCK", "NO_SUCH"]}),
    (f"{P}.lifecycle", {"preStop": {"sleep": {"seconds": 15}}}),
    ("spec.initContainers", [{"name": "proxy", "image": "a", "restartPolicy": "Always"}]),
    ("spec.hostNetwork", True),
    ("spec.terminationGracePeriodSeconds", 0),
    ("metadata.labels", {"app.kubernetes.io/name": ""}),
    ("metadata.annotations", {"llm-d.ai/Model": "anything at all: {}"}),
]


@pytest.mark.parametrize(("path", "value"), ACCEPTED, ids=[f"{r[0]}={r[1]}" for r in ACCEPTED])
def test_what_is_accepted(path: str, value: Any) -> None:
    assert found(changed(path, value)) == []


@pytest.mark.parametrize("quantity", ["8GB", "1 core", "16gi", "500MB", "", "1.2.3", "Gi", "1e", "0x10"])
def test_quantities_that_are_none(quantity: str) -> None:
    codes = [code for code, _, _ in found(changed(f"{P}.resources.limits.memory", quantity))]
    assert "ADM009" in codes


@pytest.mark.parametrize("quantity", ["8Gi", "1", "1.5", "100m", "2k", "1E", "1e3", "+1", ".5", "0"])
def test_quantities_that_are_some(quantity: str) -> None:
    assert found(changed(f"{P}.resources.limits.ephemeral-storage", quantity)) == []


@pytest.mark.parametrize("quantity", ["9" * 5000, "1e" + "9" * 5000, "0." + "1" * 5000, "0" * 5000 + "1"])
def test_quantities_of_thousands_of_digits_are_read(quantity: str) -> None:
    messages = [message for _, _, message in found(changed(f"{P}.resources.limits.memory", quantity))]
    assert not any("quantities must" in message for message in messages)


def test_names_are_unique_over_all_containers() -> None:
    pod = changed("spec.initContainers", [{"name": "modelserver", "image": "a"}])
    assert any(message.startswith("Duplicate value") for _, _, message in found(pod))


def test_a_claim_that_a_container_uses_must_be_one_of_the_pod() -> None:
    pod = changed(f"{P}.resources.claims", [{"name": "nic"}])
    assert any(code in ("ADM009", "ADM022") for code, _, _ in found(pod))
    pod["spec"]["resourceClaims"] = [{"name": "nic", "resourceClaimTemplateName": "nics"}]
    assert found(pod) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 70000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
PATHS = [row[0] for row in REFUSED] + [row[0] for row in ACCEPTED] + ["spec", "metadata", P, "spec.volumes"]


@given(st.sampled_from(PATHS), JSON)
def test_any_value_anywhere_is_judged_without_a_crash_and_left_as_it_was(path: str, value: Any) -> None:
    pod = changed(path, value)
    before = copy.deepcopy(pod)
    for kind, version in (("Pod", "v1"), ("Deployment", "apps/v1"), ("Service", "v1"), ("Job", "batch/v1")):
        obj = {**pod, "kind": kind, "apiVersion": version}
        if kind in ("Deployment", "Job"):
            obj["spec"] = {"template": {"metadata": pod["metadata"], "spec": pod["spec"]}, "selector": value}
        check_admission(obj, minor="1.33", namespaced=True)
    assert pod == before
