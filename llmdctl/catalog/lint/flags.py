"""Engine flags that a catalog adds: some version of each engine that would get one must have it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from llmdctl.catalog.lint.problem import Problems
from llmdctl.catalog.model import Engine
from llmdctl.catalog.roots import EntryFile
from llmdctl.engines.tables import FlagTable, known_versions, load_table
from llmdctl.findings import Path
from llmdctl.manifest.typed import fields_of, nearest
from llmdctl.spec.model import Roles, SpecFields


def lint_flags(
    engines: Iterable[str], args: Mapping[str, Any], file: EntryFile, path: Path, problems: Problems
) -> None:
    """Reports flags that one of the engines has in no version; engines without a flag table pass everything."""
    for engine in engines:
        for name, fix in _unknown(_tables(engine), args):
            problems.at(file, (*path, name), f"no known version of {engine} has a flag --{name}", fix)


def lint_flags_of_any(
    engines: Collection[str], args: Mapping[str, Any], file: EntryFile, path: Path, problems: Problems
) -> None:
    """Reports flags that none of the engines has, where it stands open which of them will run."""
    by_engine = [_tables(engine) for engine in engines]
    if not all(by_engine):
        return  # an engine whose flags nobody wrote down may have any
    every = [table for tables in by_engine for table in tables]
    for name, fix in _unknown(every, args):
        problems.at(file, (*path, name), f"none of {', '.join(sorted(engines))} has a flag --{name}", fix)


def lint_event_flags(engine: Engine, file: EntryFile, problems: Problems) -> None:
    """Checks the flags by which an engine publishes KV-cache events."""
    events = engine.kv_events
    if events is None:
        return
    for key, name in (("blockFlag", events.block_flag), ("configFlag", events.config_flag)):
        for _, fix in _unknown(_tables(engine.name), {name: 1}):
            what = f"no known version of {engine.name} has a flag --{name}"
            problems.at(file, ("kvEvents", key), what, fix)
    lint_flags([engine.name], events.args, file, ("kvEvents", "args"), problems)
    for version, args in events.args_since.items():
        lint_flags([engine.name], args, file, ("kvEvents", "argsSince", version), problems)


def lint_default_flags(
    engines: Collection[str], defaults: SpecFields, file: EntryFile, path: Path, problems: Problems
) -> None:
    """Checks the engineArgs of all roles in a set of spec values; its own engine counts before `engines`."""
    chosen = [defaults.engine] if defaults.engine else engines
    for key, (field, _) in fields_of(Roles).items():
        role = getattr(defaults.roles, field.name, None)
        if role is not None and role.engine_args:
            lint_flags_of_any(chosen, role.engine_args, file, (*path, "roles", key, "engineArgs"), problems)


def has_table(engine: str) -> bool:
    """True for engines whose flags are known in some version."""
    return bool(known_versions(engine))


def _tables(engine: str) -> list[FlagTable]:
    return [table for version in known_versions(engine) if (table := load_table(engine, version)) is not None]


def _unknown(tables: list[FlagTable], args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in args if tables else ():
        if not any(table.canonical(name) for table in tables):
            close = nearest(name, {flag for table in tables for flag in table.flags})
            yield name, f"did you mean {close!r}?" if close else "see the engine's --help"
