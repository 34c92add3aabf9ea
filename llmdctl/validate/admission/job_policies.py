"""The failure and success policies of a Job.

Source of the facts: k8s.io/kubernetes pkg/apis/batch/validation/validation.go (validatePodFailurePolicy,
validateSuccessPolicy), v1.36.3.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, is_missing, objects, struct, text, values
from llmdctl.validate.admission.names import qualified_name
from llmdctl.validate.admission.violation import Out

CODE = "ADM026"

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUS = ("False", "True", "Unknown")
_MAX_RULES, _MAX_CONDITIONS, _MAX_VALUES = 20, 20, 255


def check_failure_policy(spec: Object, path: Path, out: Out) -> None:
    """`podFailurePolicy` of a Job's spec."""
    policy = child(spec, "podFailurePolicy")
    if policy is None:
        return
    at = (*path, "podFailurePolicy", "rules")
    rules = values(policy, "rules")
    if len(rules) > _MAX_RULES:
        out.too_many(at, CODE, len(rules), _MAX_RULES)
    pod = struct(struct(spec, "template") or {}, "spec") or {}
    containers = {text(item, "name") for key in ("containers", "initContainers") for _, item in objects(pod, key)}
    for index, rule in objects(policy, "rules"):
        _check_rule(rule, (*at, index), spec, containers, out)


def _check_rule(rule: Object, path: Path, spec: Object, containers: set[str | None], out: Out) -> None:
    action = text(rule, "action")
    if action == "":
        out.required((*path, "action"), CODE, f"valid values: {', '.join(_ACTIONS)}")
    elif action == "FailIndex":
        if spec.get("backoffLimitPerIndex") is None:
            out.invalid((*path, "action"), CODE, action, "requires the backoffLimitPerIndex to be set")
    elif action is not None and action not in _ACTIONS:
        out.unsupported((*path, "action"), CODE, action, _ACTIONS)
    codes = child(rule, "onExitCodes")
    has_codes, has_conditions = rule.get("onExitCodes") is not None, not is_missing(rule, "onPodConditions")
    if has_codes and has_conditions:
        out.invalid(path, CODE, "", "specifying both OnExitCodes and OnPodConditions is not supported")
    elif not has_codes and not has_conditions:
        out.invalid(path, CODE, "", "specifying one of OnExitCodes and OnPodConditions is required")
    if codes is not None:
        _check_exit_codes(codes, (*path, "onExitCodes"), containers, out)
    _check_conditions(rule, path, out)


def _check_exit_codes(codes: Object, path: Path, containers: set[str | None], out: Out) -> None:
    operator = text(codes, "operator")
    if operator == "":
        out.required((*path, "operator"), CODE, f"valid values: {', '.join(_OPERATORS)}")
    elif operator is not None and operator not in _OPERATORS:
        out.unsupported((*path, "operator"), CODE, operator, _OPERATORS)
    name = codes.get("containerName")
    if isinstance(name, str) and name not in containers:
        detail = "must be one of the container or initContainer names in the pod template"
        out.invalid((*path, "containerName"), CODE, name, detail)
    if is_missing(codes, "values"):
        out.invalid((*path, "values"), CODE, [], "at least one value is required")
    numbers = [0 if item is None else item for item in values(codes, "values") if item is None or type(item) is int]
    if len(numbers) > _MAX_VALUES:
        out.too_many((*path, "values"), CODE, len(numbers), _MAX_VALUES)
    seen: set[int] = set()
    for index, value in enumerate(numbers):
        if operator == "In" and value == 0:
            out.invalid((*path, "values", index), CODE, value, "must not be 0 for the In operator")
        if value in seen:
            out.duplicate((*path, "values", index), CODE, value)
        seen.add(value)
    if numbers != sorted(numbers):
        out.invalid((*path, "values"), CODE, numbers, "must be ordered")


def _check_conditions(rule: Object, path: Path, out: Out) -> None:
    count = len(values(rule, "onPodConditions"))
    if count > _MAX_CONDITIONS:
        out.too_many((*path, "onPodConditions"), CODE, count, _MAX_CONDITIONS)
    for index, pattern in objects(rule, "onPodConditions"):
        at = (*path, "onPodConditions", index)
        kind, status = text(pattern, "type"), text(pattern, "status")
        if kind is not None:
            out.each_invalid((*at, "type"), CODE, kind, qualified_name(kind))
        # An absent status is taken for True.
        if status and status not in _STATUS:
            out.unsupported((*at, "status"), CODE, status, _STATUS)


def check_success_policy(spec: Object, path: Path, out: Out) -> None:
    """`successPolicy` of a Job's spec; the syntax of its index ranges is left to the server."""
    policy = child(spec, "successPolicy")
    if policy is None:
        return
    if text(spec, "completionMode") != "Indexed":
        out.invalid((*path, "successPolicy"), CODE, "", "requires indexed completion mode")
        return
    at = (*path, "successPolicy", "rules")
    if is_missing(policy, "rules"):
        out.required(at, CODE, "at least one rules must be specified when the successPolicy is specified")
    rules = values(policy, "rules")
    if len(rules) > _MAX_RULES:
        out.too_many(at, CODE, len(rules), _MAX_RULES)
    for index, rule in objects(policy, "rules"):
        if rule.get("succeededCount") is None and rule.get("succeededIndexes") is None:
            detail = "at least one of succeededCount or succeededIndexes must be specified"
            out.required((*at, index), CODE, detail)
