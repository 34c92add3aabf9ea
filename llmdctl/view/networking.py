"""Services and monitors: selectors and the ports that they name."""

from __future__ import annotations

from collections.abc import Iterator

from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.document import Document
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node


@frozen
class PortReference:
    """A port of pods that an object names. `number` is None when a name is given."""

    name: str
    number: int | None
    place: Place


class Service:
    """A Service: its selector and its target ports."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.node = Node(document, document.object)
        ref = document.ref
        self.ref = ref
        self.name = ref.name
        self.namespace = ref.namespace
        self.labels = self.node.at("metadata", "labels").texts()

    @property
    def place(self) -> Place:
        """Where the Service stands."""
        return self.node.place

    def at(self, *steps: str | int) -> Place:
        """A place inside the Service."""
        return self.document.place(*steps)

    @lazy
    def selector(self) -> dict[str, str]:
        """Label pairs that its pods have; empty when something else fills its endpoints."""
        return self.node.at("spec", "selector").texts()

    @lazy
    def target_ports(self) -> list[PortReference]:
        """The pod ports that it forwards to."""
        return [_reference(item.at("targetPort")) for item in self.node.at("spec", "ports").items()]


class Monitor:
    """A PodMonitor: which pods it scrapes and on which ports. `namespaces` is None for any namespace."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.node = Node(document, document.object)
        ref = document.ref
        self.ref = ref
        self.name = ref.name
        self.namespace = ref.namespace

    @property
    def place(self) -> Place:
        """Where the monitor stands."""
        return self.node.place

    def at(self, *steps: str | int) -> Place:
        """A place inside the monitor."""
        return self.document.place(*steps)

    @lazy
    def selector(self) -> dict[str, str] | None:
        """The label pairs; None when it uses expressions, which are not evaluated here."""
        if any(True for _ in self.node.at("spec", "selector", "matchExpressions").items()):
            return None
        return self.node.at("spec", "selector", "matchLabels").texts()

    @lazy
    def namespaces(self) -> list[str] | None:
        """The namespaces it looks into: its own unless told otherwise."""
        chosen = self.node.at("spec", "namespaceSelector")
        if chosen.at("any").truth():
            return None
        return chosen.at("matchNames").strings() or [self.namespace]

    @lazy
    def ports(self) -> list[PortReference]:
        """The ports that it scrapes."""
        return list(self._ports())

    def _ports(self) -> Iterator[PortReference]:
        for item in self.node.at("spec", "podMetricsEndpoints").items():
            for field in ("port", "portNumber", "targetPort"):
                node = item.at(field)
                if node.exists:
                    yield _reference(node)
                    break


def _reference(node: Node) -> PortReference:
    return PortReference(node.text(), node.integer(), node.place)
