"""What the API server would say of one object: structure by schema, then admission on the defaulted object."""

from __future__ import annotations

from collections.abc import Sequence

from llmdctl.findings import Finding, Place
from llmdctl.manifest.document import Document
from llmdctl.schema import SchemaStore
from llmdctl.validate.layers import admission
from llmdctl.validate.structure import check_structure

Located = tuple[Finding, Place]


class ServerLayers:
    """Structure and admission of one Kubernetes minor and one llm-d release.

    CustomResourceDefinitions among `definitions` win over the bundled ones.
    """

    def __init__(self, minor: str, release: str, definitions: Sequence[Document]) -> None:
        self._minor = minor
        self._admission, _ = admission()
        self._store = SchemaStore(minor, release)
        self._store.add_crds(item.object for item in definitions if item.ref.kind == "CustomResourceDefinition")

    def check(self, document: Document) -> tuple[list[Located], str]:
        """The findings, and why nothing could be checked ("" when it could)."""
        structure = check_structure(document, self._store)
        found = list(structure.findings)
        if structure.schema is None:
            return found, "" if found else structure.skipped
        if self._admission is not None:
            namespaced = structure.schema.namespaced
            found.extend(self._admission(document, structure.object, minor=self._minor, namespaced=namespaced))
        return found, ""
