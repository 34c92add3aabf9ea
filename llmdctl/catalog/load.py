"""Reading the catalog: an entry is read when it is asked for, so that one stack does not pay for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from llmdctl.catalog.model import (
    Accelerator,
    Engine,
    Entry,
    Guide,
    GuideCell,
    ImageCatalog,
    ModelEntry,
    Provider,
    ReleaseSet,
)
from llmdctl.catalog.roots import (
    IMAGE_KIND,
    SHARED,
    BuiltinRoot,
    EntryFile,
    Root,
    UserRoot,
    builtin_directory,
    file_stem,
)
from llmdctl.findings import UserError, format_path
from llmdctl.manifest import locate
from llmdctl.manifest.typed import TypedError, load, nearest

ENVIRONMENT = "LLMDCTL_CATALOG"
LOCAL = ".llmdctl/catalog"

TYPES: dict[str, type[Entry]] = {
    "Guide": Guide,
    "Engine": Engine,
    "Model": ModelEntry,
    "Accelerator": Accelerator,
    "Provider": Provider,
}

E = TypeVar("E", bound=Entry)
T = TypeVar("T")


class Entries(Mapping[str, E]):
    """The entries of a kind by name; an entry is read when its value is taken."""

    def __init__(self, names: Callable[[], list[str]], get: Callable[[str], E]) -> None:
        self._names = names
        self._get = get

    def __getitem__(self, name: str) -> E:
        if name not in self._names():
            raise KeyError(name)
        return self._get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


class Catalog:
    """Guides, engines, models, accelerators, providers and images of all roots; the first root that has one wins.

    `notices` grows as entries are read: it names those that shadow an entry of a later root.
    """

    def __init__(self, roots: Sequence[Root]) -> None:
        self.roots = tuple(roots)
        self._entries: dict[tuple[str, str], tuple[Entry, EntryFile, Root]] = {}
        self.notices: list[str] = []

    def guide(self, name: str) -> Guide:
        """The guide of that name. Raises UserError when there is none, naming near ones."""
        guide = self._typed("Guide", name, Guide)
        added = [cell for cell in self._added_cells if cell.guide == guide.name]
        return replace(guide, matrix=[*guide.matrix, *added]) if added else guide

    @cached_property
    def _added_cells(self) -> list[GuideCell]:
        """What vendors add to guides; our own entries stand in the guides' matrices."""
        cells: list[GuideCell] = []
        for root in self.roots:
            if isinstance(root, BuiltinRoot):
                continue
            for kind in ("Accelerator", "Provider"):
                for name in sorted(root.names(kind)):
                    entry = self._require(kind, name)[0]
                    if isinstance(entry, Accelerator | Provider):
                        cells.extend(entry.support)
        return cells

    def engine(self, name: str) -> Engine:
        """The engine of that name. Raises UserError when there is none, naming near ones."""
        return self._typed("Engine", name, Engine)

    def accelerator(self, name: str) -> Accelerator:
        """The accelerator of that name. Raises UserError when there is none, naming near ones."""
        return self._typed("Accelerator", name, Accelerator)

    def provider(self, name: str) -> Provider:
        """The provider of that name. Raises UserError when there is none, naming near ones."""
        return self._typed("Provider", name, Provider)

    def model(self, name: str) -> ModelEntry:
        """The model of that hub id. Raises UserError when there is none, naming near ones."""
        return self._typed("Model", name, ModelEntry)

    def find_model(self, name: str) -> ModelEntry | None:
        """The model of that hub id (letter case does not count, as on the hub), or None: a stack may serve any."""
        found = self._find("Model", name)
        return found[0] if found and isinstance(found[0], ModelEntry) else None

    @property
    def guides(self) -> Mapping[str, Guide]:
        """All guides by name."""
        return Entries(lambda: self.names("Guide"), self.guide)

    @property
    def engines(self) -> Mapping[str, Engine]:
        """All engines by name."""
        return Entries(lambda: self.names("Engine"), self.engine)

    @property
    def models(self) -> Mapping[str, ModelEntry]:
        """All models by hub id."""
        return Entries(lambda: self.names("Model"), self.model)

    @property
    def accelerators(self) -> Mapping[str, Accelerator]:
        """All accelerators by name."""
        return Entries(lambda: self.names("Accelerator"), self.accelerator)

    @property
    def providers(self) -> Mapping[str, Provider]:
        """All providers by name."""
        return Entries(lambda: self.names("Provider"), self.provider)

    @cached_property
    def images(self) -> ImageCatalog:
        """The release sets of all roots together; where two roots have an image of a set, the earlier root's counts.

        Raises UserError when no root has any.
        """
        found = [file for root in self.roots if (file := root.images()) is not None]
        if not found:
            raise UserError("the catalog has no images", fix="reinstall llmdctl: its images/catalog.yaml is missing")
        catalogs: list[tuple[EntryFile, ImageCatalog]] = [(file, typed_entry(ImageCatalog, file)) for file in found]
        releases: dict[str, ReleaseSet] = {}
        for file, catalog in catalogs:
            for name, release in catalog.releases.items():
                for image in release.images:
                    self._image_origins.setdefault((name, image), file.origin)
                if name in releases:
                    releases[name] = self._merged(name, releases[name], release, file)
                else:
                    releases[name] = release
                    self._release_origins[name] = file
        default = next((catalog.default_release for _, catalog in catalogs if catalog.default_release), "")
        deprecated = [item for _, catalog in catalogs for item in catalog.deprecated]
        return replace(catalogs[0][1], default_release=default, releases=releases, deprecated=deprecated)

    def _merged(self, name: str, own: ReleaseSet, other: ReleaseSet, file: EntryFile) -> ReleaseSet:
        """A release set of an earlier root over one of the same name: image by image, component by component."""
        for image in sorted(own.images.keys() & other.images.keys()):
            self.notices.append(f"image {image} of release {name} shadows the one in {file.origin}")
        return replace(
            own,
            title=own.title or other.title,
            components={**other.components, **own.components},
            images={**other.images, **own.images},
        )

    def image_origin(self, release: str, image: str) -> str:
        """The file in which an image of a release set was read. Raises KeyError for one that is in none."""
        _ = self.images  # the origins are noted while it is read
        return self._image_origins[release, image]

    @cached_property
    def _image_origins(self) -> dict[tuple[str, str], str]:
        return {}

    @cached_property
    def _release_origins(self) -> dict[str, EntryFile]:
        return {}

    def names(self, kind: str) -> list[str]:
        """Names of the entries of a kind, sorted, as the entries spell them."""
        found: dict[str, str] = {}
        for root in self.roots:
            for name in root.names(kind):
                found.setdefault(file_stem(name), name)
        if kind == "Model":
            # A hub id can't be told from its file name: which of the dashes were slashes, and what was a capital.
            found = {stem: entry[0].name for stem in found if (entry := self._find(kind, stem))}
        return sorted(found.values())

    def data(self, kind: str, name: str) -> dict[str, Any]:
        """The plain data of an entry as written. For ImageCatalog, `name` is a release. Do not change it."""
        return self.file(kind, name).data

    def origin(self, kind: str, name: str) -> str:
        """Where an entry was read: below the built-in root a short path such as guides/_catalog/providers/gke.yaml."""
        return self.file(kind, name).origin

    def file(self, kind: str, name: str) -> EntryFile:
        """The file of an entry. Raises UserError when there is no such entry."""
        if kind == IMAGE_KIND:
            if name in self.images.releases:
                return self._release_origins[name]
            raise self._unknown("release set", name, list(self.images.releases))
        return self._require(kind, name)[1]

    def root_of_guide(self, guide: str) -> Path:
        """The catalog's directory that a guide comes from."""
        return self._require("Guide", guide)[2].directory

    def template_dirs(self, guide: str) -> list[Path]:
        """Directories in which a guide's templates are looked up: its own, its root's shared ones, ours."""
        _, file, root = self._require("Guide", guide)
        candidates = [file.path.parent / "templates", root.directory / SHARED]
        candidates += [other.directory / SHARED for other in self.roots if other is not root]
        return [path for path in candidates if path.is_dir()]

    def _typed(self, kind: str, name: str, cls: type[E]) -> E:
        entry = self._require(kind, name)[0]
        if not isinstance(entry, cls):
            raise TypeError(f"{kind} {name} was loaded as {type(entry).__name__}")
        return entry

    def _require(self, kind: str, name: str) -> tuple[Entry, EntryFile, Root]:
        found = self._find(kind, name)
        if found is None or (kind != "Model" and found[0].name != name):
            raise self._unknown(kind.lower(), name, self.names(kind))
        return found

    @staticmethod
    def _unknown(kind: str, name: str, known: list[str]) -> UserError:
        close = nearest(name, known)
        listed = ", ".join(known) or "none"
        return UserError(
            f"there is no {kind} {name[:100]!r}",
            fix=f"did you mean {close!r}? The catalog has: {listed}" if close else f"the catalog has: {listed}",
        )

    def _find(self, kind: str, name: str) -> tuple[Entry, EntryFile, Root] | None:
        key = (kind, file_stem(name))
        if key in self._entries:
            return self._entries[key]
        for index, root in enumerate(self.roots):
            file = root.find(kind, name)
            if file is None:
                continue
            entry = typed_entry(TYPES[kind], file)
            if file_stem(entry.name) != key[1]:
                raise UserError(
                    f"{kind.lower()} {entry.name!r} does not belong into a file of this name",
                    source=file.source,
                    fix=f"name the entry {key[1]!r}, or the file {file_stem(entry.name)!r}",
                )
            self._note_shadowed(kind, entry.name, file, self.roots[index + 1 :])
            self._entries[key] = (entry, file, root)
            return self._entries[key]
        return None

    def _note_shadowed(self, kind: str, name: str, file: EntryFile, later: Sequence[Root]) -> None:
        for root in later:
            shadowed = root.find(kind, name)
            if shadowed is not None:
                self.notices.append(f"{kind.lower()} {name} of {file.origin} shadows {shadowed.origin}")
                return


