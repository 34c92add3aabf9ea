"""HorizontalPodAutoscaler v2.

Source of the facts: k8s.io/kubernetes pkg/apis/autoscaling/validation/validation.go.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, is_missing, number, objects, struct, text
from llmdctl.validate.admission.metadata import check_selector
from llmdctl.validate.admission.names import path_segment
from llmdctl.validate.admission.quantities import check_quantity
from llmdctl.validate.admission.violation import Out

CODE = "ADM018"

_SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_TARGETS = ("AverageValue", "Utilization", "Value")
_HOUR = 3600
_PERIOD_MAX = 1800


def check_autoscaler(obj: Object, out: Out) -> None:
    """A HorizontalPodAutoscaler of autoscaling/v2."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    low = 1 if spec.get("minReplicas") is None else number(spec, "minReplicas")
    high = 0 if spec.get("maxReplicas") is None else number(spec, "maxReplicas")
    if low is not None and low < 1:
        out.invalid(("spec", "minReplicas"), CODE, low, "must be greater than or equal to 1")
    if high is not None:
        if high < 1:
            out.required(("spec", "maxReplicas"), CODE, "must be set and greater than 0")
        if low is not None and high < low:
            out.invalid(("spec", "maxReplicas"), CODE, high, "must be greater than or equal to `minReplicas`")
    _check_target_ref(spec, out)
    for index, metric in objects(spec, "metrics"):
        _check_metric(metric, ("spec", "metrics", index), out)
    behavior = child(spec, "behavior")
    for key in ("scaleUp", "scaleDown"):
        rules = child(behavior, key) if behavior else None
        if rules is not None:
            _check_scaling_rules(rules, ("spec", "behavior", key), out)


def _check_target_ref(spec: Object, out: Out) -> None:
    ref = struct(spec, "scaleTargetRef")
    if ref is None:
        return
    path: Path = ("spec", "scaleTargetRef")
    for key in ("kind", "name"):
        value = text(ref, key)
        if value == "":
            out.required((*path, key), CODE)
        elif value is not None:
            out.each_invalid((*path, key), CODE, value, path_segment(value))
    version = text(ref, "apiVersion")
    # Only ReplicationController has a group without a name.
    is_core = version == "v1" and text(ref, "kind") == "ReplicationController"
    if version is not None and "/" not in version and not is_core:
        out.invalid((*path, "apiVersion"), CODE, version, "apiVersion must specify API group")


def _check_metric(metric: Object, path: Path, out: Out) -> None:
    kind = text(metric, "type")
    if kind is None:
        return
    if kind == "":
        out.required((*path, "type"), CODE, "must specify a metric source type")
    if kind not in _SOURCES:
        out.unsupported((*path, "type"), CODE, kind, _SOURCES)
        return
    expected = _SOURCES[kind]
    for key in _SOURCES.values():
        if key != expected and metric.get(key) is not None:
            detail = "must populate the given metric source only"
            out.forbidden((*path, key), CODE, detail)
    source = child(metric, expected)
    if source is not None:
        _check_source(source, kind, (*path, expected), out)
    elif metric.get(expected) is None:
        out.required((*path, expected), CODE, "must populate information for the given metric source")


def _check_source(source: Object, kind: str, path: Path, out: Out) -> None:
    if kind in ("Resource", "ContainerResource"):
        for key in ("name", "container")[: 1 if kind == "Resource" else 2]:
            if text(source, key) == "":
                out.required((*path, key), CODE, f"must specify a {'resource name' if key == 'name' else 'container'}")
    else:
        _check_metric_name(source, path, out)
    if kind == "Object":
        described = struct(source, "describedObject") or {}
        for key in ("kind", "name"):
            if text(described, key) == "":
                out.required((*path, "describedObject", key), CODE)
    target = struct(source, "target")
    if target is not None:
        _check_target(target, kind, (*path, "target"), out)


