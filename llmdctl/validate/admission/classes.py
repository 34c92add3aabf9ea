"""StorageClass, PriorityClass and Lease.

Source of the facts: k8s.io/kubernetes pkg/apis/{storage,scheduling,coordination}/validation/validation.go, v1.36.3.
"""

from __future__ import annotations

from llmdctl.validate.admission.access import Object, child, number, objects, struct, text
from llmdctl.validate.admission.names import label_value, qualified_name
from llmdctl.validate.admission.violation import Out

CODE = "ADM031"

_PREEMPTION = ("Never", "PreemptLowerPriority")
_RECLAIM = ("Delete", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_HIGHEST_PRIORITY = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def check_storage_class(obj: Object, out: Out) -> None:
    """A StorageClass."""
    provisioner = text(obj, "provisioner")
    if provisioner == "":
        out.required(("provisioner",), CODE)
    elif provisioner is not None:
        out.each_invalid(("provisioner",), CODE, provisioner.lower(), qualified_name(provisioner.lower()))
    reclaim = text(obj, "reclaimPolicy")
    if reclaim and reclaim not in _RECLAIM:
        out.unsupported(("reclaimPolicy",), CODE, reclaim, _RECLAIM)
    binding = obj.get("volumeBindingMode")
    if isinstance(binding, str) and binding not in _BINDING:
        out.unsupported(("volumeBindingMode",), CODE, binding, _BINDING)
    for index, term in objects(obj, "allowedTopologies"):
        keys: set[str] = set()
        for inner, item in objects(term, "matchLabelExpressions"):
            at = ("allowedTopologies", index, "matchLabelExpressions", inner)
            key = text(item, "key")
            if key is None:
                continue
            out.each_invalid((*at, "key"), CODE, key, qualified_name(key))
            if key in keys:
                out.duplicate((*at, "key"), CODE, key)
            keys.add(key)
            found = item.get("values")
            if not found:
                out.required((*at, "values"), CODE)
            for place, value in enumerate(found if isinstance(found, list) else ()):
                if isinstance(value, str):
                    out.each_invalid((*at, "values", place), CODE, value, label_value(value))


def check_priority_class(obj: Object, out: Out) -> None:
    """A PriorityClass."""
    name = text(child(obj, "metadata") or {}, "name") or ""
    value = number(obj, "value") or 0
    if name.startswith("system-"):
        if _SYSTEM.get(name) != value or obj.get("globalDefault") is True:
            out.forbidden(("metadata", "name"), CODE, "names that start with 'system-' are reserved for system use")
    elif value > _HIGHEST_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        out.forbidden(("value",), CODE, detail)
    preemption = obj.get("preemptionPolicy")
    if preemption == "":
        out.required(("preemptionPolicy",), CODE)
    elif isinstance(preemption, str) and preemption not in _PREEMPTION:
        out.unsupported(("preemptionPolicy",), CODE, preemption, _PREEMPTION)


def check_lease(obj: Object, out: Out) -> None:
    """A Lease."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    seconds, transitions = number(spec, "leaseDurationSeconds"), number(spec, "leaseTransitions")
    if seconds is not None and seconds <= 0:
        out.invalid(("spec", "leaseDurationSeconds"), CODE, seconds, "must be greater than 0")
    if transitions is not None and transitions < 0:
        out.invalid(("spec", "leaseTransitions"), CODE, transitions, "must be greater than or equal to 0")
    if text(spec, "preferredHolder") and text(spec, "strategy") == "":
        out.forbidden(("spec", "preferredHolder"), CODE, "may only be specified if `strategy` is defined")
