"""Resource requests, limits and claims of containers and pods.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (validateContainerResourceName,
validateResourceRequirements, validatePodResourceClaims) and pkg/apis/core/helper.
"""

from __future__ import annotations

from functools import lru_cache

from llmdctl.findings import MapKey, Path
from llmdctl.validate.admission.access import EMPTY, Object, child, objects, text
from llmdctl.validate.admission.names import dns_label, dns_subdomain, qualified_name
from llmdctl.validate.admission.quantities import CODE, NANO, check_quantity, parse_quantity
from llmdctl.validate.admission.violation import Out

CLAIMS = "ADM022"

_CONTAINER = frozenset({"cpu", "memory", "ephemeral-storage"})
STANDARD = _CONTAINER | {
    "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "persistentvolumeclaims", "configmaps",
    "services.nodeports", "services.loadbalancers", "storage", "requests.cpu", "requests.memory", "requests.storage",
    "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage",
}  # fmt: skip
_HUGE = "hugepages-"


@lru_cache(maxsize=1024)
def resource_name(name: str) -> tuple[str, ...]:
    """Why a container can't ask for a resource of this name; empty when it can."""
    reasons = list(qualified_name(name))
    if "/" not in name:
        if name not in STANDARD and not name.startswith(_HUGE):
            reasons.append("must be a standard resource type or fully qualified")
        if name not in _CONTAINER and not name.startswith(_HUGE):
            reasons.append("must be a standard resource for containers")
    elif not _is_native(name) and not _is_extended(name):
        reasons.append("doesn't follow extended resource name standard")
    return tuple(reasons)


_COUNTED = frozenset(
    {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "persistentvolumeclaims", "configmaps"}
)


def is_counted(name: str) -> bool:
    """True for resources that only come whole: numbers of objects, and extended resources."""
    return name in _COUNTED or name.startswith("services.") or _is_extended(name)


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _is_extended(name: str) -> bool:
    return not _is_native(name) and not name.startswith("requests.") and not qualified_name(f"requests.{name}")


@lru_cache(maxsize=1024)
def is_divisible(name: str) -> bool:
    """True for resources that come in fractions and may be overcommitted (cpu, memory, ...)."""
    return _is_native(name) and not name.startswith(_HUGE)


def check_container_resources(container: Object, path: Path, claim_names: set[str] | None, out: Out) -> None:
    """`resources` of a container; `claim_names` are the pod's claims, None when they can't be told."""
    resources = child(container, "resources")
    if not resources:
        return
    at = (*path, "resources")
    limits = child(resources, "limits") or EMPTY
    requests = child(resources, "requests") or EMPTY
    ceilings = _check_amounts(limits, (*at, "limits"), out)
    amounts = _check_amounts(requests, (*at, "requests"), out)
    for name, amount in amounts.items():
        _compare(name, amount, ceilings.get(name), name in limits, requests, limits, at, out)
    _check_huge(limits, requests, at, out)
    if resources.get("claims"):
        _check_claim_refs(resources, at, claim_names, out)


def _check_amounts(amounts: Object, path: Path, out: Out) -> dict[str, int]:
    """The well-formed amounts in billionths, after reporting the others."""
    found: dict[str, int] = {}
    for name, value in amounts.items():
        reasons = resource_name(name)
        if reasons:
            out.each_invalid((*path, MapKey(name)), CODE, name, reasons)
        if type(value) is str:
            amount = parse_quantity(value)
            if amount is None:
                check_quantity(value, (*path, MapKey(name)), out)
        else:
            amount = check_quantity(value, (*path, MapKey(name)), out)
        if amount is None:
            continue
        found[name] = amount
        if amount < 0:
            out.invalid((*path, MapKey(name)), CODE, value, "must be greater than or equal to 0")
        elif amount % NANO and not _is_native(name):
            out.invalid((*path, MapKey(name)), CODE, value, "must be an integer")
        elif name.startswith(_HUGE):
            _check_page(name, value, amount, (*path, MapKey(name)), out)
    return found


def _check_page(name: str, value: object, amount: int, path: Path, out: Out) -> None:
    page = parse_quantity(name[len(_HUGE) :])
    if not page or page < 0:
        out.invalid(path, CODE, name, "must be a quantity after hugepages-")
    elif amount % page:
        out.invalid(path, CODE, value, f"must be a multiple of the page size {name[len(_HUGE) :]}")


