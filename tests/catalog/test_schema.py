"""Published schemas of catalog files."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from llmdctl.catalog.load import TYPES
from llmdctl.catalog.model import ImageCatalog
from llmdctl.catalog.schema import catalog_schemas
from llmdctl.manifest import read_paths
from llmdctl.manifest.typed import TypedError, load

SCHEMAS = catalog_schemas()
CLASSES = {**TYPES, "ImageCatalog": ImageCatalog}


def test_every_kind_has_a_schema_of_its_own() -> None:
    assert set(SCHEMAS) == {"Guide", "Engine", "Model", "Accelerator", "Provider", "ImageCatalog"}
    assert len({schema["$id"] for schema in SCHEMAS.values()}) == len(SCHEMAS)
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_all_our_files_fit(root: Path, own: Path) -> None:
    documents = read_paths([str(root / "guides"), str(root / "images"), str(own)]).require()
    entries = [document.object for document in documents if document.object["kind"] in SCHEMAS]
    assert len(entries) > 15
    for entry in entries:
        jsonschema.Draft202012Validator(SCHEMAS[entry["kind"]]).validate(entry)


@pytest.mark.parametrize("kind", sorted(SCHEMAS))
def test_schema_and_loader_agree_when_a_key_is_dropped_or_spoiled(kind: str, root: Path) -> None:
    documents = read_paths([str(root / "guides"), str(root / "images")]).require()
    entry = next(document.object for document in documents if document.object["kind"] == kind)
    validator = jsonschema.Draft202012Validator(SCHEMAS[kind])
    verdicts = set()
    for key in [*entry, "unknown"]:
        without = {name: value for name, value in entry.items() if name != key}
        for data in (without, {**entry, key: None}, {**entry, key: 7}, {**entry, key: "x"}, {**entry, key: [{}]}):
            accepted = validator.is_valid(data)
            assert _loads(kind, data) is accepted, (key, data.get(key))
            verdicts.add(accepted)
    assert verdicts == {True, False}


def _loads(kind: str, data: dict[str, object]) -> bool:
    try:
        load(CLASSES[kind], data)
    except TypedError:
        return False
    return True
