"""Endpoint picker configs, wherever they are: in ConfigMaps, in flags, in files of their own, in Helm values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llmdctl.findings import MapKey, Path, Place
from llmdctl.findings.versions import Version
from llmdctl.manifest.document import Document
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node

if TYPE_CHECKING:
    from llmdctl.router.config import RouterConfig
    from llmdctl.router.fault import Fault
    from llmdctl.view.epp import Epp

KIND = "EndpointPickerConfig"
_VALUES = ("pluginsCustomConfig", "pluginsConfig")


class PickerConfig:
    """One config: where its text stands, its plain data, and the picker that reads it (None when none is known to)."""

    def __init__(
        self, node: Node, data: Any, epp: Epp | None, *, inside: bool, stated: Version | None = None, text: str = ""
    ) -> None:
        self.node = node
        self.data = data
        self.epp = epp
        self._inside = inside
        self._stated = stated
        self._text = text

    def at(self, path: Path) -> Place:
        """The place of a path inside the config; in an embedded text that is the place of the text with the path."""
        return self.node.document.place(*self.node.path, *path) if self._inside else self.node.place

    @property
    def version(self) -> Version | None:
        """The version of the picker that reads it, else the one that the user states; None when it isn't known."""
        return (self.epp.version if self.epp else None) or self._stated

    @lazy
    def faults(self) -> list[Fault]:
        """Everything that is wrong with it."""
        # Imported here: most inputs hold no picker.
        from llmdctl.router.fault import Fault
        from llmdctl.router.lint import lint

        unread = [Fault("RTR001", (), what, fix) for what, fix in _unreadable(self._text)] if self._text else []
        return unread if self.data is None and unread else [*unread, *lint(self.data, self.version)]

    @lazy
    def config(self) -> RouterConfig | None:
        """Its typed form, None when it can't be read."""
        from llmdctl.router.config import load_problems

        return load_problems(self.data)[0]


def find_configs(
    config_maps: Sequence[Document],
    epps: Sequence[Epp],
    files: Sequence[Document],
    stated: Version | None = None,
) -> Iterator[PickerConfig]:
    """Every config of the input, each text once. `stated` is the picker's version where nothing else tells it."""
    read: dict[tuple[int, Path], Epp] = {}
    for epp in epps:
        node = epp.config_node
        if node is not None:
            read[id(node.document), node.path] = epp
    for document in config_maps:
        data = Node(document, document.object).at("data")
        for key, text in data.texts().items():
            if KIND in text:
                node = data.key(key)
                epp_here = read.get((id(document), node.path))
                yield PickerConfig(node, _parsed(text), epp_here, inside=True, stated=stated, text=text)
    for epp in epps:
        node = epp.config_node
        if node is not None and node.path[:1] != ("data",) and KIND in epp.config_text:
            text = epp.config_text
            yield PickerConfig(node, _parsed(text), epp, inside=False, stated=stated, text=text)
    for document in files:
        yield from _in_file(document, stated)


def _in_file(document: Document, stated: Version | None = None) -> Iterator[PickerConfig]:
    root = Node(document, document.object)
    if document.ref.kind == KIND:
        yield PickerConfig(root, document.object, None, inside=True, stated=stated)
        return
    if document.ref.kind:
        return
    for steps in (("router", "epp"), ("epp",), ("inferenceExtension",)):
        for name in _VALUES:
            found = root.at(*steps, name)
            if not isinstance(found.value, Mapping):
                continue
            if found.at("kind").text() == KIND:
                yield PickerConfig(found, found.value, None, inside=True, stated=stated)
            for key, text in found.texts().items():
                if KIND in text:
                    node = found.at(MapKey(key))
                    yield PickerConfig(node, _parsed(text), None, inside=True, stated=stated, text=text)


def holds_config(document: Document) -> bool:
    """True for a file that is no cluster object and yet holds a config."""
    return next(_in_file(document), None) is not None


def _parsed(text: str) -> Any:
    from llmdctl.manifest import read_text

    reading = read_text(text, "config")
    return reading.documents[0].object if reading.documents and not reading.errors else None


def _unreadable(text: str) -> Iterator[tuple[str, str]]:
    """Why the picker can't read an embedded text ; files of their own are judged where they are read."""
    from llmdctl.manifest import read_text

    reading = read_text(text, "config")
    for error in reading.errors:
        line = f" at its line {error.source.line}" if error.source and error.source.line else ""
        yield f"the config is no YAML{line}: {error.why or error.what}", "mend the text"
    for finding in (item for item in reading.findings if item.code == "YML001"):
        line = f" (line {finding.source.line} of the text)" if finding.source and finding.source.line else ""
        yield f"{finding.title}{line}", finding.fix
