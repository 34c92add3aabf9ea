"""Reading what a namespace holds, to check it: the objects that people or tools applied, never Secrets.

What a controller made from another object (pods of a Deployment) is left out, and of each object what the server
wrote into it: the rest is what was applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from llmdctl.cluster.client import Reader, Refused
from llmdctl.findings import ClusterError, ObjectRef, SkippedCheck, SourceRef
from llmdctl.findings.frozen import frozen
from llmdctl.manifest import Document
from llmdctl.schema.builtin import minors_of
from llmdctl.schema.custom import bundled_kinds

PREFIX = "cluster:"
"""Begins the source of an object that was read from a cluster; the namespace follows."""

_BUILTIN = {
    "": ("ConfigMap", "PersistentVolumeClaim", "Pod", "Service", "ServiceAccount"),
    "apps": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "batch": ("CronJob", "Job"),
    "networking.k8s.io": ("NetworkPolicy",),
    "policy": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io": ("Role", "RoleBinding"),
    "resource.k8s.io": ("ResourceClaim", "ResourceClaimTemplate"),
}
_WRITTEN_BY_SERVER = frozenset(
    ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
)
_NAMED = frozenset(("ConfigMap", "PersistentVolumeClaim", "ResourceClaimTemplate", "ServiceAccount"))
"""Kinds that pods name: they exist whoever made them."""
_INJECTED = frozenset(("kube-root-ca.crt", "openshift-service-ca.crt"))
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PAGE = 500
_GONE = 410


@frozen
class Resource:
    """A kind as an API server serves it."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True


@frozen
class Inventory:
    """What was read. `minor` is the server's Kubernetes minor; `complete` is False when something was forbidden."""

    documents: tuple[Document, ...]
    minor: str
    skipped: tuple[SkippedCheck, ...]

    @property
    def complete(self) -> bool:
        """True when all kinds could be read."""
        return not self.skipped


def kinds_read() -> dict[str, frozenset[str]]:
    """Group -> kinds that are read: those that rules look at. Secret is not among them and must never be."""
    wanted = {group: set(kinds) for group, kinds in _BUILTIN.items()}
    for group, kind in bundled_kinds():
        wanted.setdefault(group, set()).add(kind)
    return {group: frozenset(kinds - {"Secret"}) for group, kinds in wanted.items()}


def read_inventory(reader: Reader, namespace: str) -> Inventory:
    """Reads one namespace, or all when it is "". Raises ClusterError when nothing at all can be read."""
    try:
        version = reader.get("/version")
        resources = list(_served(reader))
    except Refused as refused:
        raise ClusterError(
            f"the cluster at {reader.host} does not tell what it serves",
            why=refused.message,
            fix="ask for the ClusterRole system:discovery, which authenticated users have by default",
        ) from None
    documents: list[Document] = []
    skipped = []
    for resource in resources:
        try:
            found = list(_list(reader, resource, namespace))
        except Refused as refused:
            skipped.append(_not_read(resource, namespace, refused))
            continue
        documents.extend(_documents(found, resource, len(documents)))
    if resources and len(skipped) == len(resources):
        raise ClusterError(
            f"nothing can be read from namespace {namespace or 'any'}",
            why=skipped[0].reason,
            fix="ask for the permission to list these kinds; `kubectl auth can-i --list` tells what you may do",
        )
    return Inventory(tuple(documents), _minor(version), tuple(skipped))


def read_definitions(reader: Reader, documents: Sequence[Document]) -> tuple[Document, ...]:
    """The cluster's own CRDs of the custom kinds among `documents`: it may have others than those bundled here.

    A CRD that may not be read, or is not there, is left out.
    """
    wanted: dict[str, set[str]] = {}
    for document in documents:
        version, kind = document.ref.api_version, document.ref.kind
        if "." in version.partition("/")[0] and not minors_of(version, kind):
            wanted.setdefault(version, set()).add(kind)
    found = []
    for version, kinds in wanted.items():
        group = version.partition("/")[0]
        for resource in _resources_in(_maybe(reader, f"/apis/{version}"), version, kinds):
            name = f"{resource.plural}.{group}"
            crd = _maybe(reader, f"{_CRDS}/{name}")
            if isinstance(crd, dict):
                crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **crd}
                found.append(Document(crd, SourceRef(f"{PREFIX}{name}")))
    return tuple(found)


def _maybe(reader: Reader, path: str) -> Any:
    try:
        return reader.get(path)
    except Refused:
        return None


def _minor(version: Any) -> str:
    parts = [str(version.get(key, "")) if isinstance(version, Mapping) else "" for key in ("major", "minor")]
    # Providers write "36+".
    return ".".join("".join(filter(str.isdigit, part)) for part in parts)


