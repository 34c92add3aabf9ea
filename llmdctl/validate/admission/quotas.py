"""LimitRange and ResourceQuota.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidateLimitRange,
ValidateResourceQuotaSpec) and pkg/apis/core/helper/helpers.go, v1.36.3.
"""

from __future__ import annotations

from collections.abc import Callable

from llmdctl.findings import MapKey, Path
from llmdctl.validate.admission.access import Object, child, is_missing, objects, strings, struct, text
from llmdctl.validate.admission.names import qualified_name
from llmdctl.validate.admission.quantities import NANO, check_quantity
from llmdctl.validate.admission.resources import STANDARD, is_counted, is_divisible, resource_name
from llmdctl.validate.admission.violation import Out

CODE = "ADM030"

_TYPES = frozenset({"Pod", "Container", "PersistentVolumeClaim"})
_SIDES = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_COMPUTE = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "pods"})
_SCOPES: dict[str, frozenset[str]] = {
    "Terminating": _COMPUTE,
    "NotTerminating": _COMPUTE,
    "NotBestEffort": _COMPUTE,
    "PriorityClass": _COMPUTE,
    "CrossNamespacePodAffinity": _COMPUTE,
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_CONFLICTS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))


def check_limit_range(obj: Object, out: Out) -> None:
    """A LimitRange."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    seen: set[str] = set()
    for index, limit in objects(spec, "limits"):
        path: Path = ("spec", "limits", index)
        kind = text(limit, "type")
        if kind is None:
            continue
        reasons = qualified_name(kind)
        out.each_invalid((*path, "type"), CODE, kind, reasons)
        if not reasons and "/" not in kind and kind not in _TYPES:
            out.invalid((*path, "type"), CODE, kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            out.duplicate((*path, "type"), CODE, kind)
        seen.add(kind)
        _check_limit(limit, kind, path, out)


def _check_limit(limit: Object, kind: str, path: Path, out: Out) -> None:
    naming = resource_name if kind in ("Pod", "Container") else _plain_name
    amounts: dict[str, dict[str, int]] = {}
    for side in _SIDES:
        if kind == "Pod" and side in ("default", "defaultRequest"):
            if not is_missing(limit, side):
                out.forbidden((*path, side), CODE, "may not be specified when `type` is 'Pod'")
            continue
        amounts[side] = _amounts(limit, side, naming, path, out)
    if kind == "PersistentVolumeClaim" and "storage" not in {**amounts["min"], **amounts["max"]}:
        detail = "either minimum or maximum storage value is required, but neither was provided"
        out.required((*path, "limits"), CODE, detail)
    for name in sorted({name for side in amounts.values() for name in side}):
        _compare(name, amounts, path, out)


def _plain_name(name: str) -> tuple[str, ...]:
    reasons = qualified_name(name)
    if reasons or "/" in name or name in STANDARD or name.startswith(("hugepages-", "requests.hugepages-")):
        return tuple(reasons)
    return ("must be a standard resource type or fully qualified",)


def _amounts(
    holder: Object, key: str, naming: Callable[[str], tuple[str, ...]], path: Path, out: Out
) -> dict[str, int]:
    """The quantities of a map, in billionths; names and quantities that are not allowed are reported."""
    found = {}
    for name, value in (child(holder, key) or {}).items():
        at = (*path, key, MapKey(name))
        out.each_invalid(at, CODE, name, naming(name))
        amount = 0 if value is None else check_quantity(value, at, out, code=CODE)
        if amount is not None:
            found[name] = amount
    return found


_ORDER = (
    ("min", "max", "min", "min value is greater than max value"),
    ("min", "defaultRequest", "defaultRequest", "min value is greater than default request value"),
    ("defaultRequest", "max", "defaultRequest", "default request value is greater than max value"),
    ("defaultRequest", "default", "defaultRequest", "default request value is greater than default limit value"),
    ("min", "default", "default", "min value is greater than default value"),
    ("default", "max", "default", "default value is greater than max value"),
)
"""Pairs of which the first may not exceed the second, the field that the server names, and why."""


def _compare(name: str, amounts: dict[str, dict[str, int]], path: Path, out: Out) -> None:
    def of(side: str) -> int | None:
        return amounts.get(side, {}).get(name)

    for low, high, named, detail in _ORDER:
        left, right = of(low), of(high)
        if left is not None and right is not None and left > right:
            out.invalid((*path, named, MapKey(name)), CODE, name, detail)
    ratio, least, most = of("maxLimitRequestRatio"), of("min"), of("max")
    at = (*path, "maxLimitRequestRatio", MapKey(name))
    if ratio is not None and ratio < NANO:
        out.invalid(at, CODE, name, "ratio is less than 1")
    elif ratio is not None and least and most is not None and ratio * least > most * NANO:
        out.invalid(at, CODE, name, "ratio is greater than max/min")
    request, limit = of("defaultRequest"), of("default")
    if request is not None and limit is not None and request != limit and not is_divisible(name):
        out.invalid((*path, "defaultRequest", MapKey(name)), CODE, name, "default and defaultRequest must be equal")


def check_resource_quota(obj: Object, out: Out) -> None:
    """A ResourceQuota."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    for name, amount in _amounts(spec, "hard", _quota_name, ("spec",), out).items():
        here = ("spec", "hard", MapKey(name))
        if amount < 0:
            out.invalid(here, CODE, name, "must be greater than or equal to 0")
        if is_counted(name) and amount % NANO:
            out.invalid(here, CODE, name, "must be an integer")
    names = [name for name in (child(spec, "hard") or {}) if isinstance(name, str)]
    scopes = [scope for _, scope in strings(spec, "scopes")]
    _check_scopes(scopes, names, ("spec", "scopes"), out)
    selector = child(spec, "scopeSelector")
    if selector is not None:
        at: Path = ("spec", "scopeSelector", "matchExpressions")
        chosen = [text(item, "scopeName") or "" for _, item in objects(selector, "matchExpressions")]
        _check_scopes(chosen, names, at, out)


def _quota_name(name: str) -> tuple[str, ...]:
    reasons = list(qualified_name(name))
    if "/" not in name and not name.startswith(("hugepages-", "requests.hugepages-")):
        if name not in STANDARD:
            reasons.append("must be a standard resource type or fully qualified")
        if name not in STANDARD - {"storage"}:
            reasons.append("must be a standard resource for quota")
    return tuple(reasons)


def _check_scopes(scopes: list[str], names: list[str], path: Path, out: Out) -> None:
    for scope in scopes:
        if scope not in _SCOPES:
            out.invalid(path, CODE, scopes, "unsupported scope")
        elif any(name in STANDARD - {"storage"} and name not in _SCOPES[scope] for name in names):
            out.invalid(path, CODE, scopes, "unsupported scope applied to resource")
    for pair in _CONFLICTS:
        if set(pair) <= set(scopes):
            out.invalid(path, CODE, scopes, "conflicting scopes")