def _compare(
    name: str, amount: int, ceiling: int | None, limited: bool, requests: Object, limits: Object, path: Path, out: Out
) -> None:
    if ceiling is None:
        if not limited and not is_divisible(name):
            out.required((*path, "limits"), CODE, "Limit must be set for non overcommitable resources")
        return
    value = str(requests[name])
    if amount != ceiling and not is_divisible(name):
        out.invalid((*path, "requests"), CODE, value, f"must be equal to {name} limit of {limits[name]}")
    elif amount > ceiling:
        out.invalid((*path, "requests"), CODE, value, f"must be less than or equal to {name} limit of {limits[name]}")


def _check_huge(limits: Object, requests: Object, path: Path, out: Out) -> None:
    names = {*limits, *requests}
    huge = any(isinstance(name, str) and name.startswith(_HUGE) for name in names)
    if huge and not names & {"cpu", "memory"}:
        out.forbidden(path, CODE, "HugePages require cpu or memory")


def _check_claim_refs(resources: Object, path: Path, claim_names: set[str] | None, out: Out) -> None:
    seen: set[tuple[str, str]] = set()
    for index, claim in objects(resources, "claims"):
        at = (*path, "claims", index)
        name, request = text(claim, "name"), text(claim, "request")
        if name is None or request is None:
            continue
        if name == "":
            out.required(at, CLAIMS)
            continue
        if request:
            out.each_invalid((*at, "request"), CLAIMS, request, dns_label(request))
        if (name, request) in seen or (name, "") in seen or (not request and any(key[0] == name for key in seen)):
            out.duplicate(at, CLAIMS, name)
        seen.add((name, request))
        if claim_names is not None and name not in claim_names:
            known = f": {', '.join(sorted(claim_names))}" if claim_names else " which is empty"
            out.not_found(at, CLAIMS, name, f"must be one of the names in pod.spec.resourceClaims{known}")


def check_pod_claims(spec: Object, path: Path, out: Out) -> set[str] | None:
    """`resourceClaims` of a pod; returns their names, None when they can't be told."""
    names: set[str] = set()
    if spec.get("resourceClaims") is None:
        return names
    if not isinstance(spec["resourceClaims"], list):
        return None
    for index, claim in objects(spec, "resourceClaims"):
        at = (*path, "resourceClaims", index)
        name = text(claim, "name")
        if name == "":
            out.required((*at, "name"), CLAIMS)
        elif name is None:
            return None
        else:
            out.each_invalid((*at, "name"), CLAIMS, name, dns_label(name))
            if name in names:
                out.duplicate((*at, "name"), CLAIMS, name)
            names.add(name)
        _check_claim_source(claim, at, out)
    return names


def _check_claim_source(claim: Object, path: Path, out: Out) -> None:
    keys = [key for key in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(key) is not None]
    if not keys:
        out.invalid(path, CLAIMS, dict(claim), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
    elif len(keys) > 1:
        out.invalid(
            path,
            CLAIMS,
            dict(claim),
            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
        )
    for key in keys:
        value = claim[key]
        if isinstance(value, str):
            out.each_invalid((*path, key), CLAIMS, value, dns_subdomain(value))


def check_pod_resources(spec: Object, path: Path, out: Out) -> None:
    """Resources of the pod as a whole (used from 1.34 on; older servers drop them)."""
    resources = child(spec, "resources")
    if not resources or out.minor < 34:
        return
    at = (*path, "resources")
    limits = child(resources, "limits") or EMPTY
    requests = child(resources, "requests") or EMPTY
    for side, amounts in (("limits", limits), ("requests", requests)):
        for name in amounts:
            if isinstance(name, str) and name not in ("cpu", "memory") and not name.startswith(_HUGE):
                out.unsupported((*at, side, MapKey(name)), CODE, name, ("cpu", "memory", "hugepages-<size>"))
    known = {"cpu", "memory"}
    ceilings = _check_amounts({k: v for k, v in limits.items() if k in known}, (*at, "limits"), out)
    amounts = _check_amounts({k: v for k, v in requests.items() if k in known}, (*at, "requests"), out)
    for name, amount in amounts.items():
        _compare(name, amount, ceilings.get(name), name in limits, requests, limits, at, out)
        total = _requested(spec, name)
        if amount < total:
            detail = f"must be greater than or equal to aggregate container requests of {total / NANO:g}"
            out.invalid((*at, "requests", MapKey(name)), CODE, str(requests[name]), detail)


def _requested(spec: Object, name: str) -> int:
    total = 0
    for _, container in objects(spec, "containers"):
        requests = child(child(container, "resources") or EMPTY, "requests") or EMPTY
        value = requests.get(name)
        total += (parse_quantity(value) or 0) if isinstance(value, str) else 0
    return total
