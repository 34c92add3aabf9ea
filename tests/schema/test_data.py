"""The committed data of built-in kinds is what the script makes of the installed package."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

from llmdctl.schema.builtin import DATA


def content(folder: Path) -> dict[str, Any]:
    """Unpacked, because the bytes of gzip depend on the zlib that wrote them."""
    return {path.name: json.loads(gzip.decompress(path.read_bytes())) for path in sorted(folder.glob("*.json.gz"))}


def test_the_script_makes_the_committed_data(root: Path, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_builtin_schemas", root / "scripts/make_builtin_schemas.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(tmp_path)
    assert content(tmp_path) == content(DATA / "builtin")
    provenance = "builtin.provenance.json"
    assert (tmp_path / provenance).read_text() == (DATA / "builtin" / provenance).read_text()


def test_no_description_is_left() -> None:
    def descriptions(value: Any) -> int:
        if isinstance(value, dict):
            own = isinstance(value.get("description"), str)
            return own + sum(descriptions(item) for item in value.values())
        return sum(descriptions(item) for item in value) if isinstance(value, list) else 0

    assert descriptions(content(DATA / "builtin")) == 0
