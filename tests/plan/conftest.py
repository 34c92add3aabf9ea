"""Plans of the built-in catalog."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.findings import Path
from llmdctl.plan.build import build_plan
from llmdctl.plan.model import Plan
from llmdctl.plan.origin import Origin, OriginKind
from llmdctl.plan.request import Request, UserLayer

MakePlan = Callable[..., Plan]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The built-in catalog."""
    return load_catalog()


def _flag(_: Path) -> Origin:
    return Origin(OriginKind.FLAG, "--set in a test")


@pytest.fixture
def make_plan(catalog: Catalog) -> MakePlan:
    """Plans a guide with spec fields on top: make_plan("pd-disaggregation", {"engine": "sglang"})."""

    def make(
        guide: str, spec: dict[str, Any] | None = None, *, metadata: dict[str, Any] | None = None, allow: bool = False
    ) -> Plan:
        data = {"metadata": metadata or {}, "spec": {"guide": guide, **(spec or {})}}
        return build_plan(Request((UserLayer(data, _flag),), allow), catalog)

    return make
