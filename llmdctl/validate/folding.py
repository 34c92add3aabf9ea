"""Folding: what a fault drags along is listed under it (`implies`), so that one fault reads as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from llmdctl.findings import Finding, ObjectRef, RuleRegistry

_SERVER = ("SCH", "CEL", "ADM")


def fold(findings: Sequence[Finding], rules: RuleRegistry) -> list[Finding]:
    """The findings, with `root_cause` and `explains` set where a rule's `implies` names another's code.

    Both must stand in the same object; what a server layer says must also stand at the same field or inside it.
    """
    implied = {rule.code: rule.implies for rule in rules if rule.implies}
    if not any(finding.code in implied for finding in findings):
        return list(findings)
    by_object: dict[tuple[ObjectRef | None, str], list[int]] = defaultdict(list)
    for index, finding in enumerate(findings):
        by_object[_where(finding)].append(index)
    causes: dict[int, str] = {}
    explains: dict[int, list[str]] = defaultdict(list)
    for index, root in enumerate(findings):
        for other in by_object[_where(root)] if root.code in implied else ():
            if other not in causes and _follows(findings[other], root, implied[root.code]):
                causes[other] = root.fingerprint
                explains[index].append(findings[other].fingerprint)
    return [
        replace(finding, root_cause=causes.get(index, ""), explains=tuple(dict.fromkeys(explains.get(index, ()))))
        if index in causes or index in explains
        else finding
        for index, finding in enumerate(findings)
    ]


def _where(finding: Finding) -> tuple[ObjectRef | None, str]:
    return finding.object, finding.source.file if finding.source else ""


def _follows(finding: Finding, root: Finding, implied: tuple[str, ...]) -> bool:
    if finding.code not in implied:
        return False
    if finding.code[:3] not in _SERVER:
        return True
    return finding.pointer == root.pointer or finding.pointer.startswith((f"{root.pointer}.", f"{root.pointer}["))
