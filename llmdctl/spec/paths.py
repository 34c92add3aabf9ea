"""Dotted paths into the stack: writing (`roles.decode.replicas`, `patches[0].name`) and what type stands there."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Union, cast, get_args, get_origin

from llmdctl.findings import Path, UserError, format_path
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.typed import fields_of, nearest
from llmdctl.spec.model import InferenceStack

MAX_STEPS = 64
"""No field of Kubernetes lies that deep."""

_STEP = re.compile(r"(?:\\.|[^.\[\]\\])+", re.DOTALL)
_BRACKET = re.compile(r"\[((?:\\.|[^\[\]\\])+)\]", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@frozen
class Target:
    """A place of the stack: its path from the root, its type, and the bounds of its field."""

    path: Path
    kind: Any
    metadata: Mapping[str, Any] = field(default_factory=dict)


def split_path(text: str) -> Path:
    """The steps of a written path: `a.b`, `a\\.b` for a key with a dot, `[0]` for an item, `[key]` for a key.

    Raises UserError for anything else.
    """
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        bracket = _BRACKET.match(text, position)
        if bracket and steps:
            inner = bracket[1]
            steps.append(int(inner) if re.fullmatch("[0-9]{1,6}", inner) else _ESCAPE.sub(r"\1", inner))
            position = bracket.end()
            continue
        if steps and text[position] == ".":
            position += 1
        step = _STEP.match(text, position)
        if step is None:
            raise _malformed(text)
        steps.append(_ESCAPE.sub(r"\1", step[0]))
        position = step.end()
    if not steps or len(steps) > MAX_STEPS:
        raise _malformed(text)
    return tuple(steps)


def _malformed(text: str) -> UserError:
    return UserError(
        f"{_short(text)!r} is not a path into the stack",
        fix=r"write it as in roles.decode.replicas, patches[0].name, pod.labels.example\.com/team",
    )


def find_target(text: str) -> Target:
    """The place that a written path names; paths that begin with neither `spec` nor `metadata` are below `spec`.

    Raises UserError for a path that the stack does not have.
    """
    steps = split_path(text)
    path: Path = steps if steps[0] in ("spec", "metadata") else ("spec", *steps)
    kind: Any = InferenceStack
    metadata: Mapping[str, Any] = {}
    for index, step in enumerate(path):
        kind, metadata = _enter(without_none(kind), step, path[:index])
    return Target(path, kind, metadata)


def without_none(kind: Any) -> Any:
    """`T` for `T | None`; other types as they are."""
    if get_origin(kind) in (Union, types.UnionType):
        members = [member for member in get_args(kind) if member is not type(None)]
        return members[0] if len(members) == 1 else kind
    return kind


def without_empty_sections(data: Any, kind: Any = InferenceStack) -> Any:
    """The data without sections that are null: `roles:` with nothing below it says nothing, and removes no defaults.

    In free maps (flags, requests) and for single values null keeps its meaning: it takes a default away.
    """
    kind = without_none(kind)
    if not dataclasses.is_dataclass(kind) or not isinstance(data, Mapping):
        return data
    known = fields_of(cast(type, kind))
    out = {}
    for key, value in data.items():
        below = without_none(known[key][1]) if key in known else None
        if value is None and dataclasses.is_dataclass(below):
            continue
        out[key] = without_empty_sections(value, below)
    return out


def _enter(kind: Any, step: str | int, path: Path) -> tuple[Any, Mapping[str, Any]]:
    where = format_path(path)
    if kind is Any:
        return Any, {}
    if dataclasses.is_dataclass(kind):
        known = fields_of(cast(type, kind))
        if step not in known:
            raise _unknown_field(str(step), path, list(known))
        found, inner = known[str(step)]
        return inner, found.metadata
    if get_origin(kind) is dict:
        return get_args(kind)[1], {}
    if get_origin(kind) is list:
        if not isinstance(step, int):
            raise UserError(f"{where} is a list, and {step!r} is not an index", fix=f"write {where}[0].{step}")
        return get_args(kind)[0], {}
    raise UserError(f"{where} is a plain value: there is no {step!r} inside it", fix=f"set {where} itself")


def _unknown_field(step: str, path: Path, known: list[str]) -> UserError:
    where = format_path(path)
    close = nearest(step, known)
    # A field of that very name elsewhere is likelier meant than one here that only looks like it.
    likely = [found.path for found in field_targets() if found.path[-1] == step][:4] or (
        [(*path, close)] if close else []
    )
    meant = " or ".join(map(short_form, likely))
    fix = f"did you mean {meant}?" if meant else f"fields of {where}: {', '.join(known)}"
    return UserError(f"{where} has no field {_short(step)!r}", fix=fix)


def field_targets(kind: Any = InferenceStack, path: Path = ()) -> Iterator[Target]:
    """Every field of the stack, a part before the fields inside it; list items and keys of free maps are left out."""
    for key, (found, inner) in fields_of(kind).items():
        here = (*path, key)
        yield Target(here, inner, found.metadata)
        bare = without_none(inner)
        if dataclasses.is_dataclass(bare):
            yield from field_targets(bare, here)


def short_form(path: Path) -> str:
    """A path as people write it: without `spec` in front."""
    return format_path(path[1:] if path[0] == "spec" and len(path) > 1 else path)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
