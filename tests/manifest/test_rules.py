from __future__ import annotations

from llmdctl.findings import RuleRegistry, Severity
from llmdctl.manifest import YML_RULES, read_text


def test_rules_are_complete_and_match_what_the_reader_reports() -> None:
    registry = RuleRegistry()
    for rule in YML_RULES:
        registry.add(rule)
        assert rule.severity is Severity.ERROR
        assert rule.check is None
        assert all((rule.title, rule.why, rule.fix, rule.references))
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, name: a}\n"
    found = {finding.code for finding in read_text(f"{pod}---\n{pod}---\n- x\n", "f").findings}
    assert found == {rule.code for rule in registry}