def _check_metric_name(source: Object, path: Path, out: Out) -> None:
    metric = struct(source, "metric")
    if metric is None:
        return
    name = text(metric, "name")
    if name == "":
        out.required((*path, "metric", "name"), CODE, "must specify a metric name")
    elif name is not None:
        out.each_invalid((*path, "metric", "name"), CODE, name, path_segment(name))
    selector = child(metric, "selector")
    if selector:
        check_selector(selector, (*path, "metric", "selector"), out, values_checked=False)


def _check_target(target: Object, kind: str, path: Path, out: Out) -> None:
    chosen = text(target, "type")
    if chosen == "":
        out.required((*path, "type"), CODE, "must specify a metric target type")
    if chosen is not None and chosen not in _TARGETS:
        out.invalid((*path, "type"), CODE, chosen, "must be either Utilization, Value, or AverageValue")
    for key in ("value", "averageValue"):
        amount = check_quantity(target.get(key), (*path, key), out)
        if amount is not None and amount <= 0:
            out.invalid((*path, key), CODE, target[key], "must be positive")
    utilization = number(target, "averageUtilization")
    if utilization is not None and utilization < 1:
        out.invalid((*path, "averageUtilization"), CODE, utilization, "must be greater than 0")
    _check_target_choice(target, kind, path, out)


def _check_target_choice(target: Object, kind: str, path: Path, out: Out) -> None:
    value, average = target.get("value") is not None, target.get("averageValue") is not None
    utilization = target.get("averageUtilization") is not None
    if kind == "Pods":
        if not average:
            out.required((*path, "averageValue"), CODE, "must specify a positive target averageValue")
    elif kind in ("Resource", "ContainerResource"):
        if not utilization and not average:
            detail = "must set either a target raw value or a target utilization"
            out.required((*path, "averageUtilization"), CODE, detail)
        if utilization and average:
            detail = "may not set both a target raw value and a target utilization"
            out.forbidden((*path, "averageValue"), CODE, detail)
    elif not value and not average:
        detail = "must set either a target value for metric or a per-pod target"
        out.required((*path, "averageValue"), CODE, detail)
    elif value and average and kind == "External":
        detail = "may not set both a target value for metric and a per-pod target"
        out.forbidden((*path, "value"), CODE, detail)


def _check_scaling_rules(rules: Object, path: Path, out: Out) -> None:
    window = number(rules, "stabilizationWindowSeconds")
    at = (*path, "stabilizationWindowSeconds")
    if window is not None and window < 0:
        out.invalid(at, CODE, window, "must be greater than or equal to zero")
    elif window is not None and window > _HOUR:
        out.invalid(at, CODE, window, f"must be less than or equal to {_HOUR}")
    select = rules.get("selectPolicy")
    if isinstance(select, str) and select not in ("Disabled", "Max", "Min"):
        out.unsupported((*path, "selectPolicy"), CODE, select, ("Disabled", "Max", "Min"))
    if is_missing(rules, "policies") and "policies" in rules and rules["policies"] is not None:
        out.required((*path, "policies"), CODE, "must specify at least one Policy")
    for index, policy in objects(rules, "policies"):
        _check_policy(policy, (*path, "policies", index), out)
    check_quantity(rules.get("tolerance"), (*path, "tolerance"), out)


def _check_policy(policy: Object, path: Path, out: Out) -> None:
    kind = text(policy, "type")
    if kind is not None and kind not in ("Percent", "Pods"):
        out.unsupported((*path, "type"), CODE, kind, ("Percent", "Pods"))
    value = 0 if policy.get("value") is None else number(policy, "value")
    if value is not None and value <= 0:
        out.invalid((*path, "value"), CODE, value, "must be greater than zero")
    period = 0 if policy.get("periodSeconds") is None else number(policy, "periodSeconds")
    if period is not None and period <= 0:
        out.invalid((*path, "periodSeconds"), CODE, period, "must be greater than zero")
    elif period is not None and period > _PERIOD_MAX:
        out.invalid((*path, "periodSeconds"), CODE, period, f"must be less than or equal to {_PERIOD_MAX}")
