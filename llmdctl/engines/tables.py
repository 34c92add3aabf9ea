"""Flag tables: what flags an engine version has. Data in `data/`, made by scripts/make_flag_table.py."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version

DATA = Path(__file__).resolve().parent / "data"

DASHED_BOOL_ENGINES = frozenset({"vllm"})
"""Engines whose switches also have a `--no-` form (argparse.BooleanOptionalAction)."""

VERBATIM_ENGINES = frozenset({"trtllm"})
"""Engines that take a flag only as it is spelt, with underscores and never abbreviated (click)."""


def spelt(engine: str, name: str) -> str:
    """A flag's name without dashes in front, with the engine's own separators."""
    bare = name.lstrip("-")
    return bare.replace("-", "_") if engine in VERBATIM_ENGINES else bare.replace("_", "-")


@frozen
class Flag:
    """A command-line flag. `kind`: bool, int, float, str, enum, enum-open, list, json or unknown.

    `name` has no dashes in front; `choices` are those of an enum (open ones take other text too).
    """

    name: str
    kind: str
    choices: tuple[str, ...] = ()
    default: str = ""
    aliases: tuple[str, ...] = ()


@frozen
class FlagTable:
    """All flags of one engine version, and for vLLM what its JSON flags and environment hold.

    `complete` is False when the source that was read is older than the version, which may have more flags.
    """

    engine: str
    version: str
    flags: Mapping[str, Flag]
    kv_connectors: tuple[str, ...] = ()
    kv_transfer_fields: Mapping[str, str] = field(default_factory=dict)
    kv_events_fields: Mapping[str, str] = field(default_factory=dict)
    env: frozenset[str] = frozenset()
    complete: bool = True

    def flag(self, written: str) -> Flag | None:
        """The flag that a name means: dashes in front or not, underscores for dashes, an alias, a `--no-` form.

        A dotted name (`--kv-transfer-config.kv_role`) means the flag before the first dot when that is JSON.
        """
        return self.flags.get(self.canonical(written) or "")

    def canonical(self, written: str) -> str | None:
        """The flag's own name, or None when this version has no such flag."""
        if self.engine in VERBATIM_ENGINES:
            return self._lookup().get(written.lstrip("-"))
        name = spelt(self.engine, written)
        head, dot, _ = name.partition(".")
        for candidate in (name, head) if dot else (name,):
            found = self._lookup().get(candidate)
            if found is not None and (candidate == name or self.flags[found].kind == "json"):
                return found
        if self.engine in DASHED_BOOL_ENGINES and name.startswith("no-"):
            found = self._lookup().get(name[3:])
            if found is not None and self.flags[found].kind == "bool":
                return found
        return self._abbreviated(name)

    def _abbreviated(self, name: str) -> str | None:
        """argparse takes a beginning that only one flag has: SGLang's `--tp` is `--tp-size`."""
        if len(name) < 2 or name.startswith("no-"):
            return None
        starting = {flag for written, flag in self._lookup().items() if written.startswith(name)}
        return starting.pop() if len(starting) == 1 else None

    def _lookup(self) -> Mapping[str, str]:
        return _names(self.engine, self.version)


@cache
def _names(engine: str, version: str) -> Mapping[str, str]:
    table = load_table(engine, version)
    if table is None:
        return {}
    names = {alias: flag.name for flag in table.flags.values() for alias in flag.aliases}
    return {**names, **{name: name for name in table.flags}}


def known_versions(engine: str) -> list[str]:
    """Versions that have a table, oldest first."""
    stems = [path.name.removesuffix(".json").removeprefix(f"{engine}-") for path in DATA.glob(f"{engine}-*.json")]
    versions = [stem for stem in stems if not stem.endswith(".provenance")]
    return sorted(versions, key=lambda text: Version.parse(text) or Version((0, 0, 0)))


@cache
def load_table(engine: str, version: str) -> FlagTable | None:
    """The table of exactly this version, or None."""
    path = DATA / f"{engine}-{version}.json"
    if "/" in version or not path.is_file():
        return None
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    flags = {}
    for written, facts in data["flags"].items():
        name = written.lstrip("-")
        flags[name] = Flag(
            name=name,
            kind=facts.get("kind", "unknown"),
            choices=tuple(map(str, facts.get("choices", ()))),
            default=str(facts.get("default", "")),
            aliases=tuple(alias.lstrip("-") for alias in facts.get("aliases", ())),
        )
    return FlagTable(
        engine=data["engine"],
        version=data["version"],
        flags=flags,
        kv_connectors=tuple(data.get("kv_connectors", ())),
        kv_transfer_fields=data.get("kv_transfer_config_fields", {}),
        kv_events_fields=data.get("kv_events_config_fields", {}),
        env=frozenset(data.get("env", ())),
        complete=data.get("complete", True),
    )


@cache
def table_for(engine: str, version: Version | None) -> FlagTable | None:
    """The table of the newest known version that is not newer than this one, else the nearest; the newest if None."""
    known = [(parsed, text) for text in known_versions(engine) if (parsed := Version.parse(text))]
    if not known:
        return None
    older = [item for item in known if version is not None and item[0] <= version]
    _, text = older[-1] if older else known[-1 if version is None else 0]
    return load_table(engine, text)
