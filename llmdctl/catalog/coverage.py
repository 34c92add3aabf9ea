"""What this project itself has seen of each listed combination, as scripts/make_coverage.py last wrote it down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).resolve().parent / "data" / "coverage.json"


@cache
def seen() -> Mapping[str, tuple[str, ...]]:
    """Folder of a variant (`<guide>/<accelerator>-<engine>-<provider>`) -> the layers that it passed, in every release.

    Layers: `renders`, `schema` (structure and admission), `rules` (all rules, none skipped for want of a version).
    """
    data = json.loads(FILE.read_text(encoding="utf-8"))
    return {folder: tuple(layers) for folder, layers in data["variants"].items()}
