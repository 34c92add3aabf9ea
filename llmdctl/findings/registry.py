"""Rules and checks: one protocol, one registry. It drives the run, `explain`, `rules list`, the docs and the tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from llmdctl.findings.edit import Edit
from llmdctl.findings.frozen import frozen
from llmdctl.findings.model import Evidence, Finding, Severity
from llmdctl.findings.place import Place

CODE = re.compile(r"[A-Z]{3}[0-9]{3}")


@frozen
class Hit:
    """A rule's answer "this is wrong". What is left empty is taken from the rule.

    `edits` mend it together, where no other way to mend it makes sense (`validate --fix`).
    """

    at: Place
    title: str
    why: str = ""
    fix: str = ""
    evidence: tuple[Evidence, ...] = ()
    severity: Severity | None = None
    edits: tuple[Edit, ...] = ()


@frozen
class Skip:
    """A rule's answer "I can't tell", with the reason: never a pass."""

    reason: str
    at: Place | None = None


@frozen
class Unresolved:
    """A reference that leaves the input (open world): counted, listed on request, no effect on the exit code."""

    at: Place
    title: str


Outcome = Hit | Skip | Unresolved

Check = Callable[[Any], Iterable[Outcome]]
"""A rule's function: it gets what the registry's owner hands to rules, a View or facts."""


@frozen
class Rule:
    """What a code means. `check` gets what the registry's owner hands to rules (a View, or facts) and yields outcomes.

    `title` says the rule in general, `why` what happens at run time, `fix` what to do, `references` the facts it
    rests on. `needs` names what the input must hold for the rule to run (`pools`, `engines`, `logs`, ...);
    `since`/`until` bound the component versions it speaks of, for people; `implies` lists codes whose findings on the
    same object are consequences. `check` is None for codes that a layer reports by itself (YML, SCH, ADM).
    """

    code: str
    severity: Severity
    title: str
    why: str
    fix: str
    references: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()
    since: str = ""
    until: str = ""
    implies: tuple[str, ...] = ()
    check: Check | None = None

    def finding(self, hit: Hit) -> Finding:
        """The finding for one hit, completed from the rule."""
        return Finding(
            code=self.code,
            severity=hit.severity or self.severity,
            title=hit.title,
            object=hit.at.object,
            pointer=hit.at.pointer,
            source=hit.at.source,
            evidence=hit.evidence,
            why=hit.why or self.why,
            fix=hit.fix or self.fix,
            references=self.references,
            edits=hit.edits,
        )


class RuleRegistry:
    """All rules by code. A code is three letters and three digits, public, and never used twice."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}

    def add(self, rule: Rule) -> Rule:
        """Registers a rule. Raises ValueError on a malformed or used code: that is a bug of ours."""
        if not CODE.fullmatch(rule.code):
            raise ValueError(f"{rule.code!r} is not three capital letters and three digits")
        if rule.code in self._rules:
            raise ValueError(f"code {rule.code} is used twice")
        self._rules[rule.code] = rule
        return rule

    def get(self, code: str) -> Rule | None:
        """The rule of that code, or None."""
        return self._rules.get(code)

    def __iter__(self) -> Iterator[Rule]:
        return iter(sorted(self._rules.values(), key=lambda rule: rule.code))

    def __len__(self) -> int:
        return len(self._rules)
