"""Autoscalers and what they scale."""

from __future__ import annotations

from llmdctl.manifest.document import Document
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node

_GROUPS = {"HorizontalPodAutoscaler": "autoscaling", "ScaledObject": "keda.sh"}


class Scaler:
    """A HorizontalPodAutoscaler or KEDA's ScaledObject."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.ref = document.ref
        self.namespace = document.ref.namespace
        self.node = Node(document, document.object)
        self.target = self.node.at("spec", "scaleTargetRef")

    @lazy
    def kind(self) -> str:
        """The target's kind; KEDA's default is a Deployment."""
        return self.target.at("kind").text() or ("Deployment" if self.ref.kind == "ScaledObject" else "")

    @lazy
    def group(self) -> str | None:
        """The target's API group; None when it is not stated."""
        version = self.target.at("apiVersion")
        return version.text().rpartition("/")[0] if version.text() else None

    @lazy
    def name(self) -> str:
        """The target's name, or ""."""
        return self.target.at("name").text()


def is_scaler(document: Document) -> bool:
    """True for the kinds that set a target's replicas."""
    return _GROUPS.get(document.ref.kind) == document.ref.api_version.partition("/")[0]
