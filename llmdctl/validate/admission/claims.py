"""PersistentVolumeClaims, alone and as templates.

Source of the facts: k8s.io/kubernetes pkg/apis/core/validation/validation.go (ValidatePersistentVolumeClaimSpec).
"""

from __future__ import annotations

from llmdctl.findings import MapKey, Path
from llmdctl.validate.admission.access import Object, child, is_missing, strings, struct, text
from llmdctl.validate.admission.metadata import check_selector
from llmdctl.validate.admission.names import dns_subdomain
from llmdctl.validate.admission.quantities import check_quantity
from llmdctl.validate.admission.violation import Out

CODE = "ADM023"

_MODES = frozenset({"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"})


def check_claim(obj: Object, out: Out) -> None:
    """A PersistentVolumeClaim."""
    spec = struct(obj, "spec")
    if spec is not None:
        check_claim_spec(spec, ("spec",), out)


def check_claim_spec(spec: Object, path: Path, out: Out) -> None:
    """The spec of a claim or of a claim template."""
    _check_modes(spec, path, out)
    selector = child(spec, "selector")
    if selector is not None:
        check_selector(selector, (*path, "selector"), out)
    _check_storage(spec, path, out)
    name = text(spec, "storageClassName")
    if name:
        out.each_invalid((*path, "storageClassName"), CODE, name, dns_subdomain(name))
    mode = text(spec, "volumeMode")
    if mode and mode not in ("Block", "Filesystem"):
        out.unsupported((*path, "volumeMode"), CODE, mode, ("Block", "Filesystem"))
    source = child(spec, "dataSource")
    if source is not None:
        for key in ("name", "kind"):
            if text(source, key) == "":
                out.required((*path, "dataSource", key), CODE)


def _check_modes(spec: Object, path: Path, out: Out) -> None:
    at = (*path, "accessModes")
    if is_missing(spec, "accessModes"):
        out.required(at, CODE, "at least 1 access mode is required")
    modes = [mode for _, mode in strings(spec, "accessModes")]
    for mode in modes:
        if mode not in _MODES:
            out.unsupported(at, CODE, mode, _MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        out.forbidden(at, CODE, "may not use ReadWriteOncePod with other access modes")


def _check_storage(spec: Object, path: Path, out: Out) -> None:
    resources = struct(spec, "resources")
    requests = struct(resources, "requests") if resources is not None else None
    if requests is None:
        return
    if requests.get("storage") is None:
        # The server's own path for this lacks `requests`.
        out.required((*path, "resources", MapKey("storage")), CODE)
        return
    at = (*path, "resources", "requests", MapKey("storage"))
    size = check_quantity(requests["storage"], at, out)
    if size is not None and size <= 0:
        out.invalid((*path, "resources", MapKey("storage")), CODE, requests["storage"], "must be greater than zero")
