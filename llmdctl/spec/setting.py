r"""`--set PATH=VALUE` and `--set-string`: helm's notation, checked against the stack's type.

One assignment an option. VALUE is read by Kubernetes' scalar rules where the field is not text; `null` removes a
default; `{a,b}` is a list; JSON may be given from `[` or `{`; `\,` is a comma.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

from llmdctl.findings import Path, UserError, format_path
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.raw import MAX_DEPTH
from llmdctl.manifest.scalars import resolve
from llmdctl.manifest.typed import Problem, faults
from llmdctl.spec.paths import Target, find_target, short_form, without_none

_ASSIGNMENT = re.compile(r"((?:\\.|[^=\\])*)=(.*)", re.DOTALL)
_TEXT = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_COMMA = re.compile(r"(?<!\\),")
_INT64, _UINT64 = 2**63, 2**64


@frozen
class Settings:
    """What all --set options say together: `data` has the form of a stack, `texts` the option behind each path."""

    data: dict[str, Any]
    texts: Mapping[Path, str]

    def source(self, path: Path) -> str:
        """The option that gives the value at `path` (or one around or inside it), as typed; "" when none does."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.texts:
                return self.texts[path[:length]]
        return next((text for given, text in self.texts.items() if given[: len(path)] == path), "")


def parse_set(expressions: Sequence[str], strings: Sequence[str] = ()) -> dict[str, Any]:
    """The data of `read_settings`: a partial stack as plain data, with None where `null` removes a value."""
    return read_settings(expressions, strings).data


def set_source(path: Path, expressions: Sequence[str], strings: Sequence[str] = ()) -> str:
    """The option that gives the value at `path`, as typed: `--set roles.decode.replicas=4`; "" when none does."""
    return _read(tuple(expressions), tuple(strings)).source(path)


@lru_cache(maxsize=8)
def _read(expressions: tuple[str, ...], strings: tuple[str, ...]) -> Settings:
    return read_settings(expressions, strings)


def read_settings(expressions: Sequence[str], strings: Sequence[str] = ()) -> Settings:
    """Reads `--set` options and then `--set-string` options; a later one wins.

    Raises UserError for a path that the stack lacks and for a value of the wrong type.
    """
    data: dict[str, Any] = {}
    texts: dict[Path, str] = {}
    for flag, text in [("--set", text) for text in expressions] + [("--set-string", text) for text in strings]:
        option = f"{flag} {text}"
        target, written = _split(text, option)
        value = _value(written, target, option, as_text=flag == "--set-string")
        _check(value, target, option)
        _assign(data, target.path, value, option)
        for given in [given for given in texts if given[: len(target.path)] == target.path]:
            del texts[given]
        texts[target.path] = option
    return Settings(data, texts)


def _split(text: str, option: str) -> tuple[Target, str]:
    match = _ASSIGNMENT.fullmatch(text)
    if match is None:
        raise UserError(f"{_short(option)}: there is no `=`", fix="write it as in --set roles.decode.replicas=4")
    try:
        return find_target(match[1]), match[2]
    except UserError as error:
        raise UserError(f"{_short(option)}: {error.what}", fix=error.fix) from error


def _value(written: str, target: Target, option: str, *, as_text: bool) -> Any:
    kind = without_none(target.kind)
    if as_text:
        return _plain(written, option)
    if written == "null":
        return None
    if _is_text(kind):
        return _plain(written, option)
    if written.startswith(("[", '{"')) or written == "{}":
        return [] if written == "{}" and get_origin(kind) is list else _json(written, option)
    if written.startswith("{") and written.endswith("}"):
        item = without_none(get_args(kind)[0]) if get_origin(kind) is list else Any
        return [_scalar(part, item, option) for part in _COMMA.split(written[1:-1])]
    return _scalar(_plain(written, option), kind, option)


def _is_text(kind: Any) -> bool:
    return kind is str or (get_origin(kind) is Literal and all(isinstance(choice, str) for choice in get_args(kind)))


