"""One control plane for all cluster tests of a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import control_plane
import pytest
from control_plane import ControlPlane, Unavailable, running


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A running control plane; skips where it can't be built. What is wrong with one that was built fails."""
    try:
        control_plane.build()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with running(tmp_path_factory.mktemp("control-plane")) as started:
        yield started


@pytest.fixture(scope="session")
def plane_with_crds(plane: ControlPlane, shared: Path) -> ControlPlane:
    """The control plane with the upstream CRDs that lie beside the checkout."""
    plane.install_crds(shared / "crds")
    return plane
