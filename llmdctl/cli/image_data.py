"""What `llmdctl images list` tells, as plain data and as text."""

from __future__ import annotations

from typing import Any

from llmdctl.catalog.load import Catalog
from llmdctl.catalog.select import guide_images
from llmdctl.findings import UserError


def image_list(catalog: Catalog, *, guide: str | None, release: str | None) -> list[dict[str, Any]]:
    """One entry an image and release. Raises UserError for a guide or release that the catalog lacks."""
    images = catalog.images
    if release is not None and release not in images.releases:
        raise UserError(f"there is no release set {release!r}", fix="releases: " + ", ".join(images.releases))
    wanted = guide_images(catalog.guide(guide), catalog.engines, catalog.accelerators) if guide is not None else None
    deprecated = {item.repository: item for item in images.deprecated}
    rows = []
    for name, found in images.releases.items():
        if release not in (None, name):
            continue
        for image_name, image in found.images.items():
            if wanted is not None and not any(
                image_name == item or image_name.startswith(f"{item}-") for item in wanted
            ):
                continue
            old = deprecated.get(image.repository)
            rows.append(
                {
                    "release": name,
                    "name": image_name,
                    "image": f"{image.repository}:{image.tag}",
                    "component": image.component,
                    "version": image.version,
                    "confidence": image.provenance.confidence,
                    "source": image.provenance.source,
                    "file": catalog.image_origin(name, image_name),
                    "replacement": old.replacement if old else None,
                }
            )
    return rows


def image_text(rows: list[dict[str, Any]], *, files: bool = False) -> str:
    """A table; what is not published or deprecated says so at the end of its line, where `files` also tells the
    catalog file that has the image.
    """
    names = max((len(row["name"]) for row in rows), default=0)
    images = max((len(row["image"]) for row in rows), default=0)
    lines = []
    for row in rows:
        notes = ["inferred"] if row["confidence"] == "inferred" else []
        notes += [f"deprecated, use {row['replacement']}"] if row["replacement"] else []
        notes += [f"in {row['file']}"] if files else []
        version = f"{row['component']} {row['version']}"
        line = f"{row['release']:<4} {row['name']:<{names}}  {row['image']:<{images}}  {version:<26} {'; '.join(notes)}"
        lines.append(line.rstrip() + "\n")
    return "".join(lines) or "no image\n"
