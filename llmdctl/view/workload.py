"""Workloads: what makes pods, with the templates it makes them from."""

from __future__ import annotations

from collections.abc import Iterator

from llmdctl.findings import Place
from llmdctl.manifest.document import Document
from llmdctl.view.labels import Labels, disaggregated_labels, lws_labels
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node
from llmdctl.view.pod import PodTemplate
from llmdctl.view.versions import VersionOptions

INT32 = 2**31
SELECTING_KINDS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})

_GROUPS = {
    "Deployment": "apps",
    "StatefulSet": "apps",
    "DaemonSet": "apps",
    "ReplicaSet": "apps",
    "Job": "batch",
    "CronJob": "batch",
    "Pod": "",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io",
    "DisaggregatedSet": "disaggregatedset.x-k8s.io",
}


class Workload:
    """One maker of pods. A DisaggregatedSet gives one for each role, named in `role_name`."""

    def __init__(self, document: Document, node: Node, kind: str, options: VersionOptions, role_name: str = "") -> None:
        self.document = document
        self.node = node
        self.kind = kind
        self.role_name = role_name
        self._options = options
        ref = document.ref
        self.ref = ref
        self.namespace = ref.namespace
        self.name = ref.name

    @property
    def place(self) -> Place:
        """Where the workload stands: the object, or the role inside a DisaggregatedSet."""
        return self.node.place

    def at(self, *steps: str | int) -> Place:
        """A place inside the workload."""
        return self.node.document.place(*self.node.path, *steps)

    @lazy
    def annotations(self) -> dict[str, str]:
        """The object's annotations; of a DisaggregatedSet's role, those of the role over those of the object."""
        own = Node(self.document, self.document.object).at("metadata", "annotations").texts()
        return {**own, **self.node.at("metadata", "annotations").texts()} if self.role_name else own

    @property
    def title(self) -> str:
        """How messages name it: `Deployment/x`, `DisaggregatedSet/x roles[decode]`."""
        return f"{self.ref} roles[{self.role_name}]" if self.role_name else str(self.ref)

    @lazy
    def replicas(self) -> int | None:
        """Copies of its pods or groups: 1 by default, None where something else decides."""
        if self.kind in ("DaemonSet", "Job", "CronJob"):
            return None
        if self.role_name and self.node.at("scaling", "mode").text() == "External":
            return None
        found = self.node.at("spec", "replicas")
        return found.integer() if found.exists else 1

    @lazy
    def group_size(self) -> int | None:
        """Pods a group of a LeaderWorkerSet: 1 elsewhere; None when it is no int32, which the server refuses."""
        if self.kind not in ("LeaderWorkerSet", "DisaggregatedSet"):
            return 1
        found = self.node.at("spec", "leaderWorkerTemplate", "size")
        size = found.integer() if found.exists else 1
        return size if size is None or abs(size) < INT32 else None

    @lazy
    def selector(self) -> dict[str, str]:
        """spec.selector.matchLabels of the kinds that select pods."""
        return self.node.at("spec", "selector", "matchLabels").texts() if self.kind in SELECTING_KINDS else {}

    @lazy
    def templates(self) -> list[PodTemplate]:
        """Its pod templates: one, or an LWS's leader and workers when they differ."""
        return list(self._templates())

    def _templates(self) -> Iterator[PodTemplate]:
        if self.kind in ("LeaderWorkerSet", "DisaggregatedSet"):
            yield from self._group_templates()
            return
        steps: dict[str, tuple[str, ...]] = {"Pod": (), "CronJob": ("spec", "jobTemplate", "spec", "template")}
        node = self.node.at(*steps.get(self.kind, ("spec", "template")))
        if isinstance(node.value, dict):
            yield PodTemplate(self, node, Labels(_labels(node)), options=self._options)

    def _group_templates(self) -> Iterator[PodTemplate]:
        base = self.node.at("spec", "leaderWorkerTemplate")
        leader, worker = base.at("leaderTemplate"), base.at("workerTemplate")
        size = max(self.group_size or 1, 1)
        if isinstance(leader.value, dict):
            yield self._group_template(leader, "leader", range(1))
            if size > 1 and isinstance(worker.value, dict):
                yield self._group_template(worker, "worker", range(1, size))
        elif isinstance(worker.value, dict):
            yield self._group_template(worker, "", range(size))

    def _group_template(self, node: Node, part: str, indices: range) -> PodTemplate:
        name = "" if self.role_name else self.name
        labels = lws_labels(name, _labels(node), indices)
        if self.role_name:
            slices = Node(self.document, self.document.object).at("spec", "slices").integer()
            labels = disaggregated_labels(self.name, self.role_name, labels, slices or 1)
        injected = {
            "LWS_LEADER_ADDRESS": None,
            "LWS_GROUP_SIZE": str(self.group_size) if self.group_size else None,
            "LWS_WORKER_INDEX": str(indices[0]) if len(indices) == 1 else None,
        }
        return PodTemplate(self, node, labels, part=part, injected=injected, options=self._options)


def _labels(node: Node) -> dict[str, str]:
    return node.at("metadata", "labels").texts()


def read_workloads(document: Document, options: VersionOptions) -> Iterator[Workload]:
    """The workloads that an object is or holds; none for other kinds."""
    ref = document.ref
    kind = ref.kind
    if kind not in _GROUPS or ref.api_version.rpartition("/")[0] != _GROUPS[kind]:
        return
    root = Node(document, document.object)
    if kind != "DisaggregatedSet":
        yield Workload(document, root, kind, options)
        return
    for role in root.at("spec", "roles").items():
        yield Workload(document, role, kind, options, role.at("name").text() or str(role.path[-1]))
