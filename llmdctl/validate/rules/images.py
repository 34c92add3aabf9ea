"""IMG: images, and what is said of the versions in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Hit, Outcome, Rule, Severity
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import View
from llmdctl.view.versions import ANNOTATION, annotated_version, image_component, image_version


def check_stated_versions(view: View) -> Iterator[Outcome]:
    """IMG001: the annotation states another version than the image's tag."""
    for template in view.templates:
        annotation = template.version_annotation
        for container in template.running if annotation else ():
            component = image_component(container.image)
            tagged = image_version(container.image, component) if component else None
            stated = annotated_version(annotation, component)
            if tagged is None or stated is None or tagged == stated:
                continue
            yield Hit(
                container.at("image"),
                f"the image carries {component} {tagged}, annotation {ANNOTATION} says {stated}",
                evidence=(seen(f"{ANNOTATION}: {annotation}", template.version_place),),
                fix="correct the annotation, or remove it where the tag tells the version",
            )


IMG001 = Rule(
    code="IMG001",
    severity=Severity.WARNING,
    title="the stated version of a component contradicts its image",
    why="the annotation wins wherever versions matter, so every check of versions speaks of software that does not run",
    fix="correct the annotation",
    references=("llmdctl: llmdctl.io/component-version",),
    needs=frozenset({"workloads"}),
    check=check_stated_versions,
)

IMG_RULES: Iterable[Rule] = (IMG001,)
