"""What names a catalog may use: its own entries, ours, and the choices of the stack's type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import get_args

from llmdctl.catalog.lint.problem import Problems
from llmdctl.catalog.load import Catalog
from llmdctl.catalog.model import Accelerator, Engine, Entry
from llmdctl.catalog.roots import EntryFile
from llmdctl.findings import Path, UserError
from llmdctl.manifest.typed import fields_of, nearest
from llmdctl.spec.model import Roles, SpecFields
from llmdctl.spec.paths import find_target, without_none

Loaded = tuple[Entry, EntryFile]

CHOICES = {
    "devices": "devices.mode",
    "workload": "workload",
    "router": "router.mode",
}
"""Conditions of `when` whose values are the choices of a spec field."""

OPEN = frozenset({"gateway"})
"""Conditions of `when` whose values are names of the cluster, which no catalog knows."""

KINDS = {
    "guide": "Guide",
    "engine": "Engine",
    "model": "Model",
    "accelerator": "Accelerator",
    "provider": "Provider",
}
"""Conditions of `when` whose values name entries."""


class Names:
    """Known names by condition of `when`; `release` and `acceleratorFamily` and `role` are among them."""

    def __init__(self, entries: Mapping[tuple[str, str], Loaded], releases: Iterable[str], fallback: Catalog) -> None:
        self._entries = entries
        self._releases = list(releases)
        self._fallback = fallback
        self._cache: dict[str, list[str]] = {}

    def known(self, what: str) -> list[str]:
        """All names that a condition may take."""
        if what not in self._cache:
            self._cache[what] = sorted(set(self._collect(what)))
        return self._cache[what]

    def check(self, what: str, name: str, file: EntryFile, path: Path, problems: Problems) -> None:
        """Reports a name that is not known."""
        if what in OPEN:
            return
        known = self.known(what)
        if name in known:
            return
        close = nearest(name, known)
        fix = f"did you mean {close!r}?" if close else "known: " + ", ".join(known)
        problems.at(file, path, f"there is no {what} {name!r}", fix)

    def check_defaults(self, defaults: SpecFields, file: EntryFile, path: Path, problems: Problems) -> None:
        """Checks the names in a set of spec values."""
        for what in ("engine", "accelerator", "provider", "release"):
            name = getattr(defaults, what)
            if name is not None:
                self.check(what, name, file, (*path, what), problems)
        transfer = defaults.kv_transfer
        if transfer is not None and transfer.connector is not None:
            self.check("transport", transfer.connector, file, (*path, "kvTransfer", "connector"), problems)

    def _collect(self, what: str) -> list[str]:
        if what in CHOICES:
            return [str(choice) for choice in get_args(without_none(find_target(CHOICES[what]).kind))]
        if what == "role":
            return list(fields_of(Roles))
        if what == "release":
            return self._releases + _quietly(lambda: list(self._fallback.images.releases))
        if what == "transport":
            engines = [entry for entry, _ in self._entries.values() if isinstance(entry, Engine)]
            theirs = _quietly(lambda: [name for entry in self._fallback.engines.values() for name in entry.connectors])
            return [name for entry in engines for name in entry.connectors] + theirs
        if what == "acceleratorFamily":
            own = [entry.family for entry, _ in self._entries.values() if isinstance(entry, Accelerator)]
            return own + _quietly(lambda: [entry.family for entry in self._fallback.accelerators.values()])
        kind = KINDS[what]
        own = [name for found, name in self._entries if found == kind]
        return own + _quietly(lambda: self._fallback.names(kind))


def _quietly(read: Callable[[], list[str]]) -> list[str]:
    """What the catalog behind the linted one knows; its own faults are reported when it is linted itself."""
    try:
        return read()
    except UserError:
        return []
