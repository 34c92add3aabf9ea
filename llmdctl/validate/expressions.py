"""The CEL layer: x-kubernetes-validations on objects, in CRDs themselves, and selectors of device claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmdctl.findings import Finding, Hit, Path, Place, Rule, Severity
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.document import Document
from llmdctl.manifest.typed import nearest
from llmdctl.schema.cel.errors import CompileError, UnsupportedError
from llmdctl.schema.expressions import Failure, WrongRule, wrong_rules
from llmdctl.schema.selectors import ATTRIBUTES, attributes_read, compile_selector
from llmdctl.schema.store import KindSchema
from llmdctl.schema.structural import UnusableSchemaError, read_structural

Located = tuple[Finding, Place]

CEL_RULES = (
    Rule(
        code="CEL001",
        severity=Severity.ERROR,
        title="the object breaks a rule of its CRD",
        why="the API server evaluates x-kubernetes-validations after the schema, and refuses the object",
        fix="change the field so that the rule holds; the finding quotes it",
        references=("k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel/validation.go",),
    ),
    Rule(
        code="CEL002",
        severity=Severity.ERROR,
        title="a validation rule of a CRD is no valid CEL",
        why="the API server compiles every rule when the CRD is created, and refuses the CRD",
        fix="mend the expression: it sees `self` with the fields of the schema, and must give a bool",
        references=("k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go",),
    ),
    Rule(
        code="CEL003",
        severity=Severity.ERROR,
        title="a device selector is no valid CEL",
        why="the API server compiles every selector and refuses the claim, template or class",
        fix="use device.driver, device.attributes[domain].name and device.capacity[domain].name, and give a bool",
        references=("k8s.io/dynamic-resource-allocation cel/compile.go",),
    ),
    Rule(
        code="CEL004",
        severity=Severity.WARNING,
        title="a device selector reads an attribute that its driver is not known to publish",
        why=(
            "an attribute that a device lacks is an error while devices are chosen: no device matches, "
            "and the pod stays pending"
        ),
        fix="use an attribute that the driver publishes; `kubectl get resourceslices -o yaml` lists them",
        references=("k8s.io/dynamic-resource-allocation cel/compile.go", "the drivers' ResourceSlices"),
    ),
)
_RULES = {rule.code: rule for rule in CEL_RULES}


@frozen
class Judged:
    """What the layer says of an object: findings, and why a rule could not be judged."""

    findings: list[Located]
    skipped: list[str]


class ExpressionLayer:
    """The layer for one Kubernetes minor."""

    def __init__(self, minor: str) -> None:
        self._minor = int(minor.partition(".")[2])

    def check(self, document: Document, obj: Any, schema: KindSchema) -> Judged:
        """The rules of a custom kind on an object that its schema accepts and that has its defaults."""
        findings, skipped = [], []
        for outcome in schema.expressions.check(obj) if schema.expressions else ():
            if isinstance(outcome, Failure):
                findings.append(_broken(document, outcome))
            else:
                skipped.append(outcome.reason)
        return Judged(findings, skipped)

    def built_in(self, document: Document) -> list[Located]:
        """CRDs and device claims, whose expressions the API server compiles."""
        api_version, kind, obj = document.ref.api_version, document.ref.kind, document.object
        group = api_version.rpartition("/")[0]
        if kind == "CustomResourceDefinition" and group == "apiextensions.k8s.io":
            return [_wrong(document, path, fault) for path, fault in _crd_faults(obj, self._minor)]
        if group == "resource.k8s.io" and kind in _CLAIMS:
            return list(self._selectors(document, obj))
        return []

    def _selectors(self, document: Document, obj: Any) -> Iterator[Located]:
        for path, text in _expressions(obj, ()):
            place = document.place(*path)
            try:
                compile_selector(text, self._minor)
            except CompileError as error:
                yield _report("CEL003", place, f"the selector does not compile: {error.message}")
            except UnsupportedError:
                continue
            else:
                yield from _attributes(place, text)


_CLAIMS = frozenset({"ResourceClaim", "ResourceClaimTemplate", "DeviceClass"})


def _broken(document: Document, failure: Failure) -> Located:
    place = document.place(*failure.path)
    why = f"{_RULES['CEL001'].why}; the rule: {_shortened(failure.rule)}"
    return _report("CEL001", place, f"{place.pointer or 'the object'}: {failure.message}", why)


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 300 else f"{words[:300]} ..."


def _wrong(document: Document, path: Path, fault: WrongRule) -> Located:
    return _report("CEL002", document.place(*path, *fault.path), f"the rule does not compile: {fault.message}")


def _crd_faults(obj: Any, minor: int) -> Iterator[tuple[Path, WrongRule]]:
    spec = obj.get("spec") if isinstance(obj, dict) else None
    versions = spec.get("versions") if isinstance(spec, dict) else None
    for index, version in enumerate(versions if isinstance(versions, list) else ()):
        schema = version.get("schema") if isinstance(version, dict) else None
        try:
            read = read_structural(schema.get("openAPIV3Schema") if isinstance(schema, dict) else None, "")
        except UnusableSchemaError:
            continue
        for fault in wrong_rules(read, minor):
            yield ("spec", "versions", index, "schema", "openAPIV3Schema"), fault


def _expressions(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every `selectors[].cel.expression` inside."""
    if isinstance(value, dict):
        cel = value.get("cel")
        if len(path) > 1 and path[-2] == "selectors" and isinstance(cel, dict):
            text = cel.get("expression")
            if isinstance(text, str) and text:
                yield (*path, "cel", "expression"), text
            return
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from _expressions(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _expressions(item, (*path, index))


def _attributes(place: Place, text: str) -> Iterator[Located]:
    for domain, name in attributes_read(text):
        known = ATTRIBUTES.get(domain)
        if known is not None and name not in known:
            close = nearest(name, sorted(known))
            hint = f"did you mean {close}? " if close else ""
            title = f"{domain} is not known to publish the attribute {name}"
            yield _report("CEL004", place, title, fix=f"{hint}{_RULES['CEL004'].fix}")
        elif known is None and domain.partition("/")[0] in ATTRIBUTES:
            base, _, attribute = domain.partition("/")
            title = f"{domain!r} is no domain: it holds the name of an attribute"
            yield _report("CEL004", place, title, fix=f'write device.attributes["{base}"].{attribute}')
        elif known is None and (close := nearest(domain, sorted(ATTRIBUTES))):
            title = f"no driver is known to publish attributes of {domain}"
            yield _report("CEL004", place, title, fix=f"did you mean {close}? {_RULES['CEL004'].fix}")


def _report(code: str, place: Place, title: str, why: str = "", fix: str = "") -> Located:
    return _RULES[code].finding(Hit(place, title, why, fix)), place
