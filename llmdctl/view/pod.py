"""A pod template: the labels its pods will have, its containers, engines, sidecar and who binds which port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.view.command_line import read_engine
from llmdctl.view.container import Container
from llmdctl.view.engine import EngineCommand
from llmdctl.view.labels import INFERENCE_SERVING, ROLE, Labels
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node
from llmdctl.view.ports import Listener
from llmdctl.view.sidecar import Sidecar, is_sidecar
from llmdctl.view.versions import ANNOTATION, VersionOptions, annotated_version

if TYPE_CHECKING:
    from llmdctl.view.workload import Workload


@frozen
class Stated:
    """Versions that options and annotations state, before an image is asked."""

    options: VersionOptions = field(default_factory=VersionOptions)
    annotation: str = ""

    def version(self, role: str, component: str) -> Version | None:
        """The stated version of a component in a role."""
        return self.options.get(role, component) or annotated_version(self.annotation, component)


class PodTemplate:
    """One template of a workload. `part` tells an LWS's leader and workers apart ("" elsewhere)."""

    def __init__(
        self,
        workload: Workload,
        node: Node,
        labels: Labels,
        *,
        part: str = "",
        injected: Mapping[str, str | None] | None = None,
        options: VersionOptions | None = None,
    ) -> None:
        self.workload = workload
        self.node = node
        self.labels = labels
        self.part = part
        self._injected = injected or {}
        own = node.at("metadata", "annotations").key(ANNOTATION)
        self.version_annotation = own.text() or workload.annotations.get(ANNOTATION, "")
        """What the template, else the workload, states of its components' versions."""
        self.version_place = own.place if own.text() else workload.place
        self._stated = Stated(options or VersionOptions(), self.version_annotation)

    def stated_version(self, component: str) -> Version | None:
        """What options and annotations say of a component's version."""
        return self._stated.version(self.role, component)

    @property
    def place(self) -> Place:
        """Where the template stands; for a bare Pod the object itself."""
        return self.node.place

    def at(self, *steps: str | int) -> Place:
        """A place inside the template."""
        return self.node.document.place(*self.node.path, *steps)

    @property
    def labels_place(self) -> Place:
        """Where its labels stand."""
        return self.at("metadata", "labels")

    @property
    def namespace(self) -> str:
        """The namespace that the input states, or ""."""
        return self.workload.namespace

    @property
    def role(self) -> str:
        """The llm-d role by label: prefill, decode, encode, ..., or ""."""
        return self.labels.get(ROLE) or ""

    @property
    def title(self) -> str:
        """How messages name it: `decode` for a role, else the part or the kind."""
        return self.workload.role_name or self.role or self.part or self.workload.kind

    @property
    def lead(self) -> str:
        """What a message about this template starts with, after the object: the role of a DisaggregatedSet."""
        return f"roles[{self.workload.role_name}] " if self.workload.role_name else ""

    @lazy
    def containers(self) -> list[Container]:
        """The ordinary containers."""
        return [
            Container(item, init=False, injected=self._injected) for item in self.node.at("spec", "containers").items()
        ]

    @lazy
    def init_containers(self) -> list[Container]:
        """The init containers, native sidecars among them."""
        items = self.node.at("spec", "initContainers").items()
        return [Container(item, init=True, injected=self._injected) for item in items]

    @lazy
    def running(self) -> list[Container]:
        """The containers that run beside each other: ordinary ones and native sidecars."""
        return [item for item in (*self.init_containers, *self.containers) if item.keeps_running]

    @property
    def host_network(self) -> bool:
        """True when its ports are the node's."""
        return self.node.at("spec", "hostNetwork").truth() is True

    @lazy
    def engines(self) -> list[EngineCommand]:
        """The engine commands of its containers."""
        found = (read_engine(item, lambda name: self._stated.version(self.role, name)) for item in self.containers)
        return [engine for engine in found if engine is not None]

    @property
    def engine(self) -> EngineCommand | None:
        """The engine command when there is exactly one."""
        return self.engines[0] if len(self.engines) == 1 else None

    @lazy
    def sidecar(self) -> Sidecar | None:
        """The routing sidecar, or None."""
        for container in self.running:
            if is_sidecar(container):
                return Sidecar(container, self._stated.version(self.role, "sidecar"))
        return None

    @lazy
    def is_serving(self) -> bool:
        """True when its pods answer inference requests, by engine, sidecar or label."""
        if self.labels.get(INFERENCE_SERVING) == "true" or ROLE in self.labels.fixed:
            return True
        return bool(self.engines) or self.sidecar is not None

    @lazy
    def listeners(self) -> list[Listener]:
        """Who is known to bind which port: engines and sidecar."""
        out = [listener for engine in self.engines for listener in engine.listeners]
        return out + (self.sidecar.listeners if self.sidecar else [])

    @lazy
    def others(self) -> list[Container]:
        """Running containers that are neither an engine nor the sidecar: what they bind is not known."""
        known = {id(engine.container) for engine in self.engines}
        if self.sidecar:
            known.add(id(self.sidecar.container))
        return [container for container in self.running if id(container) not in known]

    @lazy
    def declared_ports(self) -> set[int]:
        """Every declared port number."""
        return {port.number for item in self.running for port in item.ports if port.number is not None}

    @lazy
    def port_names(self) -> set[str]:
        """Every declared port name."""
        return {port.name for item in self.running for port in item.ports if port.name}
