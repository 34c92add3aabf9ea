"""Contributions: conditions that name known things, and parts that fit together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from llmdctl.catalog.lint.flags import has_table, lint_flags, lint_flags_of_any
from llmdctl.catalog.lint.names import Names
from llmdctl.catalog.lint.problem import Problems
from llmdctl.catalog.model import Add, Contribution, Engine, Entry, Scaled, When
from llmdctl.catalog.roots import EntryFile
from llmdctl.findings import Path
from llmdctl.manifest.typed import fields_of


def lint_when(when: When, file: EntryFile, path: Path, names: Names, problems: Problems) -> None:
    """Every value of a condition must be a known name."""
    for key, (field, _) in fields_of(When).items():
        wanted = getattr(when, field.name)
        if isinstance(wanted, str):
            names.check(key, wanted, file, (*path, key), problems)
        for index, name in enumerate(wanted if isinstance(wanted, list) else []):
            names.check(key, name, file, (*path, key, index), problems)


def volume_names(entry: Entry) -> set[str]:
    """Names of the volumes that an entry may bring into a pod."""
    found = {str(volume.get("name")) for added in entry.contributions for volume in added.add.volumes or []}
    if isinstance(entry, Engine):
        found |= set(entry.writable_paths)
    return found


def lint_contributions(entry: Entry, file: EntryFile, volumes: set[str], names: Names, problems: Problems) -> None:
    """Checks all contributions of an entry; `volumes` are those that it or an engine brings."""
    for index, contribution in enumerate(entry.contributions):
        path: Path = ("contributions", index)
        lint_when(contribution.when, file, (*path, "when"), names, problems)
        for inner, what in _faults(contribution.add, volumes):
            problems.at(file, (*path, "add", *inner), what)
        _lint_engine_args(entry, contribution, file, (*path, "add", "engineArgs"), names, problems)


def _lint_engine_args(
    entry: Entry, contribution: Contribution, file: EntryFile, path: Path, names: Names, problems: Problems
) -> None:
    args = contribution.add.engine_args or {}
    own = entry.name if isinstance(entry, Engine) else contribution.when.engine
    if own:
        lint_flags([own] if isinstance(own, str) else own, args, file, path, problems)
    else:
        lint_flags_of_any([name for name in names.known("engine") if has_table(name)], args, file, path, problems)


def _faults(add: Add, volumes: set[str]) -> Iterator[tuple[Path, str]]:
    yield from _env(add.env or [])
    yield from _unique("volumes", [volume.get("name") for volume in add.volumes or []])
    yield from _unique("mounts", [mount.get("mountPath") for mount in add.mounts or []])
    for index, volume in enumerate(add.volumes or []):
        # A source that is null takes away what another entry brings under that name.
        if len([key for key, value in volume.items() if value is not None]) != 2:
            yield ("volumes", index), "a volume has a name and exactly one source"
    for index, mount in enumerate(add.mounts or []):
        if mount.get("name") not in volumes:
            yield ("mounts", index, "name"), f"no volume {mount.get('name')!r} is contributed here or by an engine"
    yield from _claims(add)
    for side in ("requests", "limits"):
        for name, amount in (getattr(add.resources, side, None) or {}).items():
            if isinstance(amount, Scaled):
                yield from _scaled(amount, ("resources", side, name))


def _env(env: list[dict[str, Any]]) -> Iterator[tuple[Path, str]]:
    yield from _unique("env", [variable.get("name") for variable in env])
    for index, variable in enumerate(env):
        sources = [key for key in ("value", "valueFrom") if variable.get(key) is not None]
        unknown = set(variable) - {"name", "value", "valueFrom"}
        if unknown:
            yield ("env", index, sorted(unknown)[0]), "a variable has name, and value or valueFrom"
        elif len(sources) > 1:
            yield ("env", index), "value and valueFrom exclude each other"
        elif sources == ["value"] and not isinstance(variable["value"], str):
            yield ("env", index, "value"), "a variable's value is text: put it in quotes"


def _claims(add: Add) -> Iterator[tuple[Path, str]]:
    yield from _unique("claims", [claim.name for claim in add.claims or []])
    for index, claim in enumerate(add.claims or []):
        if isinstance(claim.count, Scaled):
            yield from _scaled(claim.count, ("claims", index, "count"))
        if not claim.requests and claim.compute_domain is None:
            yield ("claims", index, "requests"), "a claim requests at least one device"


def _scaled(amount: Scaled, path: Path) -> Iterator[tuple[Path, str]]:
    given = [value for value in (amount.per_accelerator, amount.per_rank, amount.per_role) if value is not None]
    if len(given) != 1:
        yield path, "exactly one of perAccelerator, perRank and perRole scales a quantity"


def _unique(field: str, keys: Iterable[Any]) -> Iterator[tuple[Path, str]]:
    seen: set[Any] = set()
    for index, key in enumerate(keys):
        if not isinstance(key, str) or not key:
            yield (field, index), "an item of this list needs its name (mounts: its mountPath)"
        elif key in seen:
            yield (field, index), f"{key!r} stands in the list twice"
        seen.add(key if isinstance(key, str) else None)
