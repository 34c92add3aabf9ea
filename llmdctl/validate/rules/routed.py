"""Which pods an endpoint picker's config is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmdctl.router.config import Plugin
from llmdctl.view import EngineCommand, PodTemplate, View
from llmdctl.view.picker_config import PickerConfig
from llmdctl.view.pool import Pool


def routed(view: View) -> Iterator[tuple[PickerConfig, Pool, list[PodTemplate]]]:
    """Each config with its pool and the templates that the pool selects; configs whose pool is unknown are left out."""
    for config in view.picker_configs:
        pool = _pool_of(view, config)
        if pool is not None and pool.selector:
            yield config, pool, list(view.selected(pool.selector, pool.document))


def _pool_of(view: View, config: PickerConfig) -> Pool | None:
    epp = config.epp
    if epp is not None and epp.pool_name:
        return next(iter(view.pools_by_name.named(epp.pool_name, epp.pool_namespace)), None)
    # A config and a pool that stand alone belong together.
    return view.pools[0] if len(view.pools) == 1 and len(view.picker_configs) == 1 else None


def plugins_of(config: PickerConfig, kind: str) -> Iterator[tuple[int, Plugin]]:
    """The instances of a type, with their index."""
    for index, plugin in enumerate(config.config.plugins if config.config else []):
        if plugin.type == kind:
            yield index, plugin


def part(value: Any, *steps: str) -> Any:
    """What stands at a path of plain data; None when nothing does."""
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def engines_of(templates: list[PodTemplate]) -> Iterator[tuple[PodTemplate, EngineCommand]]:
    """The templates that run one engine that answers requests."""
    for template in templates:
        if template.engine is not None and not template.engine.is_headless:
            yield template, template.engine
