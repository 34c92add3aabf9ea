"""Writes catalog/data/coverage.json: what each listed combination passes. `--check` compares; 1 when it is stale."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from llmdctl.catalog.coverage import FILE
from llmdctl.catalog.load import load_catalog
from llmdctl.operate.matrix import Coverage, passed_layers, render_matrix

RELEASES = ("0.8", "0.9", "1.0")


def document(found: dict[str, Coverage]) -> str:
    """The file's text for the matrix as rendered in each release. A combination that a release lacks isn't held
    against it.
    """
    rendered: dict[str, list[tuple[str, ...]]] = {}
    for coverage in found.values():
        for outcome in coverage.outcomes:
            kept = rendered.setdefault(outcome.variant.folder, [])
            if not outcome.skipped:
                kept.append(passed_layers(outcome))
    common = {
        folder: [layer for layer in layers[0] if all(layer in other for other in layers)] if layers else []
        for folder, layers in sorted(rendered.items())
    }
    lines = ",\n".join(f"  {json.dumps(folder)}: {json.dumps(layers)}" for folder, layers in common.items())
    return f'{{\n "releases": {json.dumps(sorted(found))},\n "variants": {{\n{lines}\n }}\n}}\n'


def main() -> int:
    """Renders the whole matrix in every release, and writes or checks the file."""
    catalog = load_catalog()
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for release in RELEASES:
            found[release] = render_matrix(catalog, Path(scratch) / release, release=release)
    text = document(found)
    if "--check" in sys.argv[1:]:
        fresh = FILE.is_file() and FILE.read_text(encoding="utf-8") == text
        print(f"{FILE.name} is up to date" if fresh else f"stale: {FILE.name}")
        return 0 if fresh else 1
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
