"""Every code has a minimal bad example that gives just that code, and a good one that gives nothing."""

from __future__ import annotations

import pytest

from llmdctl.findings import Finding, Rule
from llmdctl.manifest import read_paths
from llmdctl.validate.pipeline import validate
from llmdctl.validate.registry import EXAMPLES, all_rules, example

RULES = list(all_rules())


def findings(rule: Rule, kind: str) -> tuple[Finding, ...]:
    reading = read_paths([str(EXAMPLES / rule.code / f"{kind}.yaml")])
    assert not reading.errors
    return validate(reading.documents, findings=reading.findings).findings


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_the_bad_example_shows_the_fault(rule: Rule) -> None:
    found = findings(rule, "bad")
    assert {finding.code for finding in found if not finding.root_cause} == {rule.code}
    for finding in found:
        assert finding.title
        assert finding.why
        assert finding.fix
        assert finding.source is not None and finding.source.line > 0


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_the_good_example_is_clean(rule: Rule) -> None:
    assert example(rule.code, "good")
    assert findings(rule, "good") == ()


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_a_code_is_explained(rule: Rule) -> None:
    assert rule.title and rule.why and rule.fix
    assert rule.references
