"""Which documents are cluster objects: files of other tools in the same folder are skipped, and say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from llmdctl.findings import UserError
from llmdctl.manifest.document import Document

_GROUPS = {
    "kustomize.config.k8s.io": "a file of kustomize; validate what `kubectl kustomize` renders",
    "llmdctl.io": "a file of llmdctl, not a cluster object; validate what `llmdctl render` writes",
    "catalog.llmdctl.io": "a catalog entry; `llmdctl catalog lint` checks it",
    "report.llmdctl.io": "a report of llmdctl",
    "bundle.llmdctl.io": "a bundle of llmdctl",
}
_PICKER_GROUPS = ("llm-d.ai", "inference.networking.x-k8s.io")


def not_an_object(documents: Sequence[Document]) -> Iterator[tuple[Document, str]]:
    """Each document with the reason why it is no cluster object, or ""."""
    with_objects = {document.source.file for document in documents if _states_kind(document)}
    for document in documents:
        yield document, _reason(document, with_objects)


def require_objects(documents: Sequence[Document]) -> None:
    """Raises UserError when there are documents, but none is a cluster object: then nothing would be checked."""
    reasons = [(document, reason) for document, reason in not_an_object(documents)]
    if not reasons or not all(reason for _, reason in reasons):
        return
    first, why = reasons[0]
    raise UserError(
        "nothing here is a Kubernetes object, so there is nothing to validate",
        source=first.source,
        why=f"{first.ref.kind or 'the first document'}: {why}",
    )


def _states_kind(document: Document) -> bool:
    value = document.object
    return isinstance(value, Mapping) and ("kind" in value or "apiVersion" in value)


def _reason(document: Document, with_objects: set[str]) -> str:
    ref = document.ref
    group = ref.api_version.rpartition("/")[0]
    if group in _GROUPS:
        return _GROUPS[group]
    if ref.kind == "EndpointPickerConfig" and group in _PICKER_GROUPS:
        return "the endpoint picker's config file, not a cluster object"
    name = PurePath(document.source.file).name
    if not ref.kind and name in ("kustomization.yaml", "kustomization.yml"):
        return _GROUPS["kustomize.config.k8s.io"]
    if not ref.kind and name == "Chart.yaml":
        return "a Helm chart's description; validate what `helm template` renders"
    if document.source.file not in with_objects and not _states_kind(document):
        return "it states neither apiVersion nor kind, as Helm values do"
    return ""
