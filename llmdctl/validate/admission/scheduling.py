"""Where a pod may run: tolerations, affinity, spread.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidateTolerations, validateAffinity,
validateTopologySpreadConstraints) and k8s.io/component-helpers scheduling/corev1/nodeaffinity.
"""

from __future__ import annotations

import re

from llmdctl.findings import Path
from llmdctl.validate.admission.access import (
    EMPTY,
    Object,
    child,
    is_missing,
    number,
    objects,
    strings,
    struct,
    text,
    values,
)
from llmdctl.validate.admission.metadata import check_labels, check_selector
from llmdctl.validate.admission.names import dns_label, label_value, qualified_name
from llmdctl.validate.admission.violation import Out

CODE = "ADM012"

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


def check_scheduling(spec: Object, path: Path, out: Out) -> None:
    """Everything in a pod spec that bears on the choice of a node."""
    if spec.get("nodeSelector"):
        check_labels(spec, "nodeSelector", (*path, "nodeSelector"), out, CODE)
    if spec.get("tolerations"):
        for index, toleration in objects(spec, "tolerations"):
            check_toleration(toleration, (*path, "tolerations", index), out)
    affinity = child(spec, "affinity")
    if affinity:
        _check_affinity(affinity, (*path, "affinity"), out)
    if spec.get("topologySpreadConstraints"):
        _check_spread(spec, path, out)


def check_toleration(toleration: Object, path: Path, out: Out) -> None:
    """One toleration of a pod."""
    key, operator = text(toleration, "key"), text(toleration, "operator")
    effect, value = text(toleration, "effect"), text(toleration, "value")
    if key:
        out.each_invalid((*path, "key"), CODE, key, qualified_name(key))
    elif key == "" and operator is not None and operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        out.invalid((*path, "operator"), CODE, operator, detail)
    if toleration.get("tolerationSeconds") is not None and effect is not None and effect != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        out.invalid((*path, "effect"), CODE, effect, detail)
    if operator in ("", "Equal"):
        if value:
            out.each_invalid((*path, "operator"), CODE, value, label_value(value))
    elif operator == "Exists":
        if value:
            out.invalid((*path, "operator"), CODE, operator, "value must be empty when `operator` is 'Exists'")
    elif operator is not None and not (operator in ("Lt", "Gt") and out.minor >= 35):
        out.unsupported((*path, "operator"), CODE, operator, ("Equal", "Exists"))
    if effect and effect not in _EFFECTS:
        out.unsupported((*path, "effect"), CODE, effect, _EFFECTS)


def _check_affinity(affinity: Object, path: Path, out: Out) -> None:
    node = child(affinity, "nodeAffinity")
    if node:
        _check_node_affinity(node, (*path, "nodeAffinity"), out)
    for key in ("podAffinity", "podAntiAffinity"):
        terms = child(affinity, key)
        if terms:
            _check_pod_affinity(terms, (*path, key), out)


def _check_node_affinity(affinity: Object, path: Path, out: Out) -> None:
    required = child(affinity, _REQUIRED)
    if required is not None:
        at = (*path, _REQUIRED, "nodeSelectorTerms")
        if is_missing(required, "nodeSelectorTerms"):
            out.required(at, CODE, "must have at least one node selector term")
        for index, term in objects(required, "nodeSelectorTerms"):
            check_node_term(term, (*at, index), out)
    for index, item in objects(affinity, _PREFERRED):
        at = (*path, _PREFERRED, index)
        _check_weight(item, at, out)
        preference = struct(item, "preference")
        if preference is not None:
            check_node_term(preference, (*at, "preference"), out)


def check_node_term(term: Object, path: Path, out: Out) -> None:
    """A node selector term."""
    for index, item in objects(term, "matchExpressions"):
        _check_node_expression(item, (*path, "matchExpressions", index), out)
    for index, item in objects(term, "matchFields"):
        at = (*path, "matchFields", index)
        operator, key = text(item, "operator"), text(item, "key")
        if operator in ("In", "NotIn"):
            if isinstance(item.get("values"), list) and len(item["values"]) != 1:
                out.required((*at, "values"), CODE, "must be only one value when `operator` is 'In' or 'NotIn'")
        elif operator is not None:
            out.invalid((*at, "operator"), CODE, operator, "not a valid selector operator")
        if key is not None and key != "metadata.name":
            out.invalid((*at, "key"), CODE, key, "not a valid field selector key")


