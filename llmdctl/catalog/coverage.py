"""What this project itself has seen of each listed combination, as our scripts last wrote it down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from llmdctl.findings.frozen import frozen

FILE = Path(__file__).resolve().parent / "data" / "coverage.json"
SERVER_FILE = FILE.with_name("server.json")


@frozen
class Served:
    """Which variants a real API server took, as a dry run with strict fields: of which version, in which release."""

    kubernetes: str
    release: str
    variants: frozenset[str]


@cache
def served() -> Served:
    """What scripts/make_server_coverage.py last wrote down."""
    data = json.loads(SERVER_FILE.read_text(encoding="utf-8"))
    return Served(data["kubernetes"], data["release"], frozenset(data["variants"]))


@cache
def seen() -> Mapping[str, tuple[str, ...]]:
    """Folder of a variant (`<guide>/<accelerator>-<engine>-<provider>`) -> the layers that it passed.

    Layers: `renders`, `schema` (structure and admission) and `rules` (all rules, none skipped for want of a version) in
    every release; `server-dry-run` where a real API server takes its objects in the newest.
    """
    data = json.loads(FILE.read_text(encoding="utf-8"))
    taken = served().variants
    return {
        folder: (*layers, *(("server-dry-run",) if folder in taken else ()))
        for folder, layers in data["variants"].items()
    }
