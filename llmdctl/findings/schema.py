"""The published JSON Schema of a report (report.llmdctl.io/v1): what `-o json` and `-o yaml` write."""

from __future__ import annotations

from typing import Any

from llmdctl.findings.edit import Op
from llmdctl.findings.model import Severity
from llmdctl.findings.report import SuppressedBy

REPORT_SCHEMA_ID = "https://llmdctl.io/schemas/report-v1.json"

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_CODE = {"type": "string", "pattern": "^[A-Z]{3}[0-9]{3}$"}
_PRINT = {"type": "string", "pattern": "^[0-9a-f]{16}$"}


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12). A new field is no new version; a field that changes its meaning or goes is."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": REPORT_SCHEMA_ID,
        "title": "Report (report.llmdctl.io/v1)",
        **_object(
            {
                "apiVersion": {"const": "report.llmdctl.io/v1"},
                "kind": {"const": "Report"},
                "tool": _object({"name": {"const": "llmdctl"}, "version": _TEXT}),
                "target": _object({"kubeVersion": _TEXT, "release": _TEXT, "complete": {"type": "boolean"}}),
                "summary": _object(
                    dict.fromkeys(
                        (
                            *("errors", "warnings", "infos", "skipped", "suppressed", "unresolved"),
                            *("stale", "hidden"),
                        ),
                        _COUNT,
                    )
                ),
                "coverage": _object(
                    {
                        "objects": _object(dict.fromkeys(("total", "validated", "skipped"), _COUNT)),
                        "rules": _object(dict.fromkeys(("run", "skipped", "deselected"), _COUNT)),
                    }
                ),
                "skipped": _list("#/$defs/skippedCheck"),
                "suppressed": _list("#/$defs/suppressed"),
                "unresolved": _list("#/$defs/finding"),
                "stale": _list("#/$defs/stale"),
                "findings": _list("#/$defs/finding"),
            }
        ),
        "$defs": _definitions(),
    }


def _definitions() -> dict[str, Any]:
    by = {"enum": [str(item) for item in SuppressedBy]}
    return {
        "finding": _object(_finding()),
        "suppressed": _object({**_finding(), "suppression": _object({"by": by, "reason": _TEXT})}),
        "stale": _object({"by": by, "code": _CODE, "object": _TEXT, "about": _TEXT}),
        "skippedCheck": _object(
            {
                "code": {**_TEXT, "description": "A rule's code, or SCH for an object that was not checked."},
                "object": _or_null("#/$defs/object"),
                "source": _or_null("#/$defs/source"),
                "reason": _TEXT,
            }
        ),
        "object": _object(dict.fromkeys(("apiVersion", "kind", "namespace", "name"), _TEXT)),
        "source": _object(
            {
                "file": _TEXT,
                "line": {**_COUNT, "description": "From 1; 0 when it is not known."},
                "column": {**_COUNT, "description": "In characters, from 1; 0 when it is not known."},
                "document": {**_COUNT, "description": "YAML document in the file, from 0."},
                "template": {**_TEXT, "description": "File that the text was rendered from, where that is told."},
            }
        ),
        "edit": _object(
            {
                "op": {"enum": [str(item) for item in Op]},
                "object": {"$ref": "#/$defs/object"},
                "pointer": _TEXT,
                "file": _TEXT,
                "value": {"description": "What is put there, or the new name of the key."},
            }
        ),
        "evidence": _object({"text": _TEXT, "source": _or_null("#/$defs/source")}),
    }


def _finding() -> dict[str, Any]:
    return {
        "code": _CODE,
        "severity": {"enum": [str(item) for item in Severity]},
        "title": _TEXT,
        "object": _or_null("#/$defs/object"),
        "pointer": {**_TEXT, "description": "Dotted path, as the API server writes it."},
        "source": _or_null("#/$defs/source"),
        "evidence": _list("#/$defs/evidence"),
        "why": _TEXT,
        "fix": _TEXT,
        "docs": _TEXT,
        "references": {"type": "array", "items": _TEXT},
        "rootCause": {"type": "string", "description": "Fingerprint of the cause; empty for a cause."},
        "explains": {"type": "array", "items": _PRINT},
        "edits": _list("#/$defs/edit"),
        "fingerprint": {**_PRINT, "description": "Stays while the same fault stays at the same field."},
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    # Readers must let new fields pass; the tests close the schema when they compare it with what is written.
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(reference: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": reference}}


def _or_null(reference: str) -> dict[str, Any]:
    return {"anyOf": [{"$ref": reference}, {"type": "null"}]}
