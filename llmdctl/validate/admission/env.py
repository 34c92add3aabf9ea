"""Environment variables of a container.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (validateEnv, validateEnvFrom).
"""

from __future__ import annotations

import re

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, objects, text
from llmdctl.validate.admission.names import config_key, dns_subdomain, env_name, qualified_name
from llmdctl.validate.admission.quantities import check_quantity
from llmdctl.validate.admission.violation import Out

CODE = "ADM006"

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_ENV_FIELDS = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
_VOLUME_FIELDS = frozenset(
    {"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations"}
)
_SUBSCRIPT = re.compile(r"(metadata\.(?:labels|annotations))\['(.*)'\]")
_RESOURCES = frozenset(
    f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)


def check_env(container: Object, path: Path, out: Out) -> None:
    """`env` and `envFrom` of a container."""
    if container.get("env"):
        for index, item in objects(container, "env"):
            name = text(item, "name")
            if name == "":
                out.required((*path, "env", index, "name"), CODE)
            elif name is not None:
                for reason in env_name(name):
                    out.invalid((*path, "env", index, "name"), CODE, name, reason)
            if item.get("valueFrom") is not None:
                _check_value_from(item, (*path, "env", index, "valueFrom"), out)
    if container.get("envFrom"):
        for index, item in objects(container, "envFrom"):
            _check_env_from(item, (*path, "envFrom", index), out)


def _check_value_from(item: Object, path: Path, out: Out) -> None:
    source = child(item, "valueFrom")
    if source is None:
        return
    given = [key for key in _SOURCES if source.get(key) is not None]
    if item.get("value"):
        out.invalid(path, CODE, "", "may not be specified when `value` is not empty")
    elif not given:
        out.invalid(
            path,
            CODE,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        )
    elif len(given) > 1:
        out.invalid(path, CODE, "", "may not have more than one field specified at a time")
    for key in given:
        ref = child(source, key)
        if ref is None:
            continue
        if key == "fieldRef":
            check_field_ref(ref, (*path, key), out, CODE, volume=False)
        elif key == "resourceFieldRef":
            check_resource_ref(ref, (*path, key), out, CODE, volume=False)
        elif key in ("configMapKeyRef", "secretKeyRef"):
            _check_key_ref(ref, (*path, key), out)


def _check_key_ref(ref: Object, path: Path, out: Out) -> None:
    name, key = text(ref, "name"), text(ref, "key")
    if name is not None:
        out.each_invalid((*path, "name"), CODE, name, dns_subdomain(name))
    if key == "":
        out.required((*path, "key"), CODE)
    elif key is not None:
        out.each_invalid((*path, "key"), CODE, key, config_key(key))


def check_field_ref(ref: Object, path: Path, out: Out, code: str, *, volume: bool) -> None:
    """A downward API field; volumes may take all labels and annotations but no `spec` and `status`."""
    value = text(ref, "fieldPath")
    if value is None:
        return
    at = (*path, "fieldPath")
    if value == "":
        out.required(at, code)
        return
    found = _SUBSCRIPT.fullmatch(value)
    if found:
        key = found[2]
        out.each_invalid(at, code, value, qualified_name(key.lower() if found[1].endswith("annotations") else key))
        return
    allowed = _VOLUME_FIELDS if volume else _ENV_FIELDS
    if value not in allowed:
        out.unsupported(at, code, value, allowed)


def check_resource_ref(ref: Object, path: Path, out: Out, code: str, *, volume: bool) -> None:
    """A downward API resource; in volumes the container must be named."""
    if volume and text(ref, "containerName") == "":
        out.required((*path, "containerName"), code)
    resource = text(ref, "resource")
    if resource == "":
        out.required((*path, "resource"), code)
    elif resource is not None and resource not in _RESOURCES:
        side, _, name = resource.partition(".")
        if side not in ("limits", "requests") or not name.startswith("hugepages-"):
            out.unsupported((*path, "resource"), code, resource, _RESOURCES)
    check_quantity(ref.get("divisor"), (*path, "divisor"), out, code=code)


def _check_env_from(item: Object, path: Path, out: Out) -> None:
    prefix = text(item, "prefix")
    if prefix:
        out.each_invalid((*path, "prefix"), CODE, prefix, env_name(prefix))
    given = [key for key in ("configMapRef", "secretRef") if item.get(key) is not None]
    if not given:
        out.invalid(path, CODE, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(given) > 1:
        out.invalid(path, CODE, "", "may not have more than one field specified at a time")
    for key in given:
        ref = child(item, key)
        name = text(ref, "name") if ref is not None else None
        if name is not None:
            # Judged as the beginning of a name: a dash at its end passes.
            judged = f"{name[:-1]}a" if len(name) > 1 and name.endswith("-") else name
            out.each_invalid((*path, key, "name"), CODE, name, dns_subdomain(judged))
