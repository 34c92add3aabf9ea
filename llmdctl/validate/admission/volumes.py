"""Volumes of a pod.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (validateVolumes, validateVolumeSource).
"""

from __future__ import annotations

from collections.abc import Callable

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, number, objects, struct, text
from llmdctl.validate.admission.claims import check_claim_spec
from llmdctl.validate.admission.env import check_field_ref, check_resource_ref
from llmdctl.validate.admission.names import dns_label
from llmdctl.validate.admission.quantities import check_quantity
from llmdctl.validate.admission.violation import Out

CODE = "ADM007"

_HOST_PATH_TYPES = frozenset(
    {"", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"}
)
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROJECTIONS = frozenset(
    {"secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"}
)
_MODE_MAX = 0o777


def check_volumes(spec: Object, path: Path, out: Out) -> set[str] | None:
    """Checks `spec.volumes` and returns the names that mounts can use.

    A faulty volume is not among them, so a mount of it is reported too, as by the server. None when the list is of a
    wrong type, so that mounts can't be judged.
    """
    names: set[str] = set()
    volumes = spec.get("volumes")
    if volumes is None:
        return names
    if not isinstance(volumes, list):
        return None
    for index, volume in objects(spec, "volumes"):
        at = (*path, "volumes", index)
        before = len(out.items)
        _check_source(volume, at, out)
        name = text(volume, "name")
        if name == "":
            out.required((*at, "name"), CODE)
        elif name is None:
            return None
        else:
            out.each_invalid((*at, "name"), CODE, name, dns_label(name))
            if name in names:
                out.duplicate((*at, "name"), CODE, name)
            if out.later or all(item.later for item in out.items[before:]):
                names.add(name)
    return names


def _check_source(volume: Object, path: Path, out: Out) -> None:
    given = [key for key, value in volume.items() if key != "name" and value is not None]
    for key in given[1:]:
        out.forbidden((*path, key), CODE, "may not specify more than 1 volume type")
    for key in given[:1]:
        check = _SOURCES.get(key)
        source = volume[key]
        if check is not None and isinstance(source, dict):
            check(source, (*path, key), out)


def _empty_dir(source: Object, path: Path, out: Out) -> None:
    size = check_quantity(source.get("sizeLimit"), (*path, "sizeLimit"), out)
    if size is not None and size < 0:
        out.forbidden((*path, "sizeLimit"), CODE, "must not be negative")
    medium = text(source, "medium")
    if medium and medium != "Memory" and not medium.startswith("HugePages"):
        # The API server lets any text through; the kubelet knows only these and can't mount the volume.
        late = out.failing_later(by_schema=out.by_schema)
        late.unsupported((*path, "medium"), CODE, medium, ("", "HugePages", "HugePages-<size>", "Memory"))


def _host_path(source: Object, path: Path, out: Out) -> None:
    _check_required_text(source, "path", path, out)
    where = text(source, "path")
    if where and ".." in where.split("/"):
        out.invalid((*path, "path"), CODE, where, "must not contain '..'")
    kind = text(source, "type")
    if kind is not None and kind not in _HOST_PATH_TYPES:
        out.unsupported((*path, "type"), CODE, kind, _HOST_PATH_TYPES - {""})


def _config_map(source: Object, path: Path, out: Out) -> None:
    _check_required_text(source, "name", path, out)
    _check_mode(source, "defaultMode", path, out)
    check_items(source, path, out)


def _secret(source: Object, path: Path, out: Out) -> None:
    _check_required_text(source, "secretName", path, out)
    _check_mode(source, "defaultMode", path, out)
    check_items(source, path, out)


def check_items(source: Object, path: Path, out: Out) -> None:
    """`items` of a ConfigMap or Secret volume: which key becomes which file."""
    for index, item in objects(source, "items"):
        at = (*path, "items", index)
        _check_required_text(item, "key", at, out)
        _check_required_text(item, "path", at, out)
        _check_mode(item, "mode", at, out)
        where = text(item, "path")
        if where:
            check_descending(where, (*at, "path"), out, CODE)
            if where.startswith("..") and not where.startswith("../") and where != "..":
                out.invalid((*at, "path"), CODE, where, "must not start with '..'")


def check_descending(value: str, path: Path, out: Out, code: str) -> None:
    """A path that must stay below the place it is joined to."""
    if value.startswith("/"):
        out.invalid(path, code, value, "must be a relative path")
    if ".." in value.split("/"):
        out.invalid(path, code, value, "must not contain '..'")


def _check_mode(source: Object, key: str, path: Path, out: Out) -> None:
    mode = number(source, key)
    if mode is not None and not 0 <= mode <= _MODE_MAX:
        out.invalid((*path, key), CODE, mode, "must be a number between 0 and 0777 (octal), both inclusive")


def _check_required_text(source: Object, key: str, path: Path, out: Out) -> None:
    if text(source, key) == "":
        out.required((*path, key), CODE)


def _claim(source: Object, path: Path, out: Out) -> None:
    _check_required_text(source, "claimName", path, out)


def _projected(source: Object, path: Path, out: Out) -> None:
    _check_mode(source, "defaultMode", path, out)
    paths: set[str] = set()
    for index, item in objects(source, "sources"):
        at = (*path, "sources", index)
        given = [key for key in item if key in _PROJECTIONS and item[key] is not None]
        for key in given[1:]:
            out.forbidden((*at, key), CODE, "may not specify more than 1 volume type per source")
        for key in given[:1]:
            _check_projection(item, key, at, out)
            for file in _projected_paths(item, key):
                if file in paths:
                    out.invalid(path, CODE, file, "conflicting duplicate paths")
                paths.add(file)


def _projected_paths(item: Object, key: str) -> list[str]:
    source = child(item, key)
    if source is None:
        return []
    found = [text(entry, "path") for _, entry in objects(source, "items")]
    if key == "clusterTrustBundle":
        found.append(text(source, "path"))
    return [path for path in found if path]


def _check_projection(item: Object, key: str, path: Path, out: Out) -> None:
    source = child(item, key)
    if source is None:
        return
    at = (*path, key)
    if key in ("secret", "configMap"):
        _check_required_text(source, "name", at, out)
        check_items(source, at, out)
    elif key == "downwardAPI":
        _downward(source, at, out)
    elif key == "serviceAccountToken":
        _check_required_text(source, "path", at, out)
        seconds = number(source, "expirationSeconds")
        if seconds is not None and not 600 <= seconds <= 1 << 32:
            out.invalid(
                (*at, "expirationSeconds"), CODE, seconds, "may not be less than 10 minutes or over 2^32 seconds"
            )


def _downward(source: Object, path: Path, out: Out) -> None:
    _check_mode(source, "defaultMode", path, out)
    for index, item in objects(source, "items"):
        at = (*path, "items", index)
        where = text(item, "path")
        if where == "":
            out.required((*at, "path"), CODE)
        elif where:
            check_descending(where, (*at, "path"), out, CODE)
        field, resource = child(item, "fieldRef"), child(item, "resourceFieldRef")
        if field is not None and resource is not None:
            out.invalid(at, CODE, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
        elif field is not None:
            check_field_ref(field, (*at, "fieldRef"), out, CODE, volume=True)
        elif resource is not None:
            check_resource_ref(resource, (*at, "resourceFieldRef"), out, CODE, volume=True)
        elif item.get("fieldRef") is None and item.get("resourceFieldRef") is None:
            out.required(at, CODE, "one of fieldRef and resourceFieldRef is required")


def _csi(source: Object, path: Path, out: Out) -> None:
    _check_required_text(source, "driver", path, out)


def _nfs(source: Object, path: Path, out: Out) -> None:
    _check_required_text(source, "server", path, out)
    _check_required_text(source, "path", path, out)
    where = text(source, "path")
    if where and not where.startswith("/"):
        out.invalid((*path, "path"), CODE, where, "must be an absolute path")


def _ephemeral(source: Object, path: Path, out: Out) -> None:
    template = child(source, "volumeClaimTemplate")
    if template is None:
        if source.get("volumeClaimTemplate") is None:
            out.required((*path, "volumeClaimTemplate"), CODE)
        return
    spec = struct(template, "spec")
    if spec is not None:
        check_claim_spec(spec, (*path, "volumeClaimTemplate", "spec"), out)


def _image(source: Object, path: Path, out: Out) -> None:
    _check_required_text(source, "reference", path, out)
    policy = text(source, "pullPolicy")
    if policy and policy not in _PULL_POLICIES:
        out.unsupported((*path, "pullPolicy"), CODE, policy, _PULL_POLICIES)


_SOURCES: dict[str, Callable[[Object, Path, Out], None]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "configMap": _config_map,
    "secret": _secret,
    "persistentVolumeClaim": _claim,
    "projected": _projected,
    "downwardAPI": _downward,
    "csi": _csi,
    "nfs": _nfs,
    "ephemeral": _ephemeral,
    "image": _image,
}
