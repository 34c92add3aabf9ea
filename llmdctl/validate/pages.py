"""A rule's page: as text for the terminal, as data, and as Markdown for docs/rules."""

from __future__ import annotations

import difflib
import textwrap
from typing import Any

from llmdctl.findings import Rule, UserError
from llmdctl.manifest.typed import nearest
from llmdctl.validate.registry import FAMILIES, all_rules, example


def find_rule(code: str) -> Rule:
    """The rule of a code, in any letter case. Raises UserError, with the nearest code, for an unknown one."""
    rules = all_rules()
    rule = rules.get(code.upper())
    if rule is None:
        close = nearest(code.upper(), [item.code for item in rules])
        hint = f"did you mean {close}? " if close else ""
        raise UserError(
            f"there is no finding with the code {code!r}", fix=f"{hint}`llmdctl rules list` lists all codes"
        )
    return rule


def rule_data(rule: Rule) -> dict[str, Any]:
    """A rule as plain data."""
    return {
        "code": rule.code,
        "severity": str(rule.severity),
        "title": rule.title,
        "why": rule.why,
        "fix": rule.fix,
        "references": list(rule.references),
        "needs": sorted(rule.needs),
        "since": rule.since,
        "until": rule.until,
        "implies": list(rule.implies),
    }


def page_data(rule: Rule) -> dict[str, Any]:
    """A rule as plain data, with its examples."""
    return {**rule_data(rule), "bad": example(rule.code, "bad"), "good": example(rule.code, "good")}


def page_text(rule: Rule, *, examples: bool = False) -> str:
    """A rule's page for a terminal: the examples in full, or only the lines in which the bad one differs."""
    lines = [f"{rule.code} ({rule.severity}): {rule.title}", ""]
    for word, text in _facts(rule):
        lines.extend(textwrap.wrap(text, 100, initial_indent=f"{word:<11}", subsequent_indent=" " * 11))
    if not examples:
        return "\n".join([*lines, *_difference(rule)]) + "\n"
    for kind in ("bad", "good"):
        text = example(rule.code, kind)
        if text:
            lines += ["", f"{kind}:", textwrap.indent(text, "  ").rstrip("\n")]
    return "\n".join(lines) + "\n"


def _difference(rule: Rule) -> list[str]:
    """What turns the good example into the bad one, as a diff with some lines around it."""
    good, bad = (example(rule.code, kind).splitlines() for kind in ("good", "bad"))
    if not good or not bad:
        return []
    # The first two lines of a diff name files, of which there are none here.
    changes = list(difflib.unified_diff(good, bad, lineterm="", n=2))[2:]
    # Where lines are left out between two changes, that is shown.
    shown = [f"  {' ...' if line.startswith('@@') else line}" for line in changes][1:]
    return ["", "example    - right, + wrong (--examples shows both in full)", *shown]


def _facts(rule: Rule) -> list[tuple[str, str]]:
    facts = [("why", rule.why), ("fix", rule.fix), ("since", rule.since), ("until", rule.until)]
    facts += [("implies", ", ".join(rule.implies)), ("references", ", ".join(rule.references))]
    return [(word, text) for word, text in facts if text]


def page_markdown(rule: Rule) -> str:
    """A rule's page for docs/rules."""
    parts = [f"# {rule.code}: {rule.title}", f"Severity: {rule.severity}."]
    parts += [f"**{word.capitalize()}**: {text}" for word, text in _facts(rule)]
    for kind in ("bad", "good"):
        text = example(rule.code, kind)
        if text:
            parts.append(f"## {kind.capitalize()}\n\n```yaml\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def index_markdown() -> str:
    """docs/rules/README.md: every code by family."""
    parts = [_INTRODUCTION]
    for family, meaning in FAMILIES.items():
        rules = [rule for rule in all_rules() if rule.code.startswith(family)]
        rows = [f"| [{rule.code}]({rule.code}.md) | {rule.severity} | {rule.title} |" for rule in rules]
        if rows:
            table = ["| code | severity | what is wrong |", "|---|---|---|", *rows]
            parts.append("\n".join([f"## {family}: {meaning}", "", *table]))
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """# Rules

Made by `scripts/make_rule_pages.py` from the rules themselves; a test keeps them equal. `llmdctl explain CODE` prints
the same pages.

A finding can be ignored by an annotation on its object, with a reason:
`llmdctl.io/ignore: 'PRT004: the reason; KVT002: the reason'`, or, for manifests that are not yours, in `.llmdctl.yaml`:

```yaml
ignore:
- code: PRT004
  object: Deployment/decode-*
  reason: an admission webhook of ours sets the port
```

YML, SCH, CEL and ADM are what the API server refuses: an annotation does not change that, so they can only be ignored
in `.llmdctl.yaml`."""
