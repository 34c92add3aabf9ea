"""Which PodSecurity level a stack's namespace needs, and why.

Source: Kubernetes, Pod Security Standards (levels privileged, baseline, restricted).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.plan.model import Plan, RolePlan

LEVELS = ("restricted", "baseline", "privileged")

BASELINE_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
"""Capabilities that the baseline level lets a container add."""


@frozen
class PodSecurity:
    """The lowest level that admits all pods of a stack, with what keeps them from a lower one."""

    level: str
    reasons: tuple[str, ...]


def pod_security(plan: Plan) -> PodSecurity:
    """The level that the namespace of a plan needs."""
    found = [*(need for role in plan.roles for need in _needs(role)), *(_router_needs(plan) if plan.has_router else ())]
    level = max((level for level, _, _ in found), key=LEVELS.index, default="restricted")
    who: dict[str, list[str]] = {}
    for need, name, reason in found:
        if need == level:
            who.setdefault(reason, []).append(name)
    return PodSecurity(level, tuple(f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in who.items()))


def _needs(role: RolePlan) -> Iterator[tuple[str, str, str]]:
    """Level, who needs it, and why."""
    pod, container = role.pod, role.container
    for volume in pod.volumes:
        if "hostPath" in volume:
            yield "privileged", role.name, f"volume {volume['name']} is the node's {volume['hostPath']['path']}"
    for name, is_set in (("network", pod.host_network), ("IPC", pod.host_ipc), ("PID", pod.host_pid)):
        if is_set:
            yield "privileged", role.name, f"uses the node's {name} namespace"
    context = container.security_context
    if context.get("privileged"):
        yield "privileged", role.name, "runs privileged"
    for capability in context.get("capabilities", {}).get("add", []):
        if capability not in BASELINE_CAPABILITIES:
            yield (
                "privileged",
                role.name,
                f"{capability}, because {role.openings.get(capability, 'a user asks for it')}",
            )
    yield from _root(role.name, context)


def _router_needs(plan: Plan) -> Iterator[tuple[str, str, str]]:
    yield from _root("router", plan.router.security_context)


def _root(name: str, context: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    if not context.get("runAsNonRoot"):
        yield "baseline", name, "the image may run as root"
