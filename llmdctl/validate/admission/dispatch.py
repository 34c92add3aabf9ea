"""Which check judges which kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmdctl.findings import Edit, Finding, ObjectRef, Op, Place
from llmdctl.manifest.document import Document
from llmdctl.validate.admission.access import Object
from llmdctl.validate.admission.autoscaling import check_autoscaler
from llmdctl.validate.admission.claims import check_claim
from llmdctl.validate.admission.classes import check_lease, check_priority_class, check_storage_class
from llmdctl.validate.admission.config import check_config_map, check_secret
from llmdctl.validate.admission.disaggregated import check_disaggregated_set
from llmdctl.validate.admission.dra import check_claim_template, check_device_class, check_resource_claim
from llmdctl.validate.admission.ingress import check_ingress
from llmdctl.validate.admission.jobs import check_cron_job, check_job
from llmdctl.validate.admission.lws import check_leader_worker_set
from llmdctl.validate.admission.metadata import check_metadata
from llmdctl.validate.admission.pod import check_pod
from llmdctl.validate.admission.policy import check_budget, check_network_policy
from llmdctl.validate.admission.quotas import check_limit_range, check_resource_quota
from llmdctl.validate.admission.rbac import (
    check_cluster_role,
    check_cluster_role_binding,
    check_role,
    check_role_binding,
)
from llmdctl.validate.admission.rules import RULES_BY_CODE
from llmdctl.validate.admission.services import check_service
from llmdctl.validate.admission.violation import Out, Violation
from llmdctl.validate.admission.workloads import (
    UNMATCHED,
    check_daemon_set,
    check_deployment,
    check_replica_set,
    check_stateful_set,
)

Check = Callable[[Object, Out], None]

FAILS_LATER = "(the server accepts it, and the pods then fail)"
"""Ends the title of a finding that the server itself would not make."""

_RBAC = "rbac.authorization.k8s.io"
_CHECKS: Mapping[tuple[str, str], Check] = {
    ("", "Pod"): check_pod,
    ("", "Service"): check_service,
    ("", "ConfigMap"): check_config_map,
    ("", "Secret"): check_secret,
    ("", "PersistentVolumeClaim"): check_claim,
    ("", "LimitRange"): check_limit_range,
    ("", "ResourceQuota"): check_resource_quota,
    ("apps", "Deployment"): check_deployment,
    ("apps", "ReplicaSet"): check_replica_set,
    ("apps", "DaemonSet"): check_daemon_set,
    ("apps", "StatefulSet"): check_stateful_set,
    ("batch", "Job"): check_job,
    ("batch", "CronJob"): check_cron_job,
    ("autoscaling", "HorizontalPodAutoscaler"): check_autoscaler,
    ("policy", "PodDisruptionBudget"): check_budget,
    ("networking.k8s.io", "NetworkPolicy"): check_network_policy,
    ("networking.k8s.io", "Ingress"): check_ingress,
    ("storage.k8s.io", "StorageClass"): check_storage_class,
    ("scheduling.k8s.io", "PriorityClass"): check_priority_class,
    ("coordination.k8s.io", "Lease"): check_lease,
    (_RBAC, "Role"): check_role,
    (_RBAC, "ClusterRole"): check_cluster_role,
    (_RBAC, "RoleBinding"): check_role_binding,
    (_RBAC, "ClusterRoleBinding"): check_cluster_role_binding,
    ("resource.k8s.io", "ResourceClaim"): check_resource_claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): check_claim_template,
    ("resource.k8s.io", "DeviceClass"): check_device_class,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): check_leader_worker_set,
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): check_disaggregated_set,
}

# Before v1beta2 a device request had its fields directly; these checks know the newer shape.
_OTHER_SHAPE = frozenset({"resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3"})


def check_admission(obj: Any, *, minor: str, namespaced: bool | None) -> list[Violation]:
    """What the API server of this minor ("1.36") refuses although the schema allows it.

    `namespaced` is the scope of the kind, None when it is not known. Values of a wrong type are not looked at.
    """
    if not isinstance(obj, dict):
        return []
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return []
    group = api_version.rpartition("/")[0]
    out = Out(int(minor.partition(".")[2]))
    check_metadata(obj, group, kind, namespaced, out)
    check = _CHECKS.get((group, kind))
    if check is not None and api_version not in _OTHER_SHAPE:
        check(obj, out)
    return out.items


def admission_findings(
    document: Document, obj: Any, *, minor: str, namespaced: bool | None
) -> list[tuple[Finding, Place]]:
    """The same as findings with their places. `obj` is the document's object, defaulted or not."""
    violations = check_admission(obj, minor=minor, namespaced=namespaced)
    if not violations:
        return []
    ref = document.ref
    return [_finding(document, ref, violation) for violation in violations]


def _finding(document: Document, ref: ObjectRef, violation: Violation) -> tuple[Finding, Place]:
    rule = RULES_BY_CODE[violation.code]
    place = document.place(*violation.path)
    later = f" {FAILS_LATER}" if violation.later else ""
    finding = Finding(
        code=rule.code,
        severity=rule.severity,
        title=f"{violation.field}: {violation.message}{later}",
        object=ref,
        pointer=violation.field,
        source=document.source,
        why=rule.why,
        fix=rule.fix,
        references=rule.references,
        edits=_edits(document, place, violation),
    )
    return finding, place


def _edits(document: Document, place: Place, violation: Violation) -> tuple[Edit, ...]:
    if violation.code == "ADM027":
        return (Edit(Op.REMOVE, place),)
    if violation.meant:
        return (Edit(Op.REPLACE, place, violation.meant, violation.given),)
    if not violation.message.endswith(UNMATCHED):
        return ()
    from llmdctl.validate.mending import edits_for_labels

    return edits_for_labels(document, violation.path)
