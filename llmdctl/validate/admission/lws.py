"""LeaderWorkerSet: what its webhook refuses, and pod templates that make its pods fail.

Source of the facts: sigs.k8s.io/lws pkg/webhooks/leaderworkerset_webhook.go.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, number, objects, struct, text
from llmdctl.validate.admission.names import dns_1035_label
from llmdctl.validate.admission.pod import check_pod_spec
from llmdctl.validate.admission.violation import Out
from llmdctl.validate.admission.workloads import NEGATIVE, check_int_or_percent

CODE = "ADM020"

MAX_REPLICAS = 1_000_000
MAX_PODS = 2**31 - 1
EXCLUSIVE_TOPOLOGY = "leaderworkerset.sigs.k8s.io/exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"


def check_leader_worker_set(obj: Object, out: Out) -> None:
    """A LeaderWorkerSet."""
    metadata = struct(obj, "metadata") or {}
    name = text(metadata, "name")
    if name:
        # A headless Service gets this name.
        out.each_invalid(("metadata", "name"), CODE, name, dns_1035_label(name))
    spec = struct(obj, "spec")
    if spec is None:
        return
    check_set_spec(spec, ("spec",), out)
    check_rollout(spec, ("spec",), out, partition=True)
    annotations = struct(metadata, "annotations") or {}
    template = struct(spec, "leaderWorkerTemplate") or {}
    if SUBGROUP_EXCLUSIVE_TOPOLOGY in annotations and child(template, "subGroupPolicy") is None:
        at = ("metadata", "annotations", SUBGROUP_EXCLUSIVE_TOPOLOGY)
        out.invalid(
            at,
            CODE,
            annotations[SUBGROUP_EXCLUSIVE_TOPOLOGY],
            "cannot have subgroup-exclusive-topology without subGroupSize set",
        )


def check_set_spec(spec: Object, path: Path, out: Out) -> None:
    """What a set needs wherever its spec stands: counts, subgroups, and pod templates that can run."""
    replicas = number(spec, "replicas")
    if replicas is not None and replicas < 0:
        out.invalid((*path, "replicas"), CODE, replicas, NEGATIVE)
    if replicas is not None and replicas > MAX_REPLICAS:
        out.invalid((*path, "replicas"), CODE, replicas, f"must be less than or equal to {MAX_REPLICAS}")
    template = struct(spec, "leaderWorkerTemplate")
    if template is None:
        return
    at = (*path, "leaderWorkerTemplate")
    size = number(template, "size")
    if size is not None and size < 1:
        out.invalid((*at, "size"), CODE, size, "size must be equal or greater than 1")
    if size is not None and replicas is not None and size * replicas > MAX_PODS:
        detail = f"the product of replicas and worker replicas must not exceed {MAX_PODS}"
        out.invalid((*path, "replicas"), CODE, replicas, detail)
    _check_subgroups(template, size if size is not None else 1, at, out)
    claims = [
        text(child(item, "metadata") or {}, "name") or "" for _, item in objects(template, "volumeClaimTemplates")
    ]
    for key in ("leaderTemplate", "workerTemplate"):
        pod = struct(child(template, key) or {}, "spec")
        if pod and child(template, key) is not None:
            late = out.failing_later(by_schema=True)
            check_pod_spec(pod, (*at, key, "spec"), late, claim_templates=claims)


def check_rollout(spec: Object, path: Path, out: Out, *, partition: bool) -> None:
    """maxSurge and maxUnavailable; not both zero when there are replicas."""
    rolling = child(struct(spec, "rolloutStrategy") or {}, "rollingUpdateConfiguration")
    if rolling is None:
        return
    at = (*path, "rolloutStrategy", "rollingUpdateConfiguration")
    down = check_int_or_percent(rolling.get("maxUnavailable"), (*at, "maxUnavailable"), out, CODE, ceiling=100)
    surge = check_int_or_percent(rolling.get("maxSurge"), (*at, "maxSurge"), out, CODE, ceiling=100)
    start = number(rolling, "partition")
    if partition and start is not None and start < 0:
        out.invalid((*at, "partition"), CODE, start, NEGATIVE)
    replicas = number(spec, "replicas")
    replicas = 1 if replicas is None else replicas
    if replicas and down is not None and surge is not None:
        percent_down = isinstance(rolling.get("maxUnavailable"), str)
        percent_up = isinstance(rolling.get("maxSurge"), str)
        scaled_down = replicas * down // 100 if percent_down else down
        scaled_up = -(-replicas * surge // 100) if percent_up else surge
        if scaled_down == 0 and scaled_up == 0:
            detail = "must not be 0 when `maxSurge` is 0"
            out.invalid((*at, "maxUnavailable"), CODE, rolling.get("maxUnavailable"), detail)


def _check_subgroups(template: Object, size: int, path: Path, out: Out) -> None:
    policy = child(template, "subGroupPolicy")
    if policy is None:
        return
    at = (*path, "subGroupPolicy", "subGroupSize")
    amount = number(policy, "subGroupSize")
    if amount is None:
        if policy.get("subGroupSize") is None:
            out.required(at, CODE, "the webhook fails on a policy without it")
        return
    if amount < 1:
        out.invalid(at, CODE, amount, "subGroupSize must be equal or greater than 1")
        return
    if size < amount:
        out.invalid(at, CODE, amount, "subGroupSize cannot be larger than size")
    elif size % amount and (size - 1) % amount:
        out.invalid(at, CODE, amount, "size or size - 1 must be divisible by subGroupSize")
    if text(policy, "subGroupPolicyType") == "LeaderExcluded" and (size - 1) % amount:
        out.invalid(at, CODE, amount, "size - 1 must be divisible by subGroupSize when the leader is excluded")
