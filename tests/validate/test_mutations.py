"""Every rule across objects sees its fault in the stacks that we render, and what it drags along is folded under it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from mutate import STACKS, Mutation, NotHere, report_of

from llmdctl.findings import Severity
from llmdctl.validate.registry import all_rules

FOLDER = Path(__file__).parent / "mutations"

NOT_OURS: dict[str, str] = {}
"""Codes whose fault no stack of ours can have by a change of its objects, each with the reason."""


def _mutations() -> list[Mutation]:
    found: list[Mutation] = []
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        spec = importlib.util.spec_from_file_location(f"mutations_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += module.MUTATIONS
        NOT_OURS.update(getattr(module, "NOT_OURS", {}))
    return found


MUTATIONS = _mutations()


@pytest.mark.parametrize("stack", STACKS)
def test_an_unbroken_stack_has_no_finding(stack: str) -> None:
    assert report_of(stack).findings == ()


@pytest.mark.parametrize("mutation", [pytest.param(item, id=f"{item.code}-{i}") for i, item in enumerate(MUTATIONS)])
def test_a_broken_stack_shows_the_fault_and_nothing_else(mutation: Mutation) -> None:
    broken = 0
    for stack in STACKS:
        try:
            report = report_of(stack, mutation.change)
        except NotHere:
            continue
        broken += 1
        roots = {finding.code for finding in report.findings if not finding.root_cause}
        errors = {item.code for item in report.findings if not item.root_cause and item.severity is Severity.ERROR}
        assert mutation.code in roots, f"{stack}: {sorted(roots)}"
        assert errors <= {mutation.code, *mutation.also}, stack
    assert broken, "no stack has what this mutation breaks"


def test_every_rule_across_objects_is_tried() -> None:
    tried = {mutation.code for mutation in MUTATIONS}
    rules = {rule.code for rule in all_rules() if rule.check is not None}
    assert tried <= rules
    assert not tried & set(NOT_OURS)
    assert set(NOT_OURS) <= rules
    untried = sorted(rules - tried - set(NOT_OURS))
    assert not untried, "add a Mutation to tests/validate/mutations/<family>.py, or the reason to its NOT_OURS"
