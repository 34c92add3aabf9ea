"""Fixtures that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Material that lies beside the checkout and is never committed; tests that need it skip where it is absent."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("../shared is not here: the corpus lies beside the checkout and is not part of it")
    return path
