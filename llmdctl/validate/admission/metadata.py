"""Object metadata, labels, annotations and label selectors.

Source of the facts: k8s.io/apimachinery pkg/api/validation/objectmeta.go and pkg/apis/meta/v1/validation.
"""

from __future__ import annotations

from collections.abc import Callable

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, objects, pairs, strings, text, values
from llmdctl.validate.admission.names import (
    Reasons,
    dns_1035_label,
    dns_label,
    dns_subdomain,
    label_value,
    path_segment,
    qualified_name,
)
from llmdctl.validate.admission.violation import Out

NAME = "ADM002"
SYNTAX = "ADM003"
SCOPE = "ADM027"

ANNOTATIONS_LIMIT = 256 * 1024
"""Bytes of all keys and values together."""

_RBAC = "rbac.authorization.k8s.io"
_NAME_RULES: dict[tuple[str, str], Callable[[str], Reasons]] = {
    ("", "Namespace"): dns_label,
    ("apps", "StatefulSet"): dns_label,
    ("", "Service"): dns_1035_label,
    (_RBAC, "Role"): path_segment,
    (_RBAC, "ClusterRole"): path_segment,
    (_RBAC, "RoleBinding"): path_segment,
    # Only the check of all kinds, that a name fits into a path.
    ("policy", "PodDisruptionBudget"): path_segment,
    (_RBAC, "ClusterRoleBinding"): path_segment,
}
CRON_JOB_NAME = 52
"""A CronJob adds eleven characters to its name for each Job, and a Job's name may have 63."""


def check_metadata(obj: Object, group: str, kind: str, namespaced: bool | None, out: Out) -> None:
    """`metadata` of any kind."""
    metadata = obj.get("metadata")
    if metadata is None:
        metadata = {}
    if not isinstance(metadata, dict):
        return
    _check_name(metadata, group, kind, out)
    namespace = text(metadata, "namespace")
    if namespace:
        if namespaced is False:
            out.forbidden(("metadata", "namespace"), SCOPE, "not allowed on this type")
        else:
            out.each_invalid(("metadata", "namespace"), NAME, namespace, dns_label(namespace))
    check_labels(metadata, "labels", ("metadata", "labels"), out)
    check_annotations(metadata, ("metadata", "annotations"), out)
    _check_owners(metadata, out)


def _check_name(metadata: Object, group: str, kind: str, out: Out) -> None:
    rule = _NAME_RULES.get((group, kind), dns_subdomain)
    if kind == "Service" and group == "" and out.minor >= 36:
        rule = _relaxed_service_name
    prefix = text(metadata, "generateName")
    if prefix:
        reasons = rule(prefix[:-1] + "a" if prefix.endswith("-") else prefix)
        out.each_invalid(("metadata", "generateName"), NAME, prefix, reasons)
    name = text(metadata, "name")
    path = ("metadata", "name")
    if name:
        out.each_invalid(path, NAME, name, rule(name))
        if kind == "CronJob" and group == "batch" and len(name) > CRON_JOB_NAME:
            out.invalid(path, NAME, name, f"must be no more than {CRON_JOB_NAME} characters")
    elif name == "" and not prefix and metadata.get("generateName") is None and kind != "LimitRange":
        out.required(path, NAME, "name or generateName is required")


def _relaxed_service_name(name: str) -> Reasons:
    """A leading digit needs the gate RelaxedServiceNameValidation, whose default is not known from 1.36 on."""
    return dns_label(name)


def _check_owners(metadata: Object, out: Out) -> None:
    for index, owner in objects(metadata, "ownerReferences"):
        for key in ("apiVersion", "kind", "name", "uid"):
            if text(owner, key) == "":
                out.invalid(("metadata", "ownerReferences", index, key), SYNTAX, "", "must not be empty")


def check_labels(
    holder: Object, key: str, path: Path, out: Out, code: str = SYNTAX, *, values_checked: bool = True
) -> None:
    """The string map `holder[key]` as labels: keys and values. `path` is the map's own path."""
    if not holder.get(key):
        return
    for name, value in pairs(holder, key):
        for reason in qualified_name(name):
            out.invalid(path, code, name, reason)
        for reason in label_value(value) if values_checked else ():
            out.invalid(path, code, value, reason)


def check_annotations(holder: Object, path: Path, out: Out) -> None:
    """`holder.annotations`: keys as for labels, compared in lower case, and the size of all of them."""
    if not holder.get("annotations"):
        return
    size = 0
    for name, value in pairs(holder, "annotations"):
        for reason in qualified_name(name.lower()):
            out.invalid(path, SYNTAX, name, reason)
        size += len(name.encode()) + len(value.encode())
    if size > ANNOTATIONS_LIMIT:
        out.too_long(path, SYNTAX, ANNOTATIONS_LIMIT)


def check_selector(selector: Object, path: Path, out: Out, code: str = SYNTAX, *, values_checked: bool = True) -> None:
    """A LabelSelector. Without `values_checked` its values need not be label values, as for the labels of metrics."""
    check_labels(selector, "matchLabels", (*path, "matchLabels"), out, code, values_checked=values_checked)
    for index, item in objects(selector, "matchExpressions"):
        at = (*path, "matchExpressions", index)
        operator = text(item, "operator")
        key = text(item, "key")
        listed = values(item, "values")
        if operator in ("In", "NotIn"):
            if not listed and not item.get("values"):
                out.required((*at, "values"), code, "must be specified when `operator` is 'In' or 'NotIn'")
        elif operator in ("Exists", "DoesNotExist"):
            if listed:
                out.forbidden(
                    (*at, "values"), code, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                )
        elif operator is not None:
            out.invalid((*at, "operator"), code, operator, "not a valid selector operator")
        if key is not None:
            out.each_invalid((*at, "key"), code, key, qualified_name(key))
        for position, value in strings(item, "values") if values_checked else ():
            out.each_invalid((*at, "values", position), code, value, label_value(value))


def is_empty_selector(selector: Object) -> bool:
    """True when the selector selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def selects(selector: Object, labels: Object) -> bool:
    """True when the selector selects an object with these labels; expressions that are not understood select all."""
    for key, value in pairs(selector, "matchLabels"):
        if labels.get(key) != value:
            return False
    return all(_expression_selects(item, labels) for _, item in objects(selector, "matchExpressions"))


def _expression_selects(item: Object, labels: Object) -> bool:
    key, operator = text(item, "key"), text(item, "operator")
    if not key:
        return True
    if operator == "In":
        return labels.get(key) in values(item, "values")
    if operator == "NotIn":
        return key not in labels or labels[key] not in values(item, "values")
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    return True


def labels_of(holder: Object | None) -> Object:
    """The labels of an object or template; empty when there are none."""
    metadata = child(holder, "metadata") if holder else None
    return (child(metadata, "labels") or {}) if metadata else {}
