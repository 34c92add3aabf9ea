"""ENG: what an engine's own argument parser refuses, by the flag table of its version."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from llmdctl.engines import Opaque, Option
from llmdctl.engines.tables import DASHED_BOOL_ENGINES, Flag, FlagTable, spelt
from llmdctl.findings import Edit, Hit, Outcome, Rule, Severity, Skip
from llmdctl.findings.versions import Version
from llmdctl.manifest.typed import nearest, surely_meant
from llmdctl.validate.rules.mend import flag_renamed, part_replaced
from llmdctl.view import EngineCommand, View

STRICT_JSON = frozenset({"kv-transfer-config", "kv-events-config"})
"""JSON flags that take nothing but an object; others also take a shorthand."""

# Whole numbers as vLLM's human_readable_int reads them, and `auto` where the length is left to the engine.
_WHOLE = re.compile(r"[+-]?\d+(?:\.\d+)?[kKmMgGtT]?i?|auto|None", re.ASCII)
_VARIABLE = re.compile(r"\$[({A-Za-z_`]")


def known_commands(view: View) -> Iterator[tuple[EngineCommand, FlagTable | None, str]]:
    """Every engine command with the table of its very minor version, or with the reason why there is none."""
    for template in view.templates:
        for engine in template.engines:
            table, version = engine.table, engine.version
            if version is None:
                yield engine, None, "the engine's version is not known"
            elif table is None or not _is_of(table, version):
                yield engine, None, f"there is no flag table of {engine.engine} {version}"
            else:
                yield engine, table, ""


def _is_of(table: FlagTable, version: Version) -> bool:
    """True for the table of that minor version; SGLang adds flags in patch releases too."""
    parts = 3 if table.engine == "sglang" else 2
    found = Version.parse(table.version)
    return found is not None and found.numbers[:parts] == version.numbers[:parts]


def check_unknown_flags(view: View) -> Iterator[Outcome]:
    """ENG001: a flag that this version of the engine does not have."""
    for engine, table, reason in known_commands(view):
        if table is None:
            yield Skip(reason, engine.place)
            continue
        if engine.parsed.unknown and not table.complete:
            yield Skip(f"the flag table of {engine.engine} {engine.version} may lack new flags", engine.place)
            continue
        for option in engine.parsed.unknown:
            close = _close(option, table)
            yield Hit(
                engine.place_at(option),
                f"{engine.engine} {engine.version} has no flag {option.written}",
                fix=f"did you mean --{close}?" if close else "remove it, or use the version that has it",
                edits=_renamed(engine, option, table, close),
            )


def _renamed(engine: EngineCommand, option: Option, table: FlagTable, close: str) -> tuple[Edit, ...]:
    if not close or surely_meant(spelt(table.engine, option.written), table.flags) != close:
        return ()
    return flag_renamed(engine, option, close)


def _close(option: Option, table: FlagTable) -> str:
    name = spelt(table.engine, option.written)
    negated = name.startswith("no-") and table.engine in DASHED_BOOL_ENGINES
    close = nearest(name.removeprefix("no-") if negated else name, table.flags)
    if not close:
        return ""
    return f"no-{close}" if negated and table.flags[close].kind == "bool" else close


def check_values(view: View) -> Iterator[Outcome]:
    """ENG002: a value of the wrong type, or not among the choices."""
    for engine, table, reason in known_commands(view):
        if table is None:
            yield Skip(reason, engine.place)
            continue
        for options in engine.parsed.options.values():
            for option in options:
                flag = table.flags.get(option.name)
                if flag is not None and not option.key:
                    yield from _check_value(engine, option, flag)


def _check_value(engine: EngineCommand, option: Option, flag: Flag) -> Iterator[Hit]:
    if option.negated:
        return
    if flag.kind == "bool":
        if option.values and not option.is_opaque:
            yield _refused(engine, option, "is a switch and takes no value", f"write --{flag.name} alone")
        return
    if not option.values:
        yield _refused(engine, option, "needs a value", f"write --{flag.name}=VALUE")
        return
    value = option.value
    # vLLM reads an empty text as None where that is the default (arg_utils.py, optional_type).
    if value is None or (value == "" and flag.default == "None"):
        return
    if flag.kind == "int" and not _WHOLE.fullmatch(value):
        yield _refused(engine, option, f"takes a whole number, not {value!r}", "give a number")
    elif flag.kind == "float" and not _is_float(value):
        yield _refused(engine, option, f"takes a number, not {value!r}", "give a number")
    elif flag.kind == "enum" and flag.choices and value not in flag.choices:
        close = nearest(value, flag.choices)
        known = ", ".join(flag.choices)
        fix = f"did you mean {close}?" if close else f"one of: {known}"
        hit = _refused(engine, option, f"has no choice {value!r}", fix)
        meant = surely_meant(value, flag.choices)
        place = engine.place_at(option)
        edits = part_replaced(engine.container.node, place, f"{option.written}={value}", f"{option.written}={meant}")
        yield replace(hit, edits=edits) if meant else hit


def _refused(engine: EngineCommand, option: Option, what: str, fix: str) -> Hit:
    return Hit(engine.place_at(option), f"{option.written} of {engine.engine} {engine.version} {what}", fix=fix)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_json(view: View) -> Iterator[Outcome]:
    """ENG003: text that is not JSON where the engine reads JSON. It needs no version: such a flag stays JSON."""
    for template in view.templates:
        for engine in template.engines:
            for option in _json_options(engine):
                yield from _check_text(engine, option)


def _json_options(engine: EngineCommand) -> Iterator[Option]:
    for name, options in engine.parsed.options.items():
        flag = engine.table.flags.get(name) if engine.table else None
        if name in STRICT_JSON or (flag is not None and flag.kind == "json"):
            yield from (option for option in options if not option.key and len(option.values) == 1)


def _check_text(engine: EngineCommand, option: Option) -> Iterator[Outcome]:
    word = option.values[0]
    text = word.text if isinstance(word, Opaque) else word
    if option.name not in STRICT_JSON and not text.lstrip().startswith(("{", "[")):
        return
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        if isinstance(word, Opaque) and _VARIABLE.search(text):
            yield Skip(f"{option.written} is only known in the running pod", engine.place_at(option))
            return
        where = f", column {error.colno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else ""
        yield Hit(
            engine.place_at(option),
            f"the value of {option.written} is not JSON{where}",
            fix='write a JSON object, as in {"kv_connector":"NixlConnector"}: double quotes, no comma at the end',
        )
        return
    if option.name in STRICT_JSON and not isinstance(parsed, Mapping):
        yield Hit(engine.place_at(option), f"{option.written} takes a JSON object, not {text[:40]!r}")


def check_fields(view: View) -> Iterator[Outcome]:
    """ENG004: a field that a JSON flag does not have; vLLM's configuration classes forbid extra fields."""
    for engine, table, reason in known_commands(view):
        if engine.engine != "vllm":
            continue
        if table is None:
            yield Skip(reason, engine.place)
            continue
        for name, fields in (
            ("kv-transfer-config", table.kv_transfer_fields),
            ("kv-events-config", table.kv_events_fields),
        ):
            # Each field may also stand in a flag of its own, --kv-transfer-config.kv_role=kv_both.
            options = engine.parsed.options.get(name, ())
            found = engine.json_option(name)
            if not options or not fields or not isinstance(found, Mapping):
                continue
            for key in found:
                if key not in fields:
                    close = nearest(str(key), fields)
                    own = (option for option in options if option.key.partition(".")[0] == key)
                    yield Hit(
                        engine.place_at(next(own, options[0])),
                        f"--{name} of vllm {engine.version} has no field {key!r}",
                        fix=f"did you mean {close!r}?" if close else f"fields: {', '.join(fields)}",
                    )


