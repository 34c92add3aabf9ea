"""Examples in type errors: every map and list of a stack has one, and what they say is accepted as it stands."""

from __future__ import annotations

import dataclasses
import shlex
from typing import Any, cast, get_args, get_origin

import pytest
import yaml

from llmdctl.catalog.load import TYPES
from llmdctl.catalog.model import ImageCatalog
from llmdctl.findings import UserError, format_path
from llmdctl.manifest.example import flow
from llmdctl.manifest.typed import Problem, faults, fields_of
from llmdctl.spec.paths import Target, field_targets, without_none
from llmdctl.spec.setting import parse_set


def is_shaped(kind: Any) -> bool:
    bare = without_none(kind)
    return dataclasses.is_dataclass(bare) or get_origin(bare) in (list, dict)


SHAPED = [target for target in field_targets() if is_shaped(target.kind) and len(target.path) > 1]
WRITTEN = "write it as in "


def wrong(target: Target, data: Any = 3) -> Problem:
    (problem,) = faults(target.kind, data, target.path, target.metadata)
    return problem


@pytest.mark.parametrize("target", SHAPED, ids=lambda target: format_path(target.path))
def test_every_map_and_list_of_a_stack_shows_its_form(target: Target) -> None:
    problem = wrong(target)
    assert problem.what.startswith(("expected a map, got the number", "expected a list, got the number"))
    assert faults(target.kind, problem.example, target.path, target.metadata) == []
    assert problem.fix.startswith(WRITTEN)
    written = yaml.safe_load(problem.fix.removeprefix(WRITTEN).strip("`"))
    assert written == {target.path[-1]: problem.example}
    # As an option, what the message says can be typed as it stands.
    with pytest.raises(UserError) as caught:
        parse_set([f"{format_path(target.path)}=3"])
    flag, assignment = shlex.split(caught.value.fix.removeprefix(WRITTEN))
    assert flag == "--set"
    data: Any = parse_set([assignment])
    for step in target.path:
        data = data[step]
    assert data == problem.example


def test_a_single_text_becomes_the_item_of_its_list() -> None:
    (target,) = (target for target in SHAPED if target.path[-1] == "backends")
    assert wrong(target, "LIBFABRIC").fix == "write it as in `backends: [LIBFABRIC]`"
    assert wrong(target, 3).fix == "write it as in `backends: [UCX]`"


def catalog_fields(cls: type, seen: set[type]) -> list[tuple[str, Any, dict[str, Any]]]:
    """Every map and list of a catalog's types: where, type, metadata."""
    if cls in seen:
        return []
    seen.add(cls)
    found: list[tuple[str, Any, dict[str, Any]]] = []
    for key, (field, kind) in fields_of(cls).items():
        if is_shaped(kind):
            found.append((f"{cls.__name__}.{key}", kind, dict(field.metadata)))
        for inner in (without_none(kind), *get_args(without_none(kind))):
            if dataclasses.is_dataclass(inner):
                found.extend(catalog_fields(cast(type, inner), seen))
    return found


def test_examples_of_catalog_fields_are_accepted() -> None:
    seen: set[type] = set()
    fields = [field for cls in (*TYPES.values(), ImageCatalog) for field in catalog_fields(cls, seen)]
    without = []
    for where, kind, metadata in fields:
        (problem,) = faults(kind, 3, ("x",), metadata)
        if problem.example is None:
            without.append(where)
        else:
            assert faults(kind, problem.example, ("x",), metadata) == [], where
            assert yaml.safe_load(flow(problem.example)) == problem.example
    # Free forms, of which an example would say nothing.
    assert len(without) < len(fields) / 4, without


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "b", True, None]}, "{a: [1, b, true, null]}"),
        ({"on": "off"}, '{"on": "off"}'),
        ("1.0", '"1.0"'),
        ("a: b", '"a: b"'),
        ("nvidia.com/gpu", "nvidia.com/gpu"),
        ([], "[]"),
    ],
)
def test_flow(value: Any, text: str) -> None:
    assert flow(value) == text
    assert yaml.safe_load(text) == value
