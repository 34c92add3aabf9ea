"""The admission layer, found when it is there."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from llmdctl.findings import Rule


def admission() -> tuple[Callable[..., Any] | None, tuple[Rule, ...]]:
    """The layer's function and its rules; None and no rules while the package has no such layer."""
    if find_spec("llmdctl.validate.admission") is None:
        return None, ()
    package = import_module("llmdctl.validate.admission")
    return getattr(package, "admission_findings", None), tuple(getattr(package, "ADM_RULES", ()))
