"""docs/rules is what the rules say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from llmdctl.findings import Rule, Severity
from llmdctl.validate.pages import index_markdown, page_markdown, page_text
from llmdctl.validate.registry import FAMILIES, all_rules


def test_the_pages_are_up_to_date(root: Path) -> None:
    script = root / "scripts" / "make_rule_pages.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_family_is_described() -> None:
    assert {rule.code[:3] for rule in all_rules()} <= set(FAMILIES)


@pytest.mark.parametrize("rule", list(all_rules()), ids=lambda rule: rule.code)
def test_the_page_in_docs_says_what_the_rule_says(rule: Rule, root: Path) -> None:
    page = (root / "docs" / "rules" / f"{rule.code}.md").read_text(encoding="utf-8")
    assert page == page_markdown(rule)
    text = page_text(rule, examples=True)
    assert text.startswith(f"{rule.code} ({rule.severity}): {rule.title}\n")
    # Title, why, fix: in this order, before any example.
    words = [line.split(" ")[0] for line in text.partition("\nbad:")[0].splitlines() if line and line[0] != " "]
    assert words[:3] == [rule.code, "why", "fix"]


def test_the_index_lists_every_code_under_its_family(root: Path) -> None:
    index = (root / "docs" / "rules" / "README.md").read_text(encoding="utf-8")
    assert index == index_markdown()
    for rule in all_rules():
        section = index.partition(f"## {rule.code[:3]}: ")[2].partition("\n## ")[0]
        assert f"| [{rule.code}]({rule.code}.md) | {rule.severity} | {rule.title} |" in section


def test_a_rule_without_examples_has_a_page_of_facts_only() -> None:
    rule = Rule("ZZZ999", Severity.INFO, "a title", "a why", "a fix", since="vllm 0.30")
    text = "ZZZ999 (info): a title\n\nwhy        a why\nfix        a fix\nsince      vllm 0.30\n"
    assert page_text(rule) == page_text(rule, examples=True) == text
    assert page_markdown(rule).endswith("**Fix**: a fix\n\n**Since**: vllm 0.30\n")
