"""DisaggregatedSet: what its webhook refuses, and what makes its child sets fail.

Source of the facts: sigs.k8s.io/lws pkg/webhooks/disaggregatedset_webhook.go.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, number, objects, struct, text
from llmdctl.validate.admission.lws import (
    EXCLUSIVE_TOPOLOGY,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    check_rollout,
    check_set_spec,
)
from llmdctl.validate.admission.violation import Out

CODE = "ADM021"

NAME_LIMIT = 63
REVISION_LENGTH = 8
SERVICE_SUFFIX = 4
"""Length of `-prv`, the end of a role's headless Service."""


def check_disaggregated_set(obj: Object, out: Out) -> None:
    """A DisaggregatedSet."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    name = text(struct(obj, "metadata") or {}, "name") or ""
    slices = number(spec, "slices")
    slices = 1 if slices is None else slices
    placement = _check_placement(spec, out)
    for index, role in objects(spec, "roles"):
        at: Path = ("spec", "roles", index)
        _check_role(role, at, out)
        _check_role_name(name, role, slices, at, out)
        mode = text(struct(role, "scaling") or {}, "mode")
        if mode == "External" and slices > 1:
            out.forbidden((*at, "scaling", "mode"), CODE, "External scaling needs slices to be 1")
        if placement:
            _check_no_exclusive_topology(role, at, out)


def _check_role(role: Object, path: Path, out: Out) -> None:
    spec = struct(role, "spec")
    if not spec:
        return
    at = (*path, "spec")
    strategy = struct(spec, "rolloutStrategy") or {}
    kind = text(strategy, "type")
    if kind not in ("", "RollingUpdate", None):
        out.unsupported((*at, "rolloutStrategy", "type"), CODE, kind, ("RollingUpdate",))
    rolling = child(strategy, "rollingUpdateConfiguration") or {}
    if number(rolling, "partition"):
        where = (*at, "rolloutStrategy", "rollingUpdateConfiguration", "partition")
        out.invalid(where, CODE, rolling["partition"], "partition is not supported")
    replicas = number(spec, "replicas")
    if replicas is None or replicas > 0:
        check_rollout(spec, at, out, partition=False)
    # The set's own webhook judges no more than this; the child set's does, when it is made.
    check_set_spec(spec, at, out.failing_later(by_schema=True))


def _check_role_name(name: str, role: Object, slices: int, path: Path, out: Out) -> None:
    role_name = text(role, "name") or ""
    budget = NAME_LIMIT - 3 - len(str(max(slices - 1, 0))) - REVISION_LENGTH - SERVICE_SUFFIX
    if name and role_name and len(name) + len(role_name) > budget:
        detail = f"set name and role name together may have {budget} characters, or generated names are too long"
        out.invalid((*path, "name"), CODE, role_name, detail)


def _check_placement(spec: Object, out: Out) -> bool:
    policy = child(spec, "placementPolicy") or {}
    kind = text(policy, "type")
    if kind in ("", "None", None):
        return False
    if not text(policy, "topology"):
        out.required(("spec", "placementPolicy", "topology"), CODE, f"needed for placement {kind}")
    return True


def _check_no_exclusive_topology(role: Object, path: Path, out: Out) -> None:
    template = struct(struct(role, "spec") or {}, "leaderWorkerTemplate") or {}
    holders: list[tuple[Path, Object]] = [((*path, "metadata", "annotations"), struct(role, "metadata") or {})]
    for key in ("leaderTemplate", "workerTemplate"):
        at = (*path, "spec", "leaderWorkerTemplate", key, "metadata", "annotations")
        holders.append((at, struct(child(template, key) or {}, "metadata") or {}))
    for at, holder in holders:
        annotations = struct(holder, "annotations") or {}
        for key in (EXCLUSIVE_TOPOLOGY, SUBGROUP_EXCLUSIVE_TOPOLOGY):
            if key in annotations:
                out.forbidden((*at, key), CODE, "placementPolicy places the pods already")
