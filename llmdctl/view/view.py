"""The view of a whole input: workloads, pools, services, pickers, and who selects or serves with whom. Lazy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from llmdctl.manifest.document import Document
from llmdctl.view.config_text import ConfigTexts
from llmdctl.view.devices import Devices
from llmdctl.view.epp import Epp, find_epp
from llmdctl.view.extent import EVERYTHING, Extent
from llmdctl.view.labels import Match
from llmdctl.view.lazy import lazy
from llmdctl.view.names import ByName, same_namespace
from llmdctl.view.networking import Monitor, Service
from llmdctl.view.node import Node
from llmdctl.view.peers import Group, Pair, pairs_of, sibling_groups, split_by_file
from llmdctl.view.picker_config import PickerConfig, find_configs
from llmdctl.view.pod import PodTemplate
from llmdctl.view.pool import Pool, is_pool
from llmdctl.view.rights import Rights
from llmdctl.view.scaling import Scaler, is_scaler
from llmdctl.view.versions import VersionOptions
from llmdctl.view.workload import Workload, read_workloads
from llmdctl.view.worlds import Worlds

ModelLookup = Callable[[str], Any]
"""Facts of a model by id (kv_heads, mla, mamba, hybrid_attention), or None."""


class View:
    """Documents as the parts that rules speak of.

    `files` are documents that are no cluster objects; `complete` tells that nothing else exists (closed world)
    within `extent`; `models` gives facts of a model by id, or None.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        *,
        complete: bool = False,
        extent: Extent = EVERYTHING,
        versions: VersionOptions | None = None,
        models: ModelLookup = lambda _: None,
        files: Sequence[Document] = (),
    ) -> None:
        self.documents = documents
        self.files = files
        self.complete = complete
        self._extent = extent
        self.models = models
        self._versions = versions or VersionOptions()
        self._config_texts = ConfigTexts()
        self._names: dict[str, ByName[Document]] = {}
        self._by_kind: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            kind = document.object.get("kind") if isinstance(document.object, Mapping) else None
            if isinstance(kind, str):
                self._by_kind[kind].append(document)

    def is_whole(self, namespace: str) -> bool:
        """True when what the input lacks in a namespace (in its own when that is "") does not exist."""
        within = self._extent.namespaces
        return self.complete and (not namespace or within is None or namespace in within)

    @property
    def is_whole_everywhere(self) -> bool:
        """True when what the input lacks in any namespace does not exist."""
        return self.complete and self._extent.namespaces is None

    @property
    def is_whole_outside(self) -> bool:
        """True when what the input lacks outside namespaces does not exist."""
        return self.complete and self._extent.cluster_scoped

    def of_kind(self, kind: str) -> list[Document]:
        """The documents of a kind, whatever its group."""
        return self._by_kind.get(kind, [])

    def by_name(self, kind: str) -> ByName[Document]:
        """The documents of a kind, whatever its group, by name."""
        if kind not in self._names:
            entries = ((item.ref.namespace, item.ref.name, item) for item in self.of_kind(kind))
            self._names[kind] = ByName(entries)
        return self._names[kind]

    @lazy
    def worlds(self) -> Worlds:
        """Which documents may stand in one cluster together."""
        return Worlds(self.documents)

    @lazy
    def workloads(self) -> list[Workload]:
        """Every maker of pods, in input order; a DisaggregatedSet once a role."""
        return [item for document in self.documents for item in read_workloads(document, self._versions)]

    @lazy
    def templates(self) -> list[PodTemplate]:
        """Every pod template."""
        return [template for workload in self.workloads for template in workload.templates]

    @lazy
    def serving(self) -> list[PodTemplate]:
        """The templates whose pods answer inference requests."""
        return [template for template in self.templates if template.is_serving]

    @lazy
    def devices(self) -> Devices:
        """Device claims and what containers get of them."""
        return Devices(self)

    @lazy
    def scalers(self) -> list[Scaler]:
        """The autoscalers."""
        kinds = ("HorizontalPodAutoscaler", "ScaledObject")
        return [Scaler(item) for kind in kinds for item in self.of_kind(kind) if is_scaler(item)]

    @lazy
    def _workload_names(self) -> dict[str, list[Workload]]:
        out: dict[str, list[Workload]] = defaultdict(list)
        for workload in self.workloads:
            out[workload.name].append(workload)
        return out

    @lazy
    def _role_names(self) -> dict[str, list[Workload]]:
        out: dict[str, list[Workload]] = defaultdict(list)
        for workload in self.workloads:
            if workload.role_name:
                out[f"{workload.name}-{workload.role_name}"].append(workload)
        return out

    @lazy
    def _workload_kinds(self) -> dict[str, dict[str, list[Workload]]]:
        out: dict[str, dict[str, list[Workload]]] = defaultdict(lambda: defaultdict(list))
        for workload in self.workloads:
            out[workload.kind][workload.namespace].append(workload)
        return out

    def workloads_of(self, kind: str, namespace: str) -> Iterator[Workload]:
        """The workloads of a kind that are or may be in a namespace; those of every namespace for ""."""
        spaces = self._workload_kinds.get(kind, {})
        for space in dict.fromkeys((namespace, "")) if namespace else spaces:
            yield from spaces.get(space, ())

    def workloads_named(self, name: str) -> list[Workload]:
        """The workloads of a name, of every kind and namespace."""
        return self._workload_names.get(name, [])

    def roles_named(self, name: str) -> list[Workload]:
        """The roles of DisaggregatedSets whose scaler has this name: `<set>-<role>`."""
        return self._role_names.get(name, [])

    @lazy
    def pools(self) -> list[Pool]:
        """The InferencePools."""
        return [Pool(document) for document in self.of_kind("InferencePool") if is_pool(document)]

    @lazy
    def pools_by_name(self) -> ByName[Pool]:
        """The InferencePools by name."""
        return ByName((item.namespace, item.name, item) for item in self.pools)

    @lazy
    def services(self) -> list[Service]:
        """The Services."""
        return [Service(item) for item in self.of_kind("Service") if item.ref.api_version == "v1"]

    @lazy
    def services_by_name(self) -> ByName[Service]:
        """The Services by name."""
        return ByName((item.namespace, item.name, item) for item in self.services)

    @lazy
    def services_by_label(self) -> ByName[Service]:
        """The Services by each of their labels, as `key=value`."""
        return ByName(
            (item.namespace, f"{key}={value}", item) for item in self.services for key, value in item.labels.items()
        )

    @lazy
    def rights(self) -> Rights:
        """What ServiceAccounts may do by roles and bindings of the input."""
        return Rights(self)

    @lazy
    def monitors(self) -> list[Monitor]:
        """The PodMonitors."""
        return [Monitor(item) for item in self.of_kind("PodMonitor")]

    @lazy
    def epps(self) -> list[Epp]:
        """The endpoint pickers."""
        found = (find_epp(template, self.config_map, self._config_texts) for template in self.templates)
        return [epp for epp in found if epp is not None]

    @lazy
    def picker_configs(self) -> list[PickerConfig]:
        """The endpoint pickers' configs, those that no picker of the input reads among them."""
        stated = self._versions.get("", "epp")
        return list(find_configs(self.of_kind("ConfigMap"), self.epps, self.files, self._config_texts, stated))

    def config_map(self, namespace: str, name: str) -> Node | None:
        """The `data` of a ConfigMap, or None when it is not in the input."""
        for document in self.by_name("ConfigMap").named(name, namespace):
            return Node(document, document.object).at("data")
        return None

    @lazy
    def _templates_by_label(self) -> dict[tuple[str, str], dict[str, list[PodTemplate]]]:
        """By label and namespace: looking at every template for every selector would be quadratic."""
        out: dict[tuple[str, str], dict[str, list[PodTemplate]]] = defaultdict(lambda: defaultdict(list))
        for template in self.templates:
            for pair in template.labels.fixed.items():
                out[pair][template.namespace].append(template)
        return out

    @lazy
    def _varying_templates(self) -> list[PodTemplate]:
        return [template for template in self.templates if template.labels.varying]

    def _candidates(self, selector: Mapping[str, str], namespaces: Sequence[str] | None) -> Iterator[PodTemplate]:
        """Templates that may match: those of the selector's rarest pair, and those with labels set pod by pod."""
        if not selector:
            yield from self.templates
            return
        by_namespace = [self._templates_by_label.get(pair, {}) for pair in selector.items()]
        wanted = by_namespace[0].keys() if namespaces is None or "" in namespaces else {*namespaces, ""}
        found = [[item for name in sorted(wanted) for item in named.get(name, ())] for named in by_namespace]
        rarest = min(found, key=len)
        yield from rarest
        seen = {id(template) for template in rarest}
        yield from (template for template in self._varying_templates if id(template) not in seen)

    def selected(
        self, selector: Mapping[str, str], document: Document, namespaces: Sequence[str] | None = ()
    ) -> Iterator[PodTemplate]:
        """The templates whose pods, or some of them, an equality selector picks.

        They are looked for in the document's namespace, or in `namespaces` (None: in all).
        """
        chosen = (document.ref.namespace,) if namespaces is not None and not namespaces else namespaces
        for template in self._candidates(selector, chosen):
            if chosen is not None and not any(same_namespace(template.namespace, name) for name in chosen):
                continue
            if template.labels.match(selector) is not Match.NONE and self.worlds.meet(document, template.node.document):
                yield template

    @lazy
    def groups(self) -> list[Group]:
        """The members of every pool, and siblings that no pool binds."""
        out = list(self._pool_groups())
        bound = {id(member) for group in out for member in group.members}
        free = [template for template in self.serving if id(template) not in bound]
        for world in self.worlds.split(free):
            out.extend(sibling_groups(world))
        return out

    @lazy
    def pairs(self) -> list[Pair]:
        """Every prefill server with every decode server that it may send KV blocks to, once."""
        found: dict[tuple[int, int], Pair] = {}
        for group in self.groups:
            for pair in pairs_of(group):
                if self.worlds.meet(pair.prefill.node.document, pair.decode.node.document):
                    found.setdefault((id(pair.prefill), id(pair.decode)), pair)
        return list(found.values())

    def _pool_groups(self) -> Iterator[Group]:
        for pool in self.pools:
            if not pool.selector:
                continue
            members = list(self.selected(pool.selector, pool.document))
            # Overlays state no namespace: a pool that fits several of them is not meant to hold them all at once.
            parts = [members] if all(member.namespace for member in members) else split_by_file(members)
            yield from (Group(tuple(part), pool) for part in parts)
