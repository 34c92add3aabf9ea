"""Containers of a pod.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (validateContainers,
validateInitContainers, validateContainerCommon).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, is_missing, objects, text
from llmdctl.validate.admission.env import check_env
from llmdctl.validate.admission.mounts import check_mounts
from llmdctl.validate.admission.names import dns_label
from llmdctl.validate.admission.ports import HostPorts, check_ports
from llmdctl.validate.admission.probes import PROBES, check_lifecycle, check_probe
from llmdctl.validate.admission.resources import check_container_resources
from llmdctl.validate.admission.security import check_container_security
from llmdctl.validate.admission.violation import Out

CODE = "ADM004"
RESTART = "ADM011"

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RESTART_RULES_MINOR = 35
"""The first minor with ContainerRestartRules on by default: any container may then have a restart policy."""


@dataclass(slots=True)
class PodScope:
    """What containers of one pod share: the volumes and claims they can use, names and host ports already taken."""

    volumes: set[str] | None
    claims: set[str] | None
    host_network: bool
    names: set[str] = field(default_factory=set)
    host_ports: HostPorts = field(default_factory=set)


def check_containers(spec: Object, path: Path, scope: PodScope, out: Out) -> None:
    """`containers`, `initContainers` and `ephemeralContainers` of a pod."""
    if is_missing(spec, "containers"):
        out.required((*path, "containers"), CODE)
    for index, container in objects(spec, "containers"):
        at = (*path, "containers", index)
        _check_common(container, at, scope, scope.host_ports, out)
        _check_restart_policy(container, at, out, init=False)
        for key in PROBES:
            if container.get(key) is not None:
                check_probe(container, key, at, out)
        if container.get("lifecycle") is not None:
            check_lifecycle(container, at, out)
    if spec.get("initContainers"):
        for index, container in objects(spec, "initContainers"):
            at = (*path, "initContainers", index)
            # Init containers run before the others, so only sidecars compete for the host's ports.
            taken = scope.host_ports if container.get("restartPolicy") == "Always" else set()
            _check_common(container, at, scope, taken, out)
            _check_restart_policy(container, at, out, init=True)
            _check_sidecar_only(container, at, out)


def _check_common(container: Object, path: Path, scope: PodScope, taken: HostPorts, out: Out) -> None:
    name = text(container, "name")
    if name == "":
        out.required((*path, "name"), CODE)
    elif name is not None:
        reasons = dns_label(name)
        if reasons:
            out.each_invalid((*path, "name"), CODE, name, reasons)
        if name in scope.names:
            out.duplicate((*path, "name"), CODE, name)
        scope.names.add(name)
    _check_image(container, path, out)
    check_ports(container, path, taken, scope.host_network, out)
    check_env(container, path, out)
    check_mounts(container, path, scope.volumes, out)
    check_container_resources(container, path, scope.claims, out)
    check_container_security(container, path, out)
    policy = container.get("terminationMessagePolicy")
    if policy and isinstance(policy, str) and policy not in _MESSAGE_POLICIES:
        out.unsupported((*path, "terminationMessagePolicy"), CODE, policy, _MESSAGE_POLICIES)


def _check_image(container: Object, path: Path, out: Out) -> None:
    image = text(container, "image")
    if image == "":
        out.required((*path, "image"), CODE)
    elif image is not None and image != image.strip():
        # Only Pods themselves are refused; a template is taken, and its pods are not.
        late = out if path[0] == "spec" and "template" not in path else out.failing_later(by_schema=out.by_schema)
        late.invalid((*path, "image"), CODE, image, "must not have leading or trailing whitespace")
    policy = container.get("imagePullPolicy")
    if policy and isinstance(policy, str) and policy not in _PULL_POLICIES:
        out.unsupported((*path, "imagePullPolicy"), CODE, policy, _PULL_POLICIES)


def _check_restart_policy(container: Object, path: Path, out: Out, *, init: bool) -> None:
    policy = container.get("restartPolicy")
    if not isinstance(policy, str):
        return
    at = (*path, "restartPolicy")
    if out.minor >= _RESTART_RULES_MINOR:
        if policy not in _RESTART_POLICIES:
            out.unsupported(at, RESTART, policy, _RESTART_POLICIES)
    elif not init:
        out.forbidden(at, RESTART, "may not be set for non-init containers")
    elif policy != "Always":
        out.unsupported(at, RESTART, policy, ("Always",))


def _check_sidecar_only(container: Object, path: Path, out: Out) -> None:
    """A sidecar is an init container that restarts always; only it may have probes and hooks."""
    if container.get("restartPolicy") == "Always":
        for key in PROBES:
            if container.get(key) is not None:
                check_probe(container, key, path, out)
        check_lifecycle(container, path, out)
        return
    for key in (*PROBES, "lifecycle"):
        if container.get(key) is not None:
            out.forbidden((*path, key), CODE, "may not be set for init containers without restartPolicy=Always")