def _plain(written: str, option: str) -> str:
    r"""The text of a value. Helm would take `a=1,b=2` for two assignments, so a bare comma before one is refused."""
    for part in _COMMA.split(written)[1:]:
        path, equals, _ = part.partition("=")
        if equals and _is_path(path):
            raise UserError(
                f"{_short(option)}: this looks like two assignments",
                fix=f"give each its own --set, or write the comma as \\, if {_short(part)!r} belongs to the value",
            )
    return written.replace("\\,", ",")


def _is_path(text: str) -> bool:
    try:
        find_target(text)
    except UserError:
        return False
    return True


def _scalar(text: str, kind: Any, option: str) -> Any:
    text = text.replace("\\,", ",")
    if text == "" or kind is str:
        return text
    value = resolve(text)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise UserError(f"{_short(option)}: {text} is not a number that JSON can carry")
    return value


def _json(written: str, option: str) -> Any:
    if _depth(written) > MAX_DEPTH:
        raise UserError(f"{_short(option)}: the JSON value is nested deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(written, parse_int=_json_int, parse_float=_json_float, parse_constant=_refuse)
    except ValueError as error:
        raise UserError(
            f"{_short(option)}: the value is not JSON",
            why=str(error),
            fix='a value that begins with [ or {" is JSON; a list of plain values is written {a,b}; '
            "for text that begins so use --set-string",
        ) from error


def _depth(written: str) -> int:
    """The deepest nesting of brackets outside of texts."""
    level = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", _TEXT.sub("", written)):
        level += 1 if bracket in "[{" else -1
        deepest = max(deepest, level)
    return deepest


def _json_int(text: str) -> int:
    number = int(text)
    if not -_INT64 <= number < _UINT64:
        raise ValueError(f"{text[:30]} does not fit 64 bits")
    return number


def _json_float(text: str) -> Any:
    value = resolve(text)
    return value if not isinstance(value, str) else _refuse(text)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text[:30]} is not a number that JSON can carry")


def _check(value: Any, target: Target, option: str) -> None:
    if value is None:
        return
    found = faults(target.kind, _without_nulls(value), target.path, target.metadata)
    if not found:
        return
    first, *others = [_as_error(problem, option) for problem in found]
    raise UserError(first.what, fix=first.fix, others=others)


def _as_error(problem: Problem, option: str) -> UserError:
    fix = problem.fix
    if problem.example is not None:
        # A shell would take the braces and quotes of JSON apart.
        fix = f"write it as in --set {short_form(problem.path)}='{json.dumps(problem.example)}'"
    return UserError(f"{_short(option)}: {format_path(problem.path)}: {problem.what}", fix=fix)


def _without_nulls(value: Any) -> Any:
    """The value as it is after merging, when each null has removed its key."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _assign(data: dict[str, Any], path: Path, value: Any, option: str) -> None:
    node: Any = data
    for index, step in enumerate(path[:-1]):
        empty: Any = [] if isinstance(path[index + 1], int) else {}
        child = _get(node, step)
        # A plain value, or null, that an earlier option set here gives way.
        if type(child) is not type(empty):
            child = empty
        _put(node, step, child, path[: index + 1], option)
        node = child
    _put(node, path[-1], value, path, option)


def _get(node: Any, step: str | int) -> Any:
    if isinstance(node, list):
        return node[step] if isinstance(step, int) and step < len(node) else None
    return node.get(step)


def _put(node: Any, step: str | int, value: Any, path: Path, option: str) -> None:
    if not isinstance(node, list):
        node[str(step)] = value
    elif isinstance(step, int) and step < len(node):
        node[step] = value
    elif step == len(node):
        node.append(value)
    else:
        raise UserError(
            f"{_short(option)}: {format_path(path)} is given before [{len(node)}]",
            why="--set makes a new list, from its first item on",
            fix=f"begin with {format_path(path[:-1])}[{len(node)}]",
        )


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "..."
