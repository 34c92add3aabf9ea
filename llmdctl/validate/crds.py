"""CRDs that a user names: unlike CRDs among the manifests, they are there to be used, so a broken one is an error."""

from __future__ import annotations

from collections.abc import Sequence

from llmdctl.findings import UserError
from llmdctl.manifest import Document
from llmdctl.schema.custom import custom_kinds
from llmdctl.schema.structural import UnusableSchemaError


def check_crds(documents: Sequence[Document]) -> None:
    """Raises UserError when a CRD brings no kind or a schema that can't be used, or when there is none at all."""
    crds = [document for document in documents if document.ref.kind == "CustomResourceDefinition"]
    if documents and not crds:
        raise UserError(
            "--crds names files without a CustomResourceDefinition",
            source=documents[0].source,
            fix="name files that hold CRDs, as `kubectl get crd NAME -o yaml` prints them",
        )
    faults = [error for crd in crds if (error := _fault(crd))]
    if faults:
        first, *others = faults
        first.others = tuple(others)
        raise first


def _fault(crd: Document) -> UserError | None:
    name = f"CustomResourceDefinition {crd.ref.name or 'without a name'}"
    kinds = list(custom_kinds([crd.object]))
    if not kinds:
        return UserError(
            f"{name} can't be used: it names no group, kind and versions",
            source=crd.source,
            fix="give spec.group, spec.names.kind and spec.versions",
        )
    for kind in kinds:
        for version in kind.versions:
            try:
                kind.schema_of(version)
            except UnusableSchemaError as fault:
                return UserError(
                    f"{name}, version {version}, can't be used: {fault}",
                    source=crd.source,
                    fix="mend the schema; the API server would refuse this CRD too",
                )
    return None
