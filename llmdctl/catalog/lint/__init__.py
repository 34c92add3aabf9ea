"""`llmdctl catalog lint`: every file loads, every name resolves, templates decide nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from llmdctl.catalog.lint.cells import lint_support, lint_support_images
from llmdctl.catalog.lint.contributions import lint_contributions, volume_names
from llmdctl.catalog.lint.flags import lint_event_flags
from llmdctl.catalog.lint.guides import lint_guide, lint_template_files
from llmdctl.catalog.lint.names import Loaded, Names
from llmdctl.catalog.lint.problem import CatalogProblem, Problems
from llmdctl.catalog.load import TYPES, Catalog, typed_entry
from llmdctl.catalog.model import API_VERSION, Accelerator, Engine, Guide, ImageCatalog, Provider
from llmdctl.catalog.roots import (
    FOLDERS,
    GUIDE_FILE,
    GUIDES,
    IMAGE_KIND,
    SHARED,
    BuiltinRoot,
    EntryFile,
    UserRoot,
    builtin_directory,
    file_stem,
    is_entry,
    read_documents,
)
from llmdctl.catalog.select import guide_images
from llmdctl.findings import UserError

__all__ = ["CatalogProblem", "lint_catalog"]


def lint_catalog(directory: str | Path) -> list[CatalogProblem]:
    """Everything that is wrong in a catalog directory, in order of files and lines; empty when it is good.

    Names may refer to entries of the directory and to ours. Raises UserError when there is no such directory, or
    nothing of a catalog in it.
    """
    root = Path(directory)
    try:
        is_there = bool(str(directory)) and root.is_dir()
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        raise UserError(f"there is no directory {directory}", fix="give the directory that holds the catalog's files")
    return _Linter(root).run()


class _Linter:
    def __init__(self, root: Path) -> None:
        self._root = root
        # The layout of our own catalog promises that a file is named by its entry.
        self._strict = (root / GUIDES / "_catalog").is_dir()
        self._problems = Problems()
        self._entries: dict[tuple[str, str], Loaded] = {}
        self._images: list[tuple[ImageCatalog, EntryFile]] = []

    def run(self) -> list[CatalogProblem]:
        files = list(self._files())
        for path in files:
            self._load(path)
        if not self._entries and not self._images and not self._problems.found:
            raise UserError(f"{self._root} holds no catalog entry", fix=f"an entry has apiVersion: {API_VERSION}")
        self._check_entries()
        self._check_images()
        return sorted(set(self._problems.found))

    def _files(self) -> Iterator[Path]:
        places = [self._root / GUIDES, self._root / "images"] if self._strict else [self._root]
        for place in places:
            yield from (path for path in sorted(place.rglob("*.yaml")) if path.is_file())

    def _load(self, path: Path) -> None:
        try:
            documents = read_documents(path)
        except UserError as error:
            self._problems.error(error, str(path))
            return
        for document in documents:
            try:
                if is_entry(document):
                    self._add(EntryFile(document.object, document.source, str(path)))
            except UserError as error:
                self._problems.error(error, str(path))

    def _add(self, file: EntryFile) -> None:
        kind = str(file.data["kind"])
        if kind == IMAGE_KIND:
            self._images.append((typed_entry(ImageCatalog, file), file))
            return
        entry = typed_entry(TYPES[kind], file)
        key = (kind, entry.name)
        if key in self._entries:
            self._problems.at(file, ("name",), f"{kind} {entry.name} is also in {self._entries[key][1].source}")
            return
        self._entries[key] = (entry, file)
        expected = self._root / (
            f"{GUIDES}/{file_stem(entry.name)}/{GUIDE_FILE}"
            if kind == "Guide"
            else f"{FOLDERS[kind]}/{file_stem(entry.name)}.yaml"
        )
        if self._strict and file.path != expected:
            self._problems.at(file, ("name",), f"{kind} {entry.name} does not belong into this file", f"use {expected}")

    def _catalog(self) -> Catalog:
        """What a user of this directory sees: its entries over ours."""
        ours = BuiltinRoot(builtin_directory())
        return Catalog([BuiltinRoot(self._root) if self._strict else UserRoot(self._root), ours])

    def _check_entries(self) -> None:
        ours = Catalog([BuiltinRoot(builtin_directory())])
        names = Names(self._entries, [name for images, _ in self._images for name in images.releases], ours)
        engines = [entry for entry, _ in self._entries.values() if isinstance(entry, Engine)]
        engines += [engine for engine in ours.engines.values() if ("Engine", engine.name) not in self._entries]
        of_engines = {name for engine in engines for name in volume_names(engine)}
        shared = [path / SHARED for path in (self._root, builtin_directory())]
        own_templates = [shared[0]]
        for entry, file in self._entries.values():
            names.check_defaults(entry.defaults, file, ("defaults",), self._problems)
            lint_contributions(entry, file, of_engines | volume_names(entry), names, self._problems)
            if isinstance(entry, Provider) and entry.extends:
                self._check_extends(entry, file, names, ours)
            if isinstance(entry, Engine):
                lint_event_flags(entry, file, self._problems)
            if isinstance(entry, Accelerator):
                for position, name in enumerate(entry.connectors):
                    names.check("transport", name, file, ("connectors", position), self._problems)
            if isinstance(entry, Accelerator | Provider):
                lint_support(entry, file, partial(self._find_guide, ours), names, self._problems)
            if isinstance(entry, Guide):
                templates = file.path.parent / "templates"
                own_templates.append(templates)
                lint_guide(entry, file, [templates, *shared], names, self._problems)
        lint_template_files(own_templates, self._problems)

    def _find_guide(self, ours: Catalog, name: str) -> Guide | None:
        found = self._entries.get(("Guide", name))
        guide = found[0] if found else ours.guides.get(name)
        return guide if isinstance(guide, Guide) else None

    def _check_extends(self, provider: Provider, file: EntryFile, names: Names, ours: Catalog) -> None:
        names.check("provider", provider.extends, file, ("extends",), self._problems)
        seen, name = {provider.name}, provider.extends
        while name:
            if name in seen:
                self._problems.at(file, ("extends",), f"provider {provider.name} extends itself", "break the cycle")
                return
            seen.add(name)
            found = self._entries.get(("Provider", name))
            base = found[0] if found else ours.providers.get(name)
            name = base.extends if isinstance(base, Provider) else ""

    def _check_images(self) -> None:
        for images, file in self._images:
            if images.default_release and images.default_release not in images.releases:
                self._problems.at(file, ("defaultRelease",), f"there is no release set {images.default_release!r}")
        if self._problems.found:
            return  # which images are needed follows from entries that load
        catalog = self._catalog()
        for entry, file in self._entries.values():
            if isinstance(entry, Accelerator) and not self._check_family(entry, file, catalog):
                continue
            if isinstance(entry, Accelerator | Provider):
                lint_support_images(entry, file, catalog, self._problems)
            if not isinstance(entry, Guide):
                continue
            needed = guide_images(entry, catalog.engines, catalog.accelerators)
            for release, found in catalog.images.releases.items():
                for missing in sorted(needed - set(found.images)):
                    what = f"release set {release} has no image {missing!r}, which the matrix needs"
                    self._problems.at(file, ("matrix",), what, "add it to the image catalog")

    def _check_family(self, accelerator: Accelerator, file: EntryFile, catalog: Catalog) -> bool:
        """True when some engine has an image for the family."""
        wanted = [f"{engine}-{accelerator.family}" for engine in catalog.engines]
        if any(name in release.images for release in catalog.images.releases.values() for name in wanted):
            return True
        what = f"no release set has an engine image for family {accelerator.family!r}, so nothing can be rendered"
        fix = f"add an ImageCatalog beside it, with one of the images {', '.join(wanted)}"
        self._problems.at(file, ("family",), what, fix)
        return False
