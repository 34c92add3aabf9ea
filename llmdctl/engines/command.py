"""Engine command lines: parsing an argument list, and building one. `parse(build(x))` gives x back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from llmdctl.engines.tables import DASHED_BOOL_ENGINES, Flag, FlagTable, spelt
from llmdctl.findings.frozen import frozen


@frozen
class Opaque:
    """Text whose value only the running pod knows (a shell expression, a variable from elsewhere)."""

    text: str


Word = str | Opaque

_OPAQUE_FLAG = re.compile(r"--?[A-Za-z][\w.-]*=.*", re.DOTALL)


@frozen
class Option:
    """One flag as given. `values` are its words: none for a switch; `index` is its place in the argument list.

    `negated` tells a `--no-` form, `key` the part after the dot of `--json-flag.key`.
    """

    name: str
    written: str
    values: tuple[Word, ...]
    index: int
    negated: bool = False
    key: str = ""

    @property
    def value(self) -> str | None:
        """The only word; None for a switch, for several words, and when the pod alone knows it."""
        if len(self.values) != 1 or isinstance(self.values[0], Opaque):
            return None
        return self.values[0]

    @property
    def is_opaque(self) -> bool:
        """True when the value is not known statically."""
        return any(isinstance(word, Opaque) for word in self.values)


@frozen
class ParsedArgs:
    """A parsed command line. `options` are by canonical name; `unknown` lists flags that the table lacks."""

    engine: str
    positionals: tuple[Word, ...] = ()
    options: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    unknown: tuple[Option, ...] = ()

    def last(self, *names: str) -> Option | None:
        """The option that counts: the last one given under any of these names."""
        best: Option | None = None
        for name in names:
            for option in self.options.get(name, ()):
                if not option.key and (best is None or option.index > best.index):
                    best = option
        return best

    def is_opaque(self, *names: str) -> bool:
        """True when the option is given with a value that only the pod knows."""
        option = self.last(*names)
        return option is not None and option.is_opaque

    def get_str(self, *names: str, default: str | None = None) -> str | None:
        """The text of an option; None when it is not known, `default` when it is not given."""
        option = self.last(*names)
        return default if option is None else option.value

    def get_int(self, *names: str, default: int | None = None) -> int | None:
        """A whole number; None when it is not known or no number, `default` when it is not given."""
        option = self.last(*names)
        if option is None:
            return default
        try:
            return int(option.value) if option.value is not None else None
        except ValueError:
            return None

    def get_bool(self, *names: str, default: bool | None = None) -> bool | None:
        """A switch; None when it is not known, `default` when it is not given."""
        option = self.last(*names)
        if option is None:
            return default
        if option.negated:
            return False
        if not option.values:
            return True
        return {"true": True, "1": True, "false": False, "0": False}.get((option.value or "").lower())

    def get_json(self, *names: str) -> Any:
        """A JSON flag with its dotted keys merged in; None when it is not given, unknown or not JSON."""
        option = self.last(*names)
        data: Any = None
        if option is not None:
            try:
                data = json.loads(option.value) if option.value is not None else None
            except ValueError:
                return None
        dotted = [o for name in names for o in self.options.get(name, ()) if o.key and o.value is not None]
        for part in dotted:
            data = {} if data is None else data
            if not isinstance(data, dict):
                return None
            _set_dotted(data, part.key.split("."), part.value or "")
        return data


def _set_dotted(data: dict[str, Any], keys: list[str], text: str) -> None:
    for key in keys[:-1]:
        below = data.setdefault(key, {})
        if not isinstance(below, dict):
            return
        data = below
    try:
        data[keys[-1]] = json.loads(text)
    except ValueError:
        data[keys[-1]] = text


def parse(engine: str, argv: Sequence[Word], table: FlagTable | None = None) -> ParsedArgs:
    """Parses an engine's arguments (without program and subcommand).

    With a table, kinds and aliases are known. Without one, a flag takes the next word unless that is a flag too.
    """
    positionals: list[Word] = []
    options: dict[str, list[Option]] = {}
    unknown: list[Option] = []
    index = 0
    while index < len(argv):
        word = argv[index]
        if not _is_flag(word):
            positionals.append(word)
            index += 1
            continue
        option, used, known = _option(engine, argv, index, table)
        options.setdefault(option.name, []).append(option)
        if not known:
            unknown.append(option)
        index += used
    return ParsedArgs(engine, tuple(positionals), {k: tuple(v) for k, v in options.items()}, tuple(unknown))


def _is_flag(word: Word) -> bool:
    if isinstance(word, Opaque):
        # The flag of `--flag=$(VALUE)` is known, only its value is not.
        return _OPAQUE_FLAG.fullmatch(word.text) is not None
    if not word.startswith("-") or len(word) < 2:
        return False
    # -1 and -0.5 are values, -tp is vLLM's short flag.
    return not word[1:].lstrip("-").replace(".", "", 1).isdigit()


def _option(engine: str, argv: Sequence[Word], index: int, table: FlagTable | None) -> tuple[Option, int, bool]:
    word = argv[index]
    text = word.text if isinstance(word, Opaque) else word
    written, equals, attached = text.partition("=")
    bare = spelt(engine, written)
    canonical = table.canonical(written) if table else bare
    flag = table.flags.get(canonical) if table and canonical else None
    name = canonical or bare
    negated = engine in DASHED_BOOL_ENGINES and bare == f"no-{name}"
    if table is None and engine in DASHED_BOOL_ENGINES and bare.startswith("no-") and not equals:
        name, negated = bare[3:], True
    key = ""
    if "." in written and flag is not None and flag.kind == "json":
        key = written.lstrip("-").partition(".")[2]
    if equals:
        values: tuple[Word, ...] = (Opaque(attached) if isinstance(word, Opaque) else attached,)
    elif negated or (flag is not None and flag.kind == "bool"):
        values = ()
    else:
        values = _following(argv, index + 1, many=flag is not None and flag.kind == "list")
    used = 1 if equals else 1 + len(values)
    return Option(name, written, values, index, negated, key), used, table is None or canonical is not None


def _following(argv: Sequence[Word], start: int, *, many: bool) -> tuple[Word, ...]:
    values: list[Word] = []
    for word in argv[start:]:
        if _is_flag(word):
            break
        values.append(word)
        if not many:
            break
    return tuple(values)


def build(engine: str, options: Mapping[str, Any], table: FlagTable | None = None) -> list[str]:
    """The argument list for options by canonical name, one element a flag, in the given order.

    True is a bare switch, False its `--no-` form where the engine has one (else it is left out), None nothing; maps
    are written as compact JSON, lists as one `--flag=value` each, or joined by the separate-words form for list flags.
    """
    args: list[str] = []
    for given, value in options.items():
        name = spelt(engine, given)
        flag = table.flag(name) if table else None
        args.extend(_build_one(engine, name, value, flag))
    return args


def _build_one(engine: str, name: str, value: Any, flag: Flag | None) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool) and (flag is None or flag.kind in ("bool", "unknown")):
        if value:
            return [f"--{name}"]
        return [f"--no-{name}"] if engine in DASHED_BOOL_ENGINES else []
    if isinstance(value, list | tuple) and (flag is None or flag.kind == "list"):
        return [f"--{name}", *(_word(item) for item in value)] if value else []
    return [f"--{name}={_word(value)}"]


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)
