"""Catalog roots: where entries lie, and how one is found without reading the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from llmdctl.catalog.model import API_VERSION
from llmdctl.findings import SourceRef, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest import Document, read_paths

FOLDERS = {
    "Engine": "guides/_catalog/engines",
    "Model": "guides/_catalog/models",
    "Accelerator": "guides/_catalog/accelerators",
    "Provider": "guides/_catalog/providers",
}
"""Where entries of a kind lie below a root; a guide lies in guides/<name>/guide.yaml."""

GUIDES = "guides"
GUIDE_FILE = "guide.yaml"
SHARED = "guides/_shared"
IMAGES = "images/catalog.yaml"
IMAGE_KIND = "ImageCatalog"
KINDS = ("Guide", *FOLDERS)

API_GROUP = API_VERSION.partition("/")[0]
_STEM = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")


def file_stem(name: str) -> str:
    """The file name (without suffix) of an entry: lower case, `/` as `--`."""
    return name.lower().replace("/", "--")


@frozen
class EntryFile:
    """One entry as written: its plain data, and where it was read."""

    data: dict[str, Any]
    source: SourceRef
    origin: str

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.source.file)


class Root(Protocol):
    """A directory that entries come from."""

    directory: Path

    def find(self, kind: str, name: str) -> EntryFile | None:
        """The entry of that kind and name, or None. Raises UserError when its file can't be read."""

    def names(self, kind: str) -> Iterator[str]:
        """Names under which `find` has something, in order."""

    def images(self) -> EntryFile | None:
        """The image catalog, or None."""


class BuiltinRoot:
    """Our own layout: an entry's file is named by the entry, so that one is found without reading the others."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def find(self, kind: str, name: str) -> EntryFile | None:
        """The entry of that kind and name, or None. Raises UserError when its file can't be read."""
        stem = file_stem(name)
        if not _STEM.fullmatch(stem):
            return None
        relative = f"{GUIDES}/{stem}/{GUIDE_FILE}" if kind == "Guide" else f"{FOLDERS[kind]}/{stem}.yaml"
        return self._read(relative)

    def names(self, kind: str) -> Iterator[str]:
        """File stems: what `find` takes, though an entry may spell its own name with capitals and slashes."""
        if kind == "Guide":
            yield from sorted(path.parent.name for path in self.directory.glob(f"{GUIDES}/[!_.]*/{GUIDE_FILE}"))
        else:
            yield from sorted(path.stem for path in self.directory.glob(f"{FOLDERS[kind]}/*.yaml"))

    def images(self) -> EntryFile | None:
        """The image catalog, or None."""
        return self._read(IMAGES)

    def _read(self, relative: str) -> EntryFile | None:
        path = self.directory / relative
        if not path.is_file():
            return None
        documents = read_documents(path)
        if len(documents) != 1:
            raise UserError("a catalog file holds exactly one entry", source=SourceRef(str(path)))
        return EntryFile(documents[0].object, documents[0].source, relative)


@dataclass
class UserRoot:
    """Any `*.yaml` below the directory, told apart by its kind; all are read once, when the first is asked for."""

    directory: Path

    def find(self, kind: str, name: str) -> EntryFile | None:
        """The entry of that kind and name, or None. Raises UserError when any file of the root can't be read."""
        return self._entries.get((kind, file_stem(name)))

    def names(self, kind: str) -> Iterator[str]:
        """Names as written, in order of the files."""
        for (found, _), entry in self._entries.items():
            if found == kind:
                yield str(entry.data["name"])

    def images(self) -> EntryFile | None:
        """The image catalog, or None."""
        return self._entries.get((IMAGE_KIND, ""))

    @cached_property
    def _entries(self) -> dict[tuple[str, str], EntryFile]:
        entries: dict[tuple[str, str], EntryFile] = {}
        for path in sorted(self.directory.rglob("*.yaml")):
            if not path.is_file():
                continue
            for document in read_documents(path):
                self._add(document, path, entries)
        return entries

    def _add(self, document: Document, path: Path, entries: dict[tuple[str, str], EntryFile]) -> None:
        if not is_entry(document):
            return
        data, source = document.object, document.source
        kind, name = data["kind"], data.get("name")
        if kind != IMAGE_KIND and not isinstance(name, str):
            raise UserError(f"an entry of kind {kind} needs a name", source=source)
        key = (str(kind), "" if kind == IMAGE_KIND else file_stem(str(name)))
        if key in entries:
            raise UserError(
                f"{kind} {name or ''}".strip() + " stands in the catalog twice",
                source=source,
                why=f"it is also in {entries[key].source}",
                fix="remove one, or give it another name",
            )
        entries[key] = EntryFile(data, source, str(path))


def is_entry(document: Document) -> bool:
    """True for a document of the catalog, False for any other object: a catalog may lie beside manifests.

    Raises UserError for one that nearly is: a kind that the catalog does not have, or another version.
    """
    version, kind = document.object.get("apiVersion"), document.object.get("kind")
    known = kind in (*KINDS, IMAGE_KIND)
    if not known and not str(version).startswith(f"{API_GROUP}/"):
        return False
    if version != API_VERSION:
        raise UserError(f"apiVersion is {version!r}", source=document.source, fix=f"set apiVersion: {API_VERSION}")
    if not known:
        kinds = ", ".join((*KINDS, IMAGE_KIND))
        raise UserError(f"the catalog has no kind {kind!r}", source=document.source, fix=f"kinds: {kinds}")
    return True


def read_documents(path: Path) -> list[Document]:
    """The documents of a catalog file. Raises UserError when it can't be read or names a key twice."""
    reading = read_paths([str(path)])
    documents = reading.require()
    faults = [UserError(finding.title, source=finding.source, fix=finding.fix) for finding in reading.findings]
    if faults:
        raise UserError(faults[0].what, source=faults[0].source, fix=faults[0].fix, others=faults[1:])
    return documents


def builtin_directory() -> Path:
    """The directory of the catalog that comes with llmdctl: the checkout, or the copy in the installed package."""
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / GUIDES).is_dir():
        return checkout
    return package / "_builtin"
