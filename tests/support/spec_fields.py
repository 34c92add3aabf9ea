"""The leaf fields of the spec, found in its types, so that no test forgets a new one."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

from llmdctl.manifest.typed import fields_of
from llmdctl.spec.model import Metadata, StackSpec

Path = tuple[str, ...]


def leaves() -> Iterator[tuple[Path, Any]]:
    """Every leaf of a stack with its type: ("metadata", "name"), ("spec", "model", "id"), ..."""
    yield from _walk(Metadata, ("metadata",))
    yield from _walk(StackSpec, ("spec",))


def _walk(cls: type, path: Path) -> Iterator[tuple[Path, Any]]:
    for key, (_, kind) in fields_of(cls).items():
        yield from _leaf(_bare(kind), (*path, key))


def _leaf(kind: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind):
        yield from _walk(typing.cast(type, kind), path)
    elif origin is list and dataclasses.is_dataclass(get_args(kind)[0]):
        yield from _walk(get_args(kind)[0], (*path, "[]"))
    elif origin is dict and dataclasses.is_dataclass(get_args(kind)[1]):
        yield from _walk(get_args(kind)[1], (*path, "{}"))
    else:
        yield path, kind


def _bare(kind: Any) -> Any:
    """The type without `| None`."""
    if get_origin(kind) in (Union, types.UnionType):
        rest = [arg for arg in get_args(kind) if arg is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return kind


def takes_text(kind: Any) -> bool:
    """True for leaves in which free text may stand."""
    return kind is str or (get_origin(kind) in (list, dict) and "str" in str(kind)) or "Any" in str(kind)


def is_choice(kind: Any) -> bool:
    """True for closed sets."""
    return get_origin(kind) is Literal