def _check_node_expression(item: Object, path: Path, out: Out) -> None:
    operator, key = text(item, "operator"), text(item, "key")
    listed = values(item, "values")
    if operator in ("In", "NotIn"):
        if is_missing(item, "values"):
            out.required((*path, "values"), CODE, "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if listed:
            out.forbidden((*path, "values"), CODE, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in ("Gt", "Lt"):
        if len(listed) != 1:
            out.required((*path, "values"), CODE, "must be specified single value when `operator` is 'Lt' or 'Gt'")
        elif isinstance(listed[0], str) and not _INTEGER.fullmatch(listed[0]):
            # The server takes it; no node ever matches, so the pod stays pending.
            late = out.failing_later(by_schema=out.by_schema)
            late.invalid((*path, "values", 0), CODE, listed[0], "must be an integer for 'Lt' and 'Gt'")
    elif operator is not None:
        out.invalid((*path, "operator"), CODE, operator, "not a valid selector operator")
    if key is not None:
        out.each_invalid((*path, "key"), CODE, key, qualified_name(key))
    if operator in ("In", "NotIn"):
        for index, value in strings(item, "values"):
            out.each_invalid((*path, "values", index), CODE, value, label_value(value))


def _check_weight(item: Object, path: Path, out: Out) -> None:
    weight = 0 if item.get("weight") is None else number(item, "weight")
    if weight is not None and not 1 <= weight <= 100:
        out.invalid((*path, "weight"), CODE, weight, "must be in the range 1-100")


def _check_pod_affinity(affinity: Object, path: Path, out: Out) -> None:
    for index, term in objects(affinity, _REQUIRED):
        _check_pod_term(term, (*path, _REQUIRED, index), out)
    for index, item in objects(affinity, _PREFERRED):
        at = (*path, _PREFERRED, index)
        _check_weight(item, at, out)
        _check_pod_term(struct(item, "podAffinityTerm") or EMPTY, (*at, "podAffinityTerm"), out)


def _check_pod_term(term: Object, path: Path, out: Out) -> None:
    for key in ("labelSelector", "namespaceSelector"):
        selector = child(term, key)
        if selector:
            check_selector(selector, (*path, key), out)
    for index, namespace in strings(term, "namespaces"):
        out.each_invalid((*path, "namespaces", index), CODE, namespace, dns_label(namespace))
    topology = text(term, "topologyKey")
    if topology is None:
        return
    if topology == "":
        out.required((*path, "topologyKey"), CODE, "can not be empty")
    out.each_invalid((*path, "topologyKey"), CODE, topology, qualified_name(topology))


def _check_spread(spec: Object, path: Path, out: Out) -> None:
    seen: set[tuple[str | None, str | None]] = set()
    for index, item in objects(spec, "topologySpreadConstraints"):
        at = (*path, "topologySpreadConstraints", index)
        skew = 0 if item.get("maxSkew") is None else number(item, "maxSkew")
        if skew is not None and skew <= 0:
            out.invalid((*at, "maxSkew"), CODE, skew, "must be greater than zero")
        topology, action = text(item, "topologyKey"), text(item, "whenUnsatisfiable")
        if topology == "":
            out.required((*at, "topologyKey"), CODE, "can not be empty")
        elif topology:
            out.each_invalid((*at, "topologyKey"), CODE, topology, qualified_name(topology))
        if action is not None and action not in ("DoNotSchedule", "ScheduleAnyway"):
            out.unsupported((*at, "whenUnsatisfiable"), CODE, action, ("DoNotSchedule", "ScheduleAnyway"))
        if (topology, action) in seen:
            out.duplicate((*at, "{topologyKey, whenUnsatisfiable}"), CODE, f"{{{topology}, {action}}}")
        seen.add((topology, action))
        _check_spread_options(item, at, action, out)


def _check_spread_options(item: Object, path: Path, action: str | None, out: Out) -> None:
    domains = number(item, "minDomains")
    if domains is not None:
        if domains <= 0:
            out.invalid((*path, "minDomains"), CODE, domains, "must be greater than zero")
        if action != "DoNotSchedule":
            detail = "can only use minDomains if whenUnsatisfiable=DoNotSchedule"
            out.invalid((*path, "minDomains"), CODE, domains, detail)
    for key in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        policy = item.get(key)
        if isinstance(policy, str) and policy not in ("Honor", "Ignore"):
            out.unsupported((*path, key), CODE, policy, ("Honor", "Ignore"))
    selector = child(item, "labelSelector")
    if selector:
        check_selector(selector, (*path, "labelSelector"), out)
