"""Security contexts of pods and containers.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidateSecurityContext,
validatePodSpecSecurityContext, validateSeccompProfileField).
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, number, objects, text, values
from llmdctl.validate.admission.violation import Out

CODE = "ADM013"

_ID_MAX = 2**31 - 1
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")


def check_container_security(container: Object, path: Path, out: Out) -> None:
    """`securityContext` of a container."""
    context = child(container, "securityContext")
    if not context:
        return
    at = (*path, "securityContext")
    _check_ids(context, ("runAsUser", "runAsGroup"), at, out)
    _check_profiles(context, at, out)
    mount = text(context, "procMount")
    if mount and mount not in ("Default", "Unmasked"):
        out.unsupported((*at, "procMount"), CODE, mount, ("Default", "Unmasked"))
    if context.get("allowPrivilegeEscalation") is False:
        _check_escalation(context, at, out)


def _check_escalation(context: Object, path: Path, out: Out) -> None:
    if context.get("privileged") is True:
        detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        out.invalid(path, CODE, context, detail)
    if "CAP_SYS_ADMIN" in values(child(context, "capabilities") or {}, "add"):
        detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
        out.invalid(path, CODE, context, detail)


def check_pod_security(spec: Object, path: Path, out: Out) -> None:
    """`securityContext` of a pod, and the host namespaces."""
    at = (*path, "securityContext")
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        out.invalid((*at, "shareProcessNamespace"), CODE, True, detail)
    context = child(spec, "securityContext")
    if not context:
        return
    _check_ids(context, ("runAsUser", "runAsGroup", "fsGroup"), at, out)
    _check_profiles(context, at, out)
    for index, group in enumerate(values(context, "supplementalGroups")):
        if type(group) is int and not 0 <= group <= _ID_MAX:
            out.invalid((*at, "supplementalGroups", index), CODE, group, _id_range())
    policy = text(context, "fsGroupChangePolicy")
    if (
        policy is not None
        and context.get("fsGroupChangePolicy") is not None
        and policy not in ("Always", "OnRootMismatch")
    ):
        out.unsupported((*at, "fsGroupChangePolicy"), CODE, policy, ("Always", "OnRootMismatch"))
    _check_sysctls(context, at, out)


def _check_sysctls(context: Object, path: Path, out: Out) -> None:
    seen: set[str] = set()
    for index, item in objects(context, "sysctls"):
        name = text(item, "name")
        at = (*path, "sysctls", index, "name")
        if name == "":
            out.required(at, CODE)
        elif name is not None and name in seen:
            out.duplicate(at, CODE, name)
        seen.add(name or "")


def _id_range() -> str:
    return f"must be between 0 and {_ID_MAX}, inclusive"


def _check_ids(context: Object, keys: tuple[str, ...], path: Path, out: Out) -> None:
    for key in keys:
        value = number(context, key)
        if value is not None and not 0 <= value <= _ID_MAX:
            out.invalid((*path, key), CODE, value, _id_range())


def _check_profiles(context: Object, path: Path, out: Out) -> None:
    for key in ("seccompProfile", "appArmorProfile"):
        profile = child(context, key)
        if profile is not None:
            _check_profile(profile, key, (*path, key), out)


def _check_profile(profile: Object, key: str, path: Path, out: Out) -> None:
    kind = text(profile, "type")
    local = profile.get("localhostProfile")
    if kind == "":
        out.required((*path, "type"), CODE, f"type is required when {key} is set")
    elif kind is not None and kind not in _PROFILES:
        out.unsupported((*path, "type"), CODE, kind, _PROFILES)
    if kind == "Localhost":
        if not local:
            out.required((*path, "localhostProfile"), CODE, "must be set when type is Localhost")
    elif local is not None:
        out.invalid((*path, "localhostProfile"), CODE, local, "can only be set when type is Localhost")
