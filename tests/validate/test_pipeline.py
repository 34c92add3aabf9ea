"""From documents to a report: coverage, open world, suppression, folding, positions, versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stacks import container, decode, deployment, documents, pool, prefill

from llmdctl.findings import Finding, ObjectRef, Report, Rule, RuleRegistry, Severity, SourceRef, UserError
from llmdctl.manifest import read_paths, read_text
from llmdctl.validate.folding import fold
from llmdctl.validate.pipeline import ValidateOptions, validate
from llmdctl.validate.registry import EXAMPLES, all_rules
from llmdctl.validate.suppress import load_ignores
from llmdctl.view import parse_version_options


def check(text: str, **options: Any) -> Report:
    """The report on YAML text."""
    reading = read_text(text, "-")
    return validate(
        reading.documents, ValidateOptions(**options), findings=reading.findings, texts={"-": text.encode()}
    )


def codes(report: Report) -> list[str]:
    """The codes of a report's findings, each once, without consequences of others."""
    return sorted({finding.code for finding in report.findings if not finding.root_cause})


def test_a_finding_has_line_column_and_evidence_with_a_line() -> None:
    path = str(EXAMPLES / "PRT004" / "bad.yaml")
    (finding,) = validate(read_paths([path]).documents).findings
    assert finding.source is not None
    assert (finding.source.line, finding.source.column) > (1, 1)
    (evidence,) = finding.evidence
    assert evidence.source is not None
    assert "--port=8200" in Path(path).read_text(encoding="utf-8").splitlines()[evidence.source.line - 1]


def test_positions_in_stdin() -> None:
    text = (EXAMPLES / "PRT002" / "bad.yaml").read_text(encoding="utf-8")
    finding = check(text).findings[0]
    assert finding.source is not None
    assert finding.source.line == 1 + text.splitlines().index("  targetPorts:")


def test_files_of_other_tools_are_counted_as_skipped_with_a_reason() -> None:
    text = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [a.yaml]
---
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins: []
---
apiVersion: llmdctl.io/v1alpha1
kind: InferenceStack
metadata: {name: x}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: x}
"""
    report = check(text)
    assert not report.findings
    assert (report.coverage.objects_total, report.coverage.objects_validated, report.coverage.objects_skipped) == (
        4,
        0,
        4,
    )
    reasons = {item.object.kind: item.reason for item in report.skipped if item.object}
    assert "kustomize" in reasons["Kustomization"]
    assert "endpoint picker" in reasons["EndpointPickerConfig"]
    assert "llmdctl" in reasons["InferenceStack"]
    assert "no schema" in reasons["Widget"]


def test_helm_values_are_skipped_but_an_object_without_kind_is_not() -> None:
    assert not check("replicas: 1\nimage: {tag: x}\n").findings
    assert codes(check("apiVersion: v1\nmetadata: {name: x}\n"))


def test_rules_whose_needs_are_absent_are_skipped_with_the_reason() -> None:
    report = validate(documents(deployment("d", container(["m"]))))
    reasons = {item.code: item.reason for item in report.skipped}
    assert reasons["LBL001"] == "the input has no InferencePool"
    assert "prefill and decode" in reasons["KVT001"]
    view_rules = [rule for rule in all_rules() if rule.check]
    assert report.coverage.rules_run + report.coverage.rules_skipped == len(view_rules)


def test_a_reason_is_listed_once_a_rule() -> None:
    workloads = [decode(proxy=("--port=8000",)) for _ in range(3)]
    for index, workload in enumerate(workloads):
        workload["metadata"]["name"] = f"d{index}"
        workload["spec"]["template"]["spec"]["initContainers"][0]["image"] = "llm-d-router-disagg-sidecar:main"
    report = validate(documents(*workloads))
    assert len([item for item in report.skipped if item.code == "PRT004"]) == 1


def test_open_and_closed_world() -> None:
    assert not validate(documents(pool())).findings
    # Neither the pods nor the picker's Service are there.
    assert len(validate(documents(pool())).unresolved) == 2
    assert codes(validate(documents(pool()), ValidateOptions(complete=True))) == ["LBL001", "LBL014"]


def test_stated_versions_decide_what_images_do_not_tell() -> None:
    workload = decode(proxy=("--port=8000", "--kv-connector=nixlv2"))
    workload["spec"]["template"]["spec"]["initContainers"][0]["image"] = "ours/llm-d-router-disagg-sidecar:custom"
    assert codes(validate(documents(workload), ValidateOptions(versions=parse_version_options(["sidecar@0.9.0"])))) == [
        "PRT004"
    ]
    assert not validate(
        documents(workload), ValidateOptions(versions=parse_version_options(["sidecar@0.10.0"]))
    ).findings


def test_model_facts_come_from_the_catalog() -> None:
    sides = prefill("--tensor-parallel-size=16"), decode("--tensor-parallel-size=8")
    report = validate(documents(pool(), *sides))
    assert codes(report) == ["KVT004"]


def annotated(text: str) -> dict[str, Any]:
    """A Deployment with a PRT004 fault and this ignore annotation."""
    workload = decode(proxy=("--port=8000", "--vllm-port=8300", "--kv-connector=nixlv2"))
    workload["metadata"]["annotations"] = {"llmdctl.io/ignore": text}
    return workload


def test_an_annotation_with_a_reason_suppresses() -> None:
    report = validate(documents(annotated("PRT004: a webhook sets it; KVT002: not now")))
    assert not report.findings
    assert [(item.finding.code, item.by, item.reason) for item in report.suppressed] == [
        ("PRT004", "annotation", "a webhook sets it")
    ]


@pytest.mark.parametrize("text", ["PRT004", "PRT004:", "PRT004:  ;", "PRT999: why", "nonsense", "SCH001: why"])
def test_an_annotation_that_can_not_count_suppresses_nothing_and_is_reported(text: str) -> None:
    report = validate(documents(annotated(text)))
    assert codes(report) == ["IGN001", "PRT004"]
    assert not report.suppressed


def test_what_the_server_refuses_is_not_suppressed_by_annotation() -> None:
    text = """