def _served(reader: Reader) -> Iterator[Resource]:
    """The wanted kinds that the server has, each in the version that it prefers."""
    wanted = kinds_read()
    yield from _resources(reader, "/api/v1", "v1", wanted[""])
    for group in _items(reader.get("/apis"), "groups"):
        left = set(wanted.get(str(group.get("name")), ()))
        preferred = (group.get("preferredVersion") or {}).get("groupVersion")
        others = [item.get("groupVersion") for item in _items(group, "versions")]
        for version in dict.fromkeys([preferred, *others]):
            if left and isinstance(version, str):
                for resource in _resources(reader, f"/apis/{version}", version, left):
                    left.discard(resource.kind)
                    yield resource


def _resources(reader: Reader, path: str, version: str, wanted: frozenset[str] | set[str]) -> Iterator[Resource]:
    """The wanted kinds of one version that live in namespaces."""
    return (resource for resource in _resources_in(reader.get(path), version, wanted) if resource.namespaced)


def _resources_in(listed: Any, version: str, wanted: frozenset[str] | set[str]) -> Iterator[Resource]:
    for item in _items(listed, "resources"):
        kind, name = item.get("kind"), item.get("name")
        if kind in wanted and isinstance(kind, str) and isinstance(name, str) and "/" not in name:
            yield Resource(version, kind, name, item.get("namespaced") is True)


def _items(value: Any, key: str) -> Sequence[Mapping[str, Any]]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _list(reader: Reader, resource: Resource, namespace: str) -> Iterator[Mapping[str, Any]]:
    base = f"/apis/{resource.api_version}" if "/" in resource.api_version else f"/api/{resource.api_version}"
    path = f"{base}/namespaces/{namespace}/{resource.plural}" if namespace else f"{base}/{resource.plural}"
    query = {"limit": str(_PAGE)}
    page = reader.get(path, query)
    found = list(_items(page, "items"))
    while token := _continue(page):
        try:
            page = reader.get(path, {**query, "continue": token})
        except Refused as refused:
            if refused.status != _GONE:
                raise
            # The list changed for too long: once more, in one piece.
            yield from _items(reader.get(path), "items")
            return
        found.extend(_items(page, "items"))
    yield from found


def _continue(page: Any) -> str:
    metadata = page.get("metadata") if isinstance(page, Mapping) else None
    token = metadata.get("continue") if isinstance(metadata, Mapping) else None
    return token if isinstance(token, str) else ""


def _documents(items: Sequence[Mapping[str, Any]], resource: Resource, start: int) -> Iterator[Document]:
    for item in items:
        metadata = item.get("metadata")
        if not isinstance(metadata, Mapping) or metadata.get("deletionTimestamp"):
            continue
        if resource.kind not in _NAMED and _is_made(metadata):
            continue
        if resource.kind == "ConfigMap" and metadata.get("name") in _INJECTED:
            continue
        own = {key: value for key, value in metadata.items() if key not in _WRITTEN_BY_SERVER}
        rest = {key: value for key, value in item.items() if key not in ("apiVersion", "kind", "metadata", "status")}
        obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": own, **rest}
        yield Document(obj, SourceRef(f"{PREFIX}{metadata.get('namespace') or ''}", document=start))
        start += 1


def _is_made(metadata: Mapping[str, Any]) -> bool:
    """True for what a controller made of another object, which is read itself."""
    return any(owner.get("controller") is True for owner in _items(metadata, "ownerReferences"))


def _not_read(resource: Resource, namespace: str, refused: Refused) -> SkippedCheck:
    source = SourceRef(f"{PREFIX}{namespace}/{resource.plural}")
    return SkippedCheck("SCH", f"not read: {refused.message}", ObjectRef(resource.api_version, resource.kind), source)


def merge(
    local: Sequence[Document],
    cluster: Sequence[Document],
    namespace: str,
    is_namespaced: Callable[[ObjectRef], bool],
) -> list[Document]:
    """What the cluster would hold if the local objects were applied to `namespace`: a local object wins.

    Local objects that state no namespace get it, as kubectl would send them, when their kind `is_namespaced`.
    """
    placed = [_placed(document, namespace) if is_namespaced(document.ref) else document for document in local]
    own = {_identity(document) for document in placed}
    return [*placed, *(document for document in cluster if _identity(document) not in own)]


def _placed(document: Document, namespace: str) -> Document:
    obj = document.object
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    if not isinstance(metadata, dict) or metadata.get("namespace"):
        return document
    return Document({**obj, "metadata": {**metadata, "namespace": namespace}}, document.source, document.item)


def _identity(document: Document) -> tuple[str, str, str, str]:
    ref = document.ref
    return ref.api_version.rpartition("/")[0], ref.kind, ref.namespace, ref.name
