"""Contributions: conditions that name known things, and parts that fit together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from llmdctl.catalog.lint.names import Names
from llmdctl.catalog.lint.problem import Problems
from llmdctl.catalog.model import Add, Engine, Entry, Scaled, When
from llmdctl.catalog.roots import EntryFile
from llmdctl.engines.tables import known_versions, load_table
from llmdctl.findings import Path
from llmdctl.manifest.typed import fields_of, nearest


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
        own = [entry.name] if isinstance(entry, Engine) else contribution.when.engine or []
        for engine in [own] if isinstance(own, str) else own:
            for name, fix in _unknown_flags(engine, contribution.add.engine_args or {}):
                what = f"no known version of {engine} has a flag --{name}"
                problems.at(file, (*path, "add", "engineArgs", name), what, fix)


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


def _unknown_flags(engine: str, args: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Engine flags that no version with a table has, each with a hint."""
    tables = [table for version in known_versions(engine) if (table := load_table(engine, version)) is not None]
    for name in args if tables else ():
        if not any(table.canonical(name) for table in tables):
            close = nearest(name, tables[-1].flags)
            yield name, f"did you mean {close!r}?" if close else "see the engine's --help"
