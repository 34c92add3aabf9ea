"""Rendering stacks of the built-in catalog."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmdctl.catalog.load import Catalog, load_catalog
from llmdctl.findings import Path
from llmdctl.plan.build import build_plan
from llmdctl.plan.origin import Origin, OriginKind
from llmdctl.plan.request import Request, UserLayer
from llmdctl.render.objects import Rendered, render

RenderStack = Callable[..., Rendered]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The built-in catalog."""
    return load_catalog()


def _flag(_: Path) -> Origin:
    return Origin(OriginKind.FLAG, "a test")


@pytest.fixture(scope="session")
def render_stack(catalog: Catalog) -> RenderStack:
    """Renders a guide with spec fields on top."""

    def make(guide: str, spec: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None) -> Rendered:
        data = {"metadata": metadata or {}, "spec": {"guide": guide, **(spec or {})}}
        plan = build_plan(Request((UserLayer(data, _flag),)), catalog)
        return render(plan, catalog.template_dirs(guide))

    return make
