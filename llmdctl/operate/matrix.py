"""Rendering everything that the catalog declares: each guide on each listed combination, and each of its presets."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from llmdctl.catalog.load import Catalog
from llmdctl.catalog.select import combinations
from llmdctl.findings import Report, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.plan.build import build_plan
from llmdctl.plan.request import Request, flag_layer
from llmdctl.render.environment import Templates
from llmdctl.render.files import write_directory
from llmdctl.render.objects import render_with
from llmdctl.validate.pipeline import ValidateOptions, validate


@frozen
class Variant:
    """One stack that the catalog declares. `preset` is None for the plain combination."""

    guide: str
    engine: str
    accelerator: str
    provider: str
    preset: str | None = None

    @property
    def folder(self) -> str:
        """Its directory: `<guide>/<accelerator>-<engine>-<provider>[-<preset>]`."""
        parts = [self.accelerator, self.engine, self.provider, *([self.preset] if self.preset else [])]
        return f"{self.guide}/{'-'.join(parts)}"

    def request(self, release: str | None = None) -> Request:
        """The request that a user would make for it by flags."""
        chosen = {
            "guide": self.guide,
            "engine": self.engine,
            "accelerator": self.accelerator,
            "provider": self.provider,
            "preset": self.preset,
            "release": release,
        }
        values: dict[Any, tuple[Any, str]] = {
            ("spec", key): (value, f"{key} {value}") for key, value in chosen.items() if value is not None
        }
        return Request((flag_layer(values),))


@frozen
class Outcome:
    """What became of a variant: its objects and report, or why it was skipped."""

    variant: Variant
    objects: int = 0
    report: Report | None = None
    skipped: str = ""


@frozen
class Coverage:
    """All outcomes, and the CPU seconds of each stage (plan, render, write, validate)."""

    outcomes: tuple[Outcome, ...]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def rendered(self) -> list[Outcome]:
        """Variants that were rendered."""
        return [outcome for outcome in self.outcomes if not outcome.skipped]

    @property
    def faulty(self) -> list[Outcome]:
        """Variants whose objects have findings."""
        return [outcome for outcome in self.outcomes if outcome.report is not None and outcome.report.findings]


_OF_RULES = re.compile(r"(?!YML|SCH|ADM)")


def passed_layers(outcome: Outcome) -> tuple[str, ...]:
    """What a rendered variant passed: `renders`; `schema` when every object could be checked and none is refused;
    `rules` when no rule found anything.
    """
    report = outcome.report
    if outcome.skipped or report is None:
        return () if outcome.skipped else ("renders",)
    by_rules = [finding for finding in report.findings if _OF_RULES.match(finding.code)]
    whole = report.coverage.objects_validated == outcome.objects
    schema = ("schema",) if whole and len(by_rules) == len(report.findings) else ()
    return ("renders", *schema, *(() if by_rules else ("rules",)))


def declared(catalog: Catalog, guides: list[str] | None = None) -> Iterator[Variant]:
    """Every listed combination of every guide (or of those named), and every preset on the combination it is for."""
    for name in guides or catalog.names("Guide"):
        guide = catalog.guide(name)
        for (engine, accelerator, provider), _ in combinations(guide):
            yield Variant(name, engine, accelerator, provider)
        for preset, found in guide.presets.items():
            own, usual = found.defaults, guide.defaults
            yield Variant(
                name,
                own.engine or usual.engine or "",
                own.accelerator or usual.accelerator or "",
                own.provider or usual.provider or "",
                preset,
            )


def render_matrix(
    catalog: Catalog, directory: Path, *, guides: list[str] | None = None, release: str | None = None,
    check: bool = True, cache: Path | None = None,
) -> Coverage:  # fmt: skip
    """Renders all variants below `directory` and checks them.

    Nothing is kept between variants but the catalog and what is compiled: templates, and schemas with their rules.
    Raises UserError for an unknown guide, and for a directory that can't be written.
    """
    outcomes: list[Outcome] = []
    clock = _Clock()
    templates: dict[str, Templates] = {}
    for variant in declared(catalog, guides):
        with clock("plan"):
            try:
                plan = build_plan(variant.request(release), catalog)
            except UserError as error:
                outcomes.append(Outcome(variant, skipped=error.what))
                continue
        with clock("render"):
            if variant.guide not in templates:
                templates[variant.guide] = Templates(catalog.template_dirs(variant.guide), cache)
            rendered = render_with(plan, templates[variant.guide])
        with clock("write"):
            documents = write_directory(rendered, directory / variant.folder)
        report = None
        if check:
            with clock("validate"):
                stack = plan.stack
                options = ValidateOptions(kube_version=stack.kube_version, release=stack.release, complete=True)
                report = validate(documents, options)
        outcomes.append(Outcome(variant, len(documents), report))
    return Coverage(tuple(outcomes), clock.seconds)


class _Clock:
    """CPU time by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage = ""
        self._started = 0.0

    def __call__(self, stage: str) -> _Clock:
        self._stage = stage
        return self

    def __enter__(self) -> None:
        self._started = time.process_time()

    def __exit__(self, *_: object) -> None:
        spent = time.process_time() - self._started
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + spent
