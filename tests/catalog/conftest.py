"""A small catalog of a user's own, and a copy of it to spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture
def own() -> Path:
    """A user's catalog: an accelerator, a provider, an engine, a guide, release sets."""
    return DATA


@pytest.fixture
def spoiled(tmp_path: Path) -> Path:
    """A copy of that catalog, to change."""
    return Path(shutil.copytree(DATA, tmp_path / "catalog"))
