"""Dynamic resource allocation: claims, claim templates, device classes.

Source of the facts: k8s.io/kubernetes pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

from llmdctl.findings import Path
from llmdctl.validate.admission.access import Object, child, is_missing, number, objects, strings, struct, text
from llmdctl.validate.admission.names import dns_label, dns_subdomain, label_value, qualified_name
from llmdctl.validate.admission.violation import Out

CODE = "ADM022"

MAX_REQUESTS = 32
_MODES = ("All", "ExactCount")
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_MAX_DRIVER = 63


def check_resource_claim(obj: Object, out: Out) -> None:
    """A ResourceClaim of resource.k8s.io/v1 or v1beta2."""
    spec = struct(obj, "spec")
    if spec is not None:
        _check_devices(spec, ("spec",), out)


def check_claim_template(obj: Object, out: Out) -> None:
    """A ResourceClaimTemplate of resource.k8s.io/v1 or v1beta2."""
    inner = struct(struct(obj, "spec") or {}, "spec")
    if inner is not None:
        _check_devices(inner, ("spec", "spec"), out)


def check_device_class(obj: Object, out: Out) -> None:
    """A DeviceClass: its selectors and configuration."""
    spec = struct(obj, "spec")
    if spec is None:
        return
    _check_selectors(spec, ("spec",), out)
    for index, config in objects(spec, "config"):
        _check_config(config, ("spec", "config", index), out)


def _check_devices(spec: Object, path: Path, out: Out) -> None:
    devices = struct(spec, "devices")
    if devices is None:
        return
    at = (*path, "devices")
    names: set[str] = set()
    count = 0
    for index, request in objects(devices, "requests"):
        count += 1
        _check_request(request, (*at, "requests", index), names, out)
    if count > MAX_REQUESTS:
        out.too_many((*at, "requests"), CODE, count, MAX_REQUESTS)
    for index, constraint in objects(devices, "constraints"):
        _check_constraint(constraint, (*at, "constraints", index), names, out)
    for index, config in objects(devices, "config"):
        here = (*at, "config", index)
        _check_references(config, here, names, out)
        _check_config(config, here, out)


def _check_request(request: Object, path: Path, names: set[str], out: Out) -> None:
    name = text(request, "name")
    if name == "":
        out.required((*path, "name"), CODE)
    elif name is not None:
        out.each_invalid((*path, "name"), CODE, name, dns_label(name))
        if name in names:
            out.duplicate((*path, "name"), CODE, name)
        names.add(name)
    exactly, alternatives = child(request, "exactly"), not is_missing(request, "firstAvailable")
    if exactly is not None and alternatives:
        out.invalid(path, CODE, None, "exactly one of `exactly` or `firstAvailable` is allowed")
    elif exactly is None and not alternatives and request.get("exactly") is None:
        out.required(path, CODE, "exactly one of `exactly` or `firstAvailable` is required")
    if exactly is not None:
        _check_device(exactly, (*path, "exactly"), out)
    inner: set[str] = set()
    for index, option in objects(request, "firstAvailable"):
        here = (*path, "firstAvailable", index)
        sub = text(option, "name")
        if sub == "":
            out.required((*here, "name"), CODE)
        elif sub is not None:
            out.each_invalid((*here, "name"), CODE, sub, dns_label(sub))
            if sub in inner:
                out.duplicate((*here, "name"), CODE, sub)
            inner.add(sub)
            names.add(f"{name}/{sub}")
        _check_device(option, here, out)


def _check_device(device: Object, path: Path, out: Out) -> None:
    class_name = text(device, "deviceClassName")
    if class_name == "":
        out.required((*path, "deviceClassName"), CODE)
    elif class_name is not None:
        out.each_invalid((*path, "deviceClassName"), CODE, class_name, dns_subdomain(class_name))
    _check_selectors(device, path, out)
    _check_tolerations(device, path, out)
    mode, count = text(device, "allocationMode"), number(device, "count")
    if mode == "All":
        if count:
            detail = 'must not be specified when allocationMode is "All"'
            out.invalid((*path, "count"), CODE, count, detail)
    elif mode in ("ExactCount", ""):
        # Zero is defaulted to one.
        if count is not None and count < 0:
            out.invalid((*path, "count"), CODE, count, "must be greater than zero")
    elif mode is not None:
        out.unsupported((*path, "allocationMode"), CODE, mode, _MODES)


def _check_config(config: Object, path: Path, out: Out) -> None:
    at = (*path, "opaque")
    if config.get("opaque") is None:
        out.required(at, CODE)
    opaque = child(config, "opaque")
    if opaque is None:
        return
    driver = text(opaque, "driver")
    if driver == "":
        out.required((*at, "driver"), CODE)
    elif driver is not None:
        out.each_invalid((*at, "driver"), CODE, driver, dns_subdomain(driver.lower()))
        if len(driver) > _MAX_DRIVER:
            out.too_long((*at, "driver"), CODE, _MAX_DRIVER)
    parameters = opaque.get("parameters")
    if parameters is None:
        out.required((*at, "parameters"), CODE)
    elif not isinstance(parameters, dict):
        out.invalid((*at, "parameters"), CODE, "<value omitted>", "must be a valid JSON object")


def _check_tolerations(device: Object, path: Path, out: Out) -> None:
    for index, toleration in objects(device, "tolerations"):
        at = (*path, "tolerations", index)
        key, operator = text(toleration, "key"), text(toleration, "operator")
        if key:
            out.each_invalid((*at, "key"), CODE, key, qualified_name(key))
        value = text(toleration, "value")
        if operator == "Exists":
            if value:
                out.invalid((*at, "value"), CODE, value, "must be empty for operator `Exists`")
        elif operator in ("Equal", ""):
            out.each_invalid((*at, "value"), CODE, value, label_value(value or ""))
        elif operator is not None:
            out.unsupported((*at, "operator"), CODE, operator, ("Equal", "Exists"))
        effect = text(toleration, "effect")
        if effect and effect not in _EFFECTS:
            out.unsupported((*at, "effect"), CODE, effect, _EFFECTS)


def _check_selectors(holder: Object, path: Path, out: Out) -> None:
    for index, selector in objects(holder, "selectors"):
        at = (*path, "selectors", index)
        cel = child(selector, "cel")
        if cel is None:
            if selector.get("cel") is None:
                out.required((*at, "cel"), CODE)
        elif text(cel, "expression") == "":
            out.required((*at, "cel", "expression"), CODE)


def _check_constraint(constraint: Object, path: Path, names: set[str], out: Out) -> None:
    _check_references(constraint, path, names, out)
    given = [key for key in ("matchAttribute", "distinctAttribute") if constraint.get(key) is not None]
    if not given:
        out.required(path, CODE, "at least one field must be specified in a constraint")
    for key in given:
        value = text(constraint, key)
        if value is None:
            continue
        at = (*path, key)
        domain, slash, identifier = value.partition("/")
        if not slash:
            out.invalid(
                at, CODE, value, "a valid fully qualified name must include a domain and a name, as in a.example/b"
            )
            continue
        out.each_invalid(at, CODE, domain, dns_subdomain(domain))
        if not identifier:
            out.required(at, CODE, "name must not be empty")
        elif not (identifier[0].isalpha() or identifier[0] == "_") or not identifier.replace("_", "a").isalnum():
            out.invalid(at, CODE, identifier, "a valid C identifier must start with a letter or '_'")


def _check_references(holder: Object, path: Path, names: set[str], out: Out) -> None:
    seen: set[str] = set()
    for index, name in strings(holder, "requests"):
        if name not in names:
            detail = "must be the name of a request in the claim or the name of a request and a subrequest"
            out.invalid((*path, "requests", index), CODE, name, detail)
        elif name in seen:
            out.duplicate((*path, "requests", index), CODE, name)
        seen.add(name)