_WHY = "the engine's argument parser ends the process at once, before it loads anything; the pod restarts for ever"

ENG001 = Rule(
    code="ENG001",
    severity=Severity.ERROR,
    title="an engine is started with a flag that its version does not have",
    why=_WHY,
    fix="use the flag of that version, or the version that has the flag",
    references=("vLLM and SGLang command lines, tables derived from the published packages",),
    needs=frozenset({"engines"}),
    check=check_unknown_flags,
)
ENG002 = Rule(
    code="ENG002",
    severity=Severity.ERROR,
    title="an engine's flag has a value of the wrong type, or one that is not among its choices",
    why=_WHY,
    fix="give a value that the flag takes",
    references=("vLLM and SGLang command lines, tables derived from the published packages",),
    needs=frozenset({"engines"}),
    check=check_values,
)
ENG003 = Rule(
    code="ENG003",
    severity=Severity.ERROR,
    title="a JSON flag of an engine holds text that is not JSON",
    why=_WHY,
    fix="write valid JSON",
    references=("vllm/engine/arg_utils.py: JSON arguments are read by json.loads",),
    needs=frozenset({"engines"}),
    check=check_json,
)
ENG004 = Rule(
    code="ENG004",
    severity=Severity.ERROR,
    title="a JSON flag of an engine has a field that its version does not know",
    why="vLLM's configuration classes forbid extra fields: the process ends while it reads its configuration",
    fix="remove the field, or put connector settings into kv_connector_extra_config",
    references=("vllm/config/utils.py: dataclasses with extra=forbid",),
    needs=frozenset({"engines"}),
    check=check_fields,
)

ENG_RULES: Iterable[Rule] = (ENG001, ENG002, ENG003, ENG004)
