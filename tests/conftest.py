"""Fixtures that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The machines are shared: how long a draw takes says nothing about the code.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

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
