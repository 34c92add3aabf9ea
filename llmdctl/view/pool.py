"""InferencePool: which pods, on which ports, picked by whom."""

from __future__ import annotations

from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.document import Document
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node

GROUP = "inference.networking.k8s.io"
OLD_GROUP = "inference.networking.x-k8s.io"


@frozen
class TargetPort:
    """One target port; `number` is None where the manifest holds none."""

    number: int | None
    place: Place


class Pool:
    """An InferencePool of the current group, or of the old one (flat selector, one target port)."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.node = Node(document, document.object)
        ref = document.ref
        self.ref = ref
        self.name = ref.name
        self.namespace = ref.namespace
        self.is_old = ref.api_version.startswith(f"{OLD_GROUP}/")

    @property
    def place(self) -> Place:
        """Where the pool stands."""
        return self.node.place

    def at(self, *steps: str | int) -> Place:
        """A place inside the pool."""
        return self.document.place(*steps)

    @property
    def _selector_path(self) -> tuple[str, ...]:
        return ("spec", "selector") if self.is_old else ("spec", "selector", "matchLabels")

    @lazy
    def selector(self) -> dict[str, str]:
        """Label pairs that its pods have."""
        return self.node.at(*self._selector_path).texts()

    @property
    def selector_place(self) -> Place:
        """Where the selector stands."""
        return self.at(*self._selector_path)

    @lazy
    def target_ports(self) -> list[TargetPort]:
        """The target ports; each is an endpoint of its own for every pod."""
        if self.is_old:
            node = self.node.at("spec", "targetPortNumber")
            return [TargetPort(node.integer(), node.place)] if node.exists else []
        return [
            TargetPort(item.at("number").integer(), item.at("number").place)
            for item in self.node.at("spec", "targetPorts").items()
        ]

    @property
    def picker_name(self) -> str:
        """The endpoint picker's Service, or ""."""
        return self.node.at("spec", "extensionRef" if self.is_old else "endpointPickerRef", "name").text()


def is_pool(document: Document) -> bool:
    """True for an InferencePool of either group."""
    ref = document.ref
    return ref.kind == "InferencePool" and ref.api_version.rpartition("/")[0] in (GROUP, OLD_GROUP)
