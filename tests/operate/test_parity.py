"""docs/parity.yaml: every row is rendered as it says, or left out with a reason."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.manifest.emit import emit_yaml
from llmdctl.plan.build import build_plan
from llmdctl.plan.model import Plan, RolePlan, WorkerPlan
from llmdctl.plan.request import Request, flag_layer
from llmdctl.render.objects import render

FILE = Path(__file__).resolve().parents[2] / "docs" / "parity.yaml"
GROUPS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def rows() -> Iterator[tuple[str, tuple[tuple[str, str], ...], str, str, Any]]:
    """One a fact: a name, the stack, the part (a role, router, ...), the kind of fact, and its value."""
    for group in GROUPS:
        if "stack" not in group:
            continue
        stack = tuple(group["stack"].items())
        for part in ("prefill", "decode", "worker", "router", "labels", "sidecar", "objects"):
            found = group.get(part, {})
            kinds = found.items() if isinstance(found, dict) and part != "labels" else [(part, found)] if found else []
            for kind, values in kinds:
                many = values.items() if isinstance(values, dict) else values if isinstance(values, list) else [values]
                for value in many:
                    yield f"{'/'.join(group['stack'].values())} {part} {kind} {value}", stack, part, kind, value


@functools.cache
def catalog() -> Catalog:
    return load_catalog()


@functools.cache
def made(stack: tuple[tuple[str, str], ...]) -> tuple[Plan, tuple[dict[str, Any], ...]]:
    values: dict[Any, tuple[Any, str]] = {("spec", key): (value, key) for key, value in stack}
    plan = build_plan(Request((flag_layer(values),)), catalog())
    return plan, render(plan, catalog().template_dirs(plan.stack.guide)).objects


def of_role(role: RolePlan | WorkerPlan, kind: str, value: Any) -> bool:
    container, pod = role.container, role.pod
    resources = container.resources
    environment = {item["name"]: item.get("value") for item in container.env}
    security = container.security_context
    words = [*container.command, *container.args]
    pairs: dict[str, Any] = {
        "env": environment,
        "ports": {item["name"]: item["containerPort"] for item in container.ports},
        "requests": resources.get("requests", {}),
        "limits": resources.get("limits", {}),
        "nodeSelector": pod.node_selector or {},
        "annotations": pod.annotations,
        "metadata": role.workload_labels if isinstance(role, RolePlan) else {},
        "probes": {
            name: probe["httpGet"]["path"]
            for name, probe in {
                "startup": container.startup_probe,
                "liveness": container.liveness_probe,
                "readiness": container.readiness_probe,
            }.items()
            if probe
        },
    }
    if kind in pairs:
        name, wanted = value
        return bool(pairs[kind].get(name) == wanted)
    members: dict[str, Any] = {
        "flags": container.args,
        "words": words,
        "mounts": [item["mountPath"] for item in container.volume_mounts],
        "capabilities": security.get("capabilities", {}).get("add", []) if "privileged" not in security else [],
        "tolerations": [item.get("key") for item in pod.tolerations or []],
    }
    if kind in members:
        return value in members[kind]
    single: dict[str, Any] = {
        "replicas": role.replicas if isinstance(role, RolePlan) else None,
        "identity": role.group_identity if isinstance(role, RolePlan) else None,
        "claims": len(pod.resource_claims or []),
        "image": container.image.reference,
        "shm": next((item["emptyDir"]["sizeLimit"] for item in pod.volumes if item["name"] == "shm"), None),
        "grace": pod.termination_grace_period_seconds,
        "preStop": ((container.lifecycle or {}).get("preStop") or {}).get("sleep", {}).get("seconds"),
        "fsGroup": (pod.security_context or {}).get("fsGroup"),
        "privileged": security.get("privileged"),
    }
    if kind in single:
        return bool(single[kind] == value)
    if kind == "has":
        return any(value in word for word in words)
    if kind == "without":
        return value not in resources.get("limits", {}) and value not in resources.get("requests", {})
    raise AssertionError(f"parity.yaml has an unknown kind of fact: {kind}")


def of_router(plan: Plan, kind: str, value: Any, objects: tuple[dict[str, Any], ...]) -> bool:
    router = plan.router
    if kind in ("requests", "limits"):
        return bool(router.resources[kind].get(value[0]) == value[1])
    if kind == "service":
        return {"name": value[0], "port": value[1]}.items() <= {
            key: item[key] for item in router.service_ports if item["name"] == value[0] for key in ("name", "port")
        }.items()
    checks: dict[str, Any] = {
        "plugins": lambda: any(plugin["type"] == value for plugin in router.config["plugins"]),
        "targetPorts": lambda: value in plan.pool.ports,
        "replicas": lambda: router.replicas == value,
        "failureMode": lambda: router.failure_mode == value,
        "proxy": lambda: router.proxy is not None and value in router.proxy.args,
        "has": lambda: value in emit_yaml(router.config),
        "grace": lambda: any(
            item["spec"]["template"]["spec"].get("terminationGracePeriodSeconds") == value
            for item in objects
            if item["kind"] == "Deployment" and item["metadata"]["name"] == router.name
        ),
    }
    return bool(checks[kind]())


ROWS = list(rows())


@pytest.mark.parametrize(("stack", "part", "kind", "value"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_fact_is_rendered(stack: tuple[tuple[str, str], ...], part: str, kind: str, value: Any) -> None:
    plan, objects = made(stack)
    if part == "objects":
        assert value in {f"{item['kind']}/{item['metadata']['name']}" for item in objects}
    elif part == "labels":
        for role in plan.roles:
            assert role.pod.labels.get(value[0]) == value[1]
    elif part == "sidecar":
        sidecar = next(role.sidecar for role in plan.roles if role.sidecar is not None)
        assert value in sidecar.args
    elif part == "router":
        assert of_router(plan, kind, value, objects)
    elif part == "worker":
        assert of_role(next(role.worker for role in plan.roles if role.worker is not None), kind, value)
    else:
        assert of_role(next(role for role in plan.roles if role.name == part), kind, value)


def test_what_is_left_out_has_a_reason() -> None:
    left = [item for group in GROUPS for item in group.get("left", [])]
    assert len(left) > 20
    for item in left:
        assert set(item) == {"fact", "why"}
        assert len(item["why"]) > 20, item


def test_every_guide_and_source_is_covered() -> None:
    assert {group["stack"]["guide"] for group in GROUPS if "stack" in group} == set(catalog().names("Guide"))
    assert all(group["source"] for group in GROUPS if "stack" in group)
    assert len(ROWS) > 300
