"""The structure layer: codes, examples, and agreement with what a real API server said."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmdctl.findings import Finding, Place, Severity, SourceRef
from llmdctl.manifest import read_paths
from llmdctl.manifest.document import Document
from llmdctl.schema import SchemaStore
from llmdctl.validate.structure import SCH_RULES, StructureResult, check_structure

EXAMPLES = Path(__file__).resolve().parents[2] / "llmdctl/validate/examples"
CODES = [rule.code for rule in SCH_RULES]


def check(obj: Any, store: SchemaStore | None = None) -> StructureResult:
    return check_structure(Document(obj, SourceRef("test.yaml")), store or SchemaStore())


def findings_of(path: Path, store: SchemaStore) -> list[tuple[Document, Finding, Place]]:
    """Every finding of a file, with the document it is in."""
    documents = read_paths([str(path)]).documents
    return [(document, *found) for document in documents for found in check_structure(document, store).findings]


@pytest.mark.parametrize("code", CODES)
def test_the_bad_example_has_exactly_its_code_and_the_good_one_nothing(code: str) -> None:
    store = SchemaStore()
    bad = findings_of(EXAMPLES / code / "bad.yaml", store)
    assert [finding.code for _, finding, _ in bad] == [code]
    assert findings_of(EXAMPLES / code / "good.yaml", store) == []


def test_a_finding_stands_alone() -> None:
    ((_, finding, place),) = findings_of(EXAMPLES / "SCH001" / "bad.yaml", SchemaStore())
    assert finding.severity is Severity.ERROR
    assert finding.title == 'unknown field "replica"; did you mean "replicas"?'
    assert finding.pointer == place.pointer == "spec.replica"
    assert 'unknown field "spec.replica"' in finding.why
    assert finding.fix == "write replicas"
    assert finding.object is not None
    assert (finding.object.kind, finding.object.name) == ("Deployment", "decode")


def test_an_unserved_version_says_what_is_served() -> None:
    obj = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "gpus"}}
    result = check(obj, SchemaStore("1.33"))
    ((finding, _),) = result.findings
    assert finding.code == "ADM001"
    assert finding.title.startswith("ResourceClaimTemplate resource.k8s.io/v1 is not served by Kubernetes 1.33")
    assert "1.34 to 1.37" in finding.title
    assert result.schema is None
    assert result.skipped


def test_an_unknown_kind_is_skipped_with_its_reason() -> None:
    result = check({"apiVersion": "example.com/v1", "kind": "Widget"})
    assert result.findings == []
    assert result.skipped == "no schema for example.com/v1 Widget"


@pytest.mark.parametrize(
    ("obj", "found"),
    [
        ({}, [("SCH003", "apiVersion"), ("SCH003", "kind")]),
        ({"apiVersion": "v1"}, [("SCH003", "kind")]),
        ({"apiVersion": 1, "kind": "Service"}, [("SCH002", "apiVersion")]),
        ([], [("SCH002", "")]),
        ("text", [("SCH002", "")]),
    ],
)
def test_an_object_without_identity_is_reported_not_guessed(obj: Any, found: list[tuple[str, str]]) -> None:
    result = check(obj)
    assert [(finding.code, finding.pointer) for finding, _ in result.findings] == found
    assert result.skipped


def test_the_object_comes_back_with_defaults_and_the_document_is_unchanged() -> None:
    obj = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "decode"},
        "spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [{"name": "engine"}]}}}},
    }
    before = json.dumps(obj)
    result = check(obj)
    assert result.findings == []
    assert result.schema is not None
    assert result.schema.custom
    assert result.object["spec"]["replicas"] == 1
    assert json.dumps(obj) == before


# What a Kubernetes 1.36.2 API server said of 24 objects and about 1,300 mistakes in them.


@cache
def records(path: Path) -> tuple[dict[str, Any], ...]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


@pytest.fixture(scope="module")
def verdicts(shared: Path) -> list[dict[str, Any]]:
    return list(records(shared / "corpus/server-verdicts/verdicts.jsonl.gz"))


@pytest.fixture(scope="module")
def store(shared: Path) -> SchemaStore:
    """Kubernetes 1.36 with the CRDs that the API server had."""
    store = SchemaStore("1.36")
    store.add_crds(definition for path in sorted((shared / "crds").glob("*.yaml")) for definition in loaded(path))
    return store


def loaded(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as text:
        yield from (document for document in yaml.load_all(text, yaml.CSafeLoader) if document)


def named_segment(message: str) -> str:
    """The last path segment that a decode error names, or "" when it names none (quantities)."""
    unknown = re.search(r'unknown field "([^"]+)"', message)
    typed = re.search(r"Go struct field \S*?\.?(\w*)\.? of type", message)
    path = unknown[1] if unknown else typed[1] if typed else ""
    return path.rpartition(".")[2]


def test_every_decode_error_is_found_and_named(verdicts: list[dict[str, Any]], store: SchemaStore) -> None:
    missed = []
    refused = [record for record in verdicts if record.get("status") == 400]
    for record in refused:
        findings = check(record["object"], store).findings
        segment = named_segment(record["message"])
        if not any(segment in re.split(r"[.\[\]]", finding.pointer) or not segment for finding, _ in findings):
            missed.append((record["id"], record["mutation"], record["path"], record["message"]))
    assert len(refused) > 400
    assert missed == []


def test_nothing_that_the_server_accepts_is_refused(verdicts: list[dict[str, Any]], store: SchemaStore) -> None:
    accepted = [record for record in verdicts if record["accepted"]]
    wrong = [
        (record["id"], record["mutation"], record["path"], [finding.title for finding, _ in findings])
        for record in accepted
        if (findings := check(record["object"], store).findings) and not filled_by_webhook(record)
    ]
    assert len(accepted) > 300
    assert wrong == []


def filled_by_webhook(record: dict[str, Any]) -> bool:
    """LWS's mutating webhook decodes into Go types and sends back zero values: a container without a name gets the name
    "", a null item becomes an empty one. The API server takes that, and creating the pods fails later, so the findings
    are kept although the server accepts."""
    lacks_name = record["mutation"] in ("delete", "empty-object", "null-item", "null")
    return record["object"]["kind"] == "LeaderWorkerSet" and lacks_name and "Template.spec" in record["path"]


def test_schema_rejections_of_custom_kinds_name_the_servers_field(
    verdicts: list[dict[str, Any]], store: SchemaStore
) -> None:
    by_schema = {"FieldValueTypeInvalid", "FieldValueRequired", "FieldValueNotSupported", "FieldValueDuplicate"}
    missed = []
    compared = 0
    for record in verdicts:
        causes = record.get("causes") or []
        fields = {
            cause["field"]
            for cause in causes
            if cause["reason"] in by_schema or re.search(r" in body (should|must)", cause["message"])
        } - {"<nil>"}
        result = check(record["object"], store)
        if not fields or result.schema is None or not result.schema.custom:
            continue
        compared += 1
        if not fields & {finding.pointer for finding, _ in result.findings}:
            missed.append((record["id"], record["mutation"], record["path"]))
    assert compared > 200
    # The webhook of LWS turns an absent pod template into one whose containers are null, which the schema then refuses.
    assert [miss for miss in missed if not miss[0].startswith("LeaderWorkerSet/")] == []
    assert len(missed) <= 6


@pytest.mark.parametrize("corpus", ["manifests-2026-06", "router-manifests"])
def test_manifests_nobody_here_wrote_have_no_finding_unless_the_server_refuses(
    corpus: str, shared: Path, store: SchemaStore
) -> None:
    folder = shared / "corpus" / corpus
    said = json.loads((folder / "server-verdicts.json").read_text(encoding="utf-8"))
    accepted = {(record["file"], record["object"]) for record in said if record["accepted"] or not record["status"]}
    wrong: list[tuple[str, ...]] = []
    checked = 0
    for path in sorted(folder.glob("*.yaml")):
        for document in read_paths([str(path)]).documents:
            result = check_structure(document, store)
            checked += result.schema is not None
            if (path.name, str(document.ref)) in accepted:
                wrong.extend((path.name, str(document.ref), one.title, one.pointer) for one, _ in result.findings)
    assert checked >= 0.9 * len(said)
    assert wrong == []
