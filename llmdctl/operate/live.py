"""Checking what a cluster holds, alone or as it would be if local objects were applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llmdctl.cluster import PREFIX, Access, Inventory, connect, merge, read_definitions, read_inventory
from llmdctl.findings import Finding, ObjectRef, Report, SourceRef, Suppressed, SuppressedBy, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest import Document
from llmdctl.schema import SUPPORTED_MINORS, KindSchema, SchemaStore
from llmdctl.validate.crds import check_crds
from llmdctl.view import Extent


@frozen
class Live:
    """Objects of a cluster together with local ones, and what is to be told about the reading.

    `extent` is what was read of the cluster, `kube_version` the minor to check against, `definitions` the cluster's
    CRDs of the local objects.
    """

    documents: tuple[Document, ...]
    inventory: Inventory
    extent: Extent
    kube_version: str
    definitions: tuple[Document, ...] = ()
    notice: str = ""

    @property
    def accepted(self) -> frozenset[str]:
        """Sources whose objects an API server has accepted."""
        return frozenset(document.source.file for document in self.inventory.documents)


def read_live(access: Access, namespace: str, all_namespaces: bool, local: Sequence[Document], release: str) -> Live:
    """Reads the namespace (of the context when it is ""), or all, and lays the local objects over it.

    `release` is the llm-d release whose bundled CRDs tell which kinds live in namespaces, where the cluster's don't.
    """
    reader = connect(access)
    home = namespace or reader.namespace
    inventory = read_inventory(reader, "" if all_namespaces else home)
    minor = nearest_minor(inventory.minor)
    definitions = tuple(crd for crd in read_definitions(reader, local) if _is_usable(crd))
    store = SchemaStore(minor, release)
    store.add_crds(crd.object for crd in definitions)

    def is_namespaced(ref: ObjectRef) -> bool:
        schema = store.lookup(ref.api_version, ref.kind)
        return isinstance(schema, KindSchema) and schema.namespaced

    documents = merge(local, inventory.documents, home, is_namespaced)
    if not documents:
        where = "the cluster" if all_namespaces else f"namespace {home}"
        raise UserError(f"{where} holds no object that is checked", fix="name another with -n, or all with -A")
    notice = ""
    if minor != inventory.minor:
        notice = f"the cluster runs Kubernetes {inventory.minor}, which is not known here; {minor} is used instead"
    extent = Extent(None if all_namespaces else frozenset({home}), cluster_scoped=False)
    return Live(tuple(documents), inventory, extent, minor, definitions, notice)


def _is_usable(crd: Document) -> bool:
    try:
        check_crds([crd])
    except UserError:
        # A cluster may serve a CRD of a form that ours can't read; the bundled one is used then.
        return False
    return True


def nearest_minor(minor: str) -> str:
    """The known Kubernetes minor that is nearest to the one of a server."""
    if minor in SUPPORTED_MINORS:
        return minor
    numbers = {text: tuple(map(int, text.split("."))) for text in SUPPORTED_MINORS}
    try:
        wanted = tuple(map(int, minor.split(".")))
    except ValueError:
        return max(numbers, key=lambda text: numbers[text])
    older = [text for text in numbers if numbers[text] < wanted]
    return max(older, key=lambda text: numbers[text]) if older else min(numbers, key=lambda text: numbers[text])


def about_local(report: Report) -> Report:
    """The report with findings that concern no local object set aside: they were there before."""
    local: list[Finding] = []
    others: list[Finding] = []
    for finding in report.findings:
        (local if _is_local(finding) else others).append(finding)
    reason = "concerns only objects that are in the cluster already"
    set_aside = (Suppressed(finding, SuppressedBy.CLUSTER, reason) for finding in others)
    return replace(report, findings=tuple(local), suppressed=(*report.suppressed, *set_aside))


def _is_local(finding: Finding) -> bool:
    sources: list[SourceRef | None] = [finding.source, *(item.source for item in finding.evidence)]
    return any(source is not None and not source.file.startswith(PREFIX) for source in sources)
