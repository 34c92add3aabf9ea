"""The structure layer: does an object fit the strict schema of its kind, as an API server decodes and validates it?"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from llmdctl.findings import Edit, Finding, Hit, Place, Rule, Severity
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.document import Document
from llmdctl.schema import KindSchema, SchemaStore, Unserved, Violation

_API_SERVER = "kube-apiserver with fieldValidation=Strict, as kubectl asks for"
_STRUCTURAL = "apiextensions-apiserver, structural schemas"

SCH_RULES: tuple[Rule, ...] = (
    Rule(
        code="SCH001",
        severity=Severity.ERROR,
        title="unknown field",
        why="the API server refuses fields that the schema does not have; where validation is lax it drops them, and "
        "the setting never takes effect",
        fix="correct the name or its place; field names are case-sensitive",
        references=(_API_SERVER,),
    ),
    Rule(
        code="SCH002",
        severity=Severity.ERROR,
        title="value of the wrong type",
        why="the API server cannot decode the object and refuses it as a whole",
        fix="write the value in the type that the schema asks for; text that looks like a number or a boolean needs "
        "quotes",
        references=(_API_SERVER,),
    ),
    Rule(
        code="SCH003",
        severity=Severity.ERROR,
        title="missing required field",
        why="the schema requires the field; null counts as missing",
        fix="add the field",
        references=(_API_SERVER,),
    ),
    Rule(
        code="SCH004",
        severity=Severity.ERROR,
        title="value that the schema does not allow",
        why="the schema bounds the value by an enumeration, a pattern, a range, a length, a format or a combination of "
        "schemas",
        fix="use a value that the schema allows",
        references=(_STRUCTURAL,),
    ),
    Rule(
        code="SCH005",
        severity=Severity.ERROR,
        title="duplicate item in a set or a map list",
        why="items of this list are told apart by their keys, and the API server refuses two with the same",
        fix="remove one of the items, or give it another key",
        references=(_STRUCTURAL, "x-kubernetes-list-type: set and map"),
    ),
    Rule(
        code="ADM001",
        severity=Severity.ERROR,
        title="kind or version that the cluster does not serve",
        why='the API server answers "no matches for kind"',
        fix="use a version that is served, or say which Kubernetes the cluster runs",
        references=("OpenAPI of Kubernetes 1.33 to 1.37; spec.versions[].served of the CRD",),
        implies=("SCH001", "SCH002", "SCH003", "SCH004", "SCH005"),
    ),
)
"""The codes that this layer reports by itself."""

_RULES = {rule.code: rule for rule in SCH_RULES}
_CODES = {"unknown": "SCH001", "type": "SCH002", "null": "SCH002", "required": "SCH003", "duplicate": "SCH005"}


@frozen
class StructureResult:
    """What the layer says of one object.

    `object` has the defaults of its custom kind filled in; `skipped` is the reason why nothing could be said, or "".
    """

    findings: list[tuple[Finding, Place]] = field(default_factory=list)
    object: Any = None
    schema: KindSchema | None = None
    skipped: str = ""


def check_structure(document: Document, store: SchemaStore) -> StructureResult:
    """Checks one object against the schema of its kind."""
    ref = document.ref
    if not ref.api_version or not ref.kind:
        return StructureResult(_identity_findings(document), document.object, None, "no apiVersion and kind")
    schema = store.lookup(ref.api_version, ref.kind)
    if schema is None:
        return StructureResult([], document.object, None, store.why_unknown(ref.api_version, ref.kind))
    if isinstance(schema, Unserved):
        finding = _unserved_finding(document, schema, store)
        return StructureResult([finding], document.object, None, f"{ref.api_version} {ref.kind} is not served")
    result = schema.check(document.object)
    findings = [_finding(document, violation, schema) for violation in result.violations]
    return StructureResult(findings, result.object, schema)


def _identity_findings(document: Document) -> list[tuple[Finding, Place]]:
    if not isinstance(document.object, dict):
        return [_report("SCH002", document.place(), "the object must be a map")]
    found = []
    for key in ("apiVersion", "kind"):
        value = document.object.get(key)
        if value is None or value == "":
            found.append(_report("SCH003", document.place(key), f"required field {key} is missing"))
        elif not isinstance(value, str):
            found.append(_report("SCH002", document.place(key), f"{key} must be a string"))
    return found


def _finding(document: Document, violation: Violation, schema: KindSchema) -> tuple[Finding, Place]:
    code = _CODES.get(violation.kind, "SCH004")
    suggestion = violation.suggestion
    # A summary that already carries the suggestion says enough in its title.
    fix = f"write {suggestion}" if suggestion else ""
    # Sound objects need none of it.
    from llmdctl.validate.mending import edits_for

    place = document.place(*violation.path)
    why = f"the API server: {violation.message}"
    return _report(code, place, violation.summary, why, fix, edits_for(document, violation, schema))


def _unserved_finding(document: Document, schema: Unserved, store: SchemaStore) -> tuple[Finding, Place]:
    title = f"{schema.kind} {schema.api_version} is not served by {schema.by}: {schema.served_in}"
    from llmdctl.validate.mending import edits_for_version

    edits = edits_for_version(document, schema, store)
    return _report("ADM001", document.place("apiVersion"), title, edits=edits)


def _report(
    code: str, place: Place, title: str, why: str = "", fix: str = "", edits: tuple[Edit, ...] = ()
) -> tuple[Finding, Place]:
    rule = _RULES[code]
    return rule.finding(Hit(place, title, f"{rule.why}; {why}" if why else "", fix, edits=edits)), place
