"""Endpoint picker configs, wherever they are: in ConfigMaps, in flags, in files of their own, in Helm values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llmdctl.findings import MapKey, Path, Place
from llmdctl.findings.versions import Version
from llmdctl.manifest.document import Document
from llmdctl.view.config_text import ConfigData, ConfigTexts
from llmdctl.view.node import Node

if TYPE_CHECKING:
    from llmdctl.router.config import RouterConfig
    from llmdctl.router.fault import Fault
    from llmdctl.view.epp import Epp

KIND = "EndpointPickerConfig"
_VALUES = ("pluginsCustomConfig", "pluginsConfig")


class PickerConfig:
    """One config: where it stands, what it says, and the picker that reads it (None when none is known to).

    `inside` tells that paths of the config lead into what stands at the node.
    """

    def __init__(
        self, node: Node, written: ConfigData, epp: Epp | None, *, inside: bool = True, stated: Version | None = None
    ) -> None:
        self.node = node
        self.epp = epp
        self._written = written
        self._inside = inside
        self._stated = stated

    def at(self, path: Path) -> Place:
        """The place of a path inside the config; in an embedded text that is the place of the text with the path."""
        return self.node.document.place(*self.node.path, *path) if self._inside else self.node.place

    @property
    def version(self) -> Version | None:
        """The version of the picker that reads it, else the one that the user states; None when it isn't known."""
        return (self.epp.version if self.epp else None) or self._stated

    @property
    def data(self) -> Any:
        """Its plain data, None when it can't be read."""
        return self._written.data

    @property
    def faults(self) -> list[Fault]:
        """Everything that is wrong with it."""
        return self._written.faults(self.version)

    @property
    def config(self) -> RouterConfig | None:
        """Its typed form, None when the picker would refuse it."""
        return self._written.config

    @property
    def experimental(self) -> list[str]:
        """The instances that need --allow-experimental-plugins."""
        return self._written.experimental


def find_configs(
    config_maps: Sequence[Document],
    epps: Sequence[Epp],
    files: Sequence[Document],
    texts: ConfigTexts,
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
                yield PickerConfig(node, texts.read(text), read.get((id(document), node.path)), stated=stated)
    for epp in epps:
        node = epp.config_node
        if node is not None and node.path[:1] != ("data",) and KIND in epp.config_text:
            yield PickerConfig(node, texts.read(epp.config_text), epp, inside=False, stated=stated)
    for document in files:
        yield from _in_file(document, texts, stated)


def _in_file(document: Document, texts: ConfigTexts, stated: Version | None = None) -> Iterator[PickerConfig]:
    root = Node(document, document.object)
    if document.ref.kind == KIND:
        yield PickerConfig(root, ConfigData(document.object), None, stated=stated)
        return
    if document.ref.kind:
        return
    for steps in (("router", "epp"), ("epp",), ("inferenceExtension",)):
        for name in _VALUES:
            found = root.at(*steps, name)
            if not isinstance(found.value, Mapping):
                continue
            if found.at("kind").text() == KIND:
                yield PickerConfig(found, ConfigData(found.value), None, stated=stated)
            for key, text in found.texts().items():
                if KIND in text:
                    yield PickerConfig(found.at(MapKey(key)), texts.read(text), None, stated=stated)


def holds_config(document: Document) -> bool:
    """True for a file that is no cluster object and yet holds a config."""
    return next(_in_file(document, ConfigTexts()), None) is not None