def typed_entry(cls: type[T], file: EntryFile) -> T:
    """The typed form of an entry. Raises UserError with all faults and their lines."""
    try:
        return load(cls, file.data)
    except TypedError as error:
        document = file.source.document
        text = file.path.read_bytes()
        targets = [(document, None, problem.path) for problem in error.problems]
        places = locate(text, file.source.file, targets)
        faults = [
            UserError(
                f"{format_path(problem.path)}: {problem.what}".lstrip(": "), source=places[target], fix=problem.fix
            )
            for problem, target in zip(error.problems, targets, strict=True)
        ]
        raise UserError(faults[0].what, source=faults[0].source, fix=faults[0].fix, others=faults[1:]) from error


def load_catalog(
    directories: Sequence[str] = (), environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Catalog:
    """The catalog of these roots, first wins: `directories`, $LLMDCTL_CATALOG, .llmdctl/catalog below `cwd`, ours.

    Relative directories are below `cwd` (default: the process's). Raises UserError for a directory that is not there.
    """
    base = cwd if cwd is not None else Path()
    named = [(directory, "--catalog") for directory in directories]
    variable = (environment or {}).get(ENVIRONMENT, "")
    named += [(directory, ENVIRONMENT) for directory in variable.split(os.pathsep) if directory]
    roots: list[Root] = [UserRoot(_directory(base / directory, origin)) for directory, origin in named]
    if (base / LOCAL).is_dir():
        roots.append(UserRoot(base / LOCAL))
    roots.append(BuiltinRoot(builtin_directory()))
    return Catalog(roots)


def _directory(path: Path, origin: str) -> Path:
    try:
        present = path.is_dir()
    except (OSError, ValueError):
        present = False
    if not present:
        raise UserError(
            f"{origin}: there is no directory {path}", fix="give the directory that holds the catalog's files"
        )
    return path
