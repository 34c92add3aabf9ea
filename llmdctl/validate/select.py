"""Which codes a run is about: `--rule` and `--skip` name codes and families."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.typed import nearest
from llmdctl.validate.registry import FAMILIES, all_rules


@frozen
class Selection:
    """Codes and families that are wanted (`only`; all when empty) and that are not (`skip`, which wins)."""

    only: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()

    def wants(self, code: str) -> bool:
        """True when findings of this code are asked for."""
        names = {code, code[:3]}
        return (not self.only or not self.only.isdisjoint(names)) and self.skip.isdisjoint(names)


def parse_selection(only: Sequence[str], skip: Sequence[str]) -> Selection:
    """Reads codes (`PRT004`) and families (`PRT`), in any case. Raises UserError for unknown ones."""
    known = {*FAMILIES, *(rule.code for rule in all_rules())}
    return Selection(_names(only, known), _names(skip, known))


def _names(values: Iterable[str], known: set[str]) -> frozenset[str]:
    names = []
    for value in values:
        name = value.strip().upper()
        if name not in known:
            close = nearest(name, sorted(known))
            fix = f"did you mean {close}? " if close else ""
            raise UserError(f"no rule or family is called {value!r}", fix=f"{fix}`llmdctl rules list` lists all codes")
        names.append(name)
    return frozenset(names)
