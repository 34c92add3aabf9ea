"""Volume mounts and block devices of containers.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidateVolumeMounts,
ValidateVolumeDevices).
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, objects, text
from llmdctl.validate.admission.violation import Out
from llmdctl.validate.admission.volumes import check_descending

CODE = "ADM008"

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")


def check_mounts(container: Object, path: Path, volumes: set[str] | None, out: Out) -> None:
    """`volumeMounts` and `volumeDevices`; `volumes` are the pod's volumes, None when they can't be told."""
    if not container.get("volumeMounts") and not container.get("volumeDevices"):
        return
    paths: set[str] = set()
    for index, mount in objects(container, "volumeMounts"):
        at = (*path, "volumeMounts", index)
        _check_volume_name(mount, at, volumes, out)
        where = text(mount, "mountPath")
        if where == "":
            out.required((*at, "mountPath"), CODE)
        elif where is not None:
            _check_mount_path(where, (*at, "mountPath"), paths, out)
        _check_sub_path(mount, at, out)
        _check_propagation(container, mount, at, out)
    for index, device in objects(container, "volumeDevices"):
        at = (*path, "volumeDevices", index)
        _check_volume_name(device, at, volumes, out)
        where = text(device, "devicePath")
        if where == "":
            out.required((*at, "devicePath"), CODE)
        elif where is not None:
            _check_device_path(where, (*at, "devicePath"), paths, out)


def _check_volume_name(mount: Object, path: Path, volumes: set[str] | None, out: Out) -> None:
    name = text(mount, "name")
    if name == "":
        out.required((*path, "name"), CODE)
    if name is not None and volumes is not None and name not in volumes:
        out.not_found((*path, "name"), CODE, name)


def _check_mount_path(where: str, path: Path, paths: set[str], out: Out) -> None:
    if where in paths:
        out.invalid(path, CODE, where, "must be unique")
    paths.add(where)
    if ":" in where:
        # Documented as forbidden but not checked; the container runtime refuses it.
        out.failing_later(by_schema=out.by_schema).invalid(path, CODE, where, "must not contain ':'")


def _check_device_path(where: str, path: Path, paths: set[str], out: Out) -> None:
    """The path at which a block device appears."""
    if where in paths:
        out.invalid(path, CODE, where, "must be unique")
    if ".." in where.split("/"):
        out.invalid(path, CODE, where, "can not contain backsteps ('..')")
    paths.add(where)


def _check_sub_path(mount: Object, path: Path, out: Out) -> None:
    sub, expression = mount.get("subPath"), mount.get("subPathExpr")
    if isinstance(sub, str) and sub:
        check_descending(sub, (*path, "subPath"), out, CODE)
    if isinstance(expression, str) and expression:
        if sub:
            out.invalid((*path, "subPathExpr"), CODE, expression, "subPathExpr and subPath are mutually exclusive")
        check_descending(expression, (*path, "subPathExpr"), out, CODE)


def _check_propagation(container: Object, mount: Object, path: Path, out: Out) -> None:
    value = mount.get("mountPropagation")
    if not isinstance(value, str):
        return
    if value not in _PROPAGATIONS:
        out.unsupported((*path, "mountPropagation"), CODE, value, _PROPAGATIONS)
    elif value == "Bidirectional" and (child(container, "securityContext") or {}).get("privileged") is not True:
        detail = "Bidirectional mount propagation is available only to privileged containers"
        out.forbidden((*path, "mountPropagation"), CODE, detail)