apiVersion: v1
kind: ConfigMap
metadata: {name: x, annotations: {llmdctl.io/ignore: 'SCH001: we know'}}
dta: {}
"""
    assert codes(check(text)) == ["IGN001", "SCH001"]


def test_an_ignore_file_suppresses_by_object(tmp_path: Path) -> None:
    path = tmp_path / ".llmdctl.yaml"
    path.write_text("ignore:\n- {code: PRT004, object: Deployment/dec*, reason: not ours}\n", encoding="utf-8")
    workload = decode(proxy=("--port=8000", "--vllm-port=8300", "--kv-connector=nixlv2"))
    report = validate(documents(workload), ValidateOptions(ignores=load_ignores(str(path))))
    assert not report.findings
    assert [(item.finding.code, item.by, item.reason) for item in report.suppressed] == [("PRT004", "file", "not ours")]
    workload["metadata"]["name"] = "other"
    assert codes(validate(documents(workload), ValidateOptions(ignores=load_ignores(str(path))))) == ["PRT004"]


@pytest.mark.parametrize(
    "text",
    [
        "ignore: 1",
        "ignore: [{code: PRT004}]",
        "ignore: [{code: PRT4, reason: x}]",
        "ignore: [{code: PRT004, reason: ' '}]",
        "x: 1",
    ],
)
def test_an_ignore_file_of_another_shape(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ignore.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError):
        load_ignores(str(path))


def test_what_a_fault_drags_along_is_folded_under_it() -> None:
    """An engine without --port listens on the sidecar's port: one fault, seen twice."""
    workload = decode()
    engine = workload["spec"]["template"]["spec"]["containers"][0]
    engine["args"] = [word for word in engine["args"] if not word.startswith("--port")]
    report = validate(documents(workload))
    assert codes(report) == ["PRT004"]
    by_code = {finding.code: finding for finding in report.findings}
    assert by_code["PRT005"].root_cause == by_code["PRT004"].fingerprint
    assert by_code["PRT004"].explains == (by_code["PRT005"].fingerprint,)


@pytest.mark.parametrize("ports", [(), tuple(range(8000, 8009))], ids=["none", "nine"])
def test_what_the_schema_says_of_the_same_field_is_folded(ports: tuple[int, ...]) -> None:
    report = validate(documents(pool(ports=ports)))
    assert codes(report) == ["PRT002"]
    assert any(item.code.startswith("SCH") and item.root_cause for item in report.findings)


def finding(code: str, name: str, pointer: str = "spec") -> Finding:
    """A finding for folding."""
    return Finding(code, Severity.ERROR, "t", ObjectRef("v1", "X", "", name), pointer, SourceRef("f"))


def test_folding_stays_inside_an_object_and_for_the_server_inside_a_field() -> None:
    rules = RuleRegistry()
    rules.add(Rule("AAA001", Severity.ERROR, "t", "w", "f", implies=("BBB001", "SCH004")))
    found = fold(
        [
            finding("AAA001", "a"),
            finding("BBB001", "a", "metadata"),
            finding("BBB001", "b"),
            finding("SCH004", "a", "spec.x[0]"),
            finding("SCH004", "a", "specs"),
        ],
        rules,
    )
    assert [bool(item.root_cause) for item in found] == [False, True, False, True, False]


def test_crds_of_the_input_are_used() -> None:
    crd = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
"""
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\nspec: {size: big}\n"
    assert codes(check(f"{crd}---\n{widget}")) == ["SCH002"]
    given = read_text(crd, "crd.yaml").documents
    assert codes(check(widget, crds=given)) == ["SCH002"]
    assert not check(widget).findings


PLACEHOLDERS = {"REPLACE_MODEL_SERVER_IMAGE", "REPLACE_ROUTING_SIDECAR_IMAGE", "REPLACE_ENCODER_IMAGE"}


@pytest.mark.parametrize("corpus", ["manifests-2026-06", "router-manifests"])
def test_the_rules_raise_no_false_alarm_on_manifests_nobody_here_wrote(shared: Path, corpus: str) -> None:
    """Errors only where the corpora's READMEs say so: an image REPLACE_..., here in one abstract base."""
    reading = read_paths([str(path) for path in sorted((shared / "corpus" / corpus).glob("*.yaml"))])
    report = validate(reading.require(), findings=reading.findings)
    rule_codes = {rule.code for rule in all_rules() if rule.check}
    errors = [item for item in report.findings if item.code in rule_codes and item.severity is Severity.ERROR]
    assert {item.title.partition(" ")[0] for item in errors if item.code == "IMG003"} <= PLACEHOLDERS
    files = {Path(item.source.file).name for item in errors if item.source and item.code != "IMG003"}
    assert files <= {"guides_pd-disaggregation_modelserver_tpu_base_vllm.yaml"}
