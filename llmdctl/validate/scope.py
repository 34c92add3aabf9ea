"""Which documents are cluster objects: files of other tools in the same folder are skipped, and say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from llmdctl.findings import Report, UserError, counted
from llmdctl.findings.text import LISTED
from llmdctl.manifest.document import Document
from llmdctl.manifest.files import STDIN
from llmdctl.validate.suppress import FILE
from llmdctl.view.picker_config import KIND, holds_config

_GROUPS = {
    "kustomize.config.k8s.io": "a file of kustomize; validate what `kubectl kustomize {folder}` renders",
    "llmdctl.io": "a stack of llmdctl, not a cluster object; `llmdctl render -f {file}` renders and validates it",
    "catalog.llmdctl.io": "a catalog entry; `llmdctl catalog lint {folder}` checks it",
    "report.llmdctl.io": "a report of llmdctl",
    "bundle.llmdctl.io": "a bundle of llmdctl",
    "baseline.llmdctl.io": "a baseline of llmdctl",
}


def not_an_object(documents: Sequence[Document]) -> Iterator[tuple[Document, str]]:
    """Each document with the reason why it is no cluster object, or ""."""
    with_objects = {document.source.file for document in documents if _states_kind(document)}
    for document in documents:
        yield document, _reason(document, with_objects)


def without_ignore_files(documents: Sequence[Document]) -> list[Document]:
    """The documents but those of `.llmdctl.yaml`: it lies beside the manifests and says what to ignore in them."""
    return [document for document in documents if PurePath(document.source.file).name != FILE]


def require_objects(documents: Sequence[Document]) -> None:
    """Raises UserError when no document is a cluster object: then nothing would be checked."""
    reasons: dict[str, Document] = {}
    for document, reason in not_an_object(documents):
        if not reason or holds_config(document):
            return
        reasons.setdefault(reason, document)
    if not reasons:
        raise UserError("the input holds no object, so nothing was validated", fix="give files that hold manifests")
    errors = [
        UserError(
            "not a Kubernetes object, so nothing was validated",
            source=document.source,
            why=f"{document.ref.kind or 'this document'}: {reason}",
        )
        for reason, document in reasons.items()
    ]
    raise UserError(errors[0].what, source=errors[0].source, why=errors[0].why, others=errors[1:])


def require_coverage(report: Report) -> None:
    """Raises UserError when a report says nothing of any object: no finding, and no schema for any of them."""
    if report.coverage.objects_validated or report.findings or report.suppressed:
        return
    if all(check.object is None or check.object.kind in ("", KIND) for check in report.skipped if check.code == "SCH"):
        # Endpoint picker configs, alone or in Helm values: the rules have read them.
        return
    reasons = dict.fromkeys(check.reason for check in report.skipped if check.object is not None)
    raise UserError(
        f"none of {counted(report.coverage.objects_total, 'object')} could be validated",
        why="; ".join(list(reasons)[:LISTED]),
        fix="give the CustomResourceDefinitions with --crds, or check apiVersion and kind",
    )


def _states_kind(document: Document) -> bool:
    value = document.object
    return isinstance(value, Mapping) and ("kind" in value or "apiVersion" in value)


def _reason(document: Document, with_objects: set[str]) -> str:
    ref = document.ref
    group = ref.api_version.rpartition("/")[0]
    if group in _GROUPS:
        return _about(_GROUPS[group], document)
    if ref.kind == KIND:
        return "the endpoint picker's config file, not a cluster object: only rules look at it"
    name = PurePath(document.source.file).name
    if not ref.kind and name in ("kustomization.yaml", "kustomization.yml"):
        return _about(_GROUPS["kustomize.config.k8s.io"], document)
    if not ref.kind and name == "Chart.yaml":
        return "a Helm chart's description; validate what `helm template` renders"
    if document.source.file not in with_objects and not _states_kind(document):
        return "it states neither apiVersion nor kind, as Helm values do; validate what `helm template` renders"
    return ""


def _about(text: str, document: Document) -> str:
    file = document.source.file
    return text.format(file=file, folder="DIR" if file == STDIN else PurePath(file).parent)
