"""What the API server would say of one object: structure by schema, then CEL and admission on the defaulted object."""

from __future__ import annotations

from collections.abc import Sequence

from llmdctl.findings import Finding, Path, Place
from llmdctl.manifest.document import Document
from llmdctl.schema import SchemaStore
from llmdctl.validate.admission import admission_findings
from llmdctl.validate.expressions import ExpressionLayer
from llmdctl.validate.structure import check_structure

Located = tuple[Finding, Place]

# A missing selector matches nothing, so the server complains of the template's labels as well.
_CONSEQUENCES: dict[Path, Path] = {("spec", "selector"): ("spec", "template", "metadata", "labels")}


class ServerLayers:
    """Structure and admission of one Kubernetes minor and one llm-d release.

    CustomResourceDefinitions among `definitions` win over the bundled ones.
    """

    def __init__(self, minor: str, release: str, definitions: Sequence[Document]) -> None:
        self._minor = minor
        self._store = SchemaStore(minor, release)
        self._expressions = ExpressionLayer(minor)
        self._store.add_crds(item.object for item in definitions if item.ref.kind == "CustomResourceDefinition")

    def check(self, document: Document) -> tuple[list[Located], str]:
        """The findings, and why nothing could be checked ("" when it could)."""
        structure = check_structure(document, self._store)
        found = list(structure.findings)
        if structure.schema is None:
            return found, "" if found else structure.skipped
        # As on the server, rules only run on what the schema accepts.
        if not found:
            if structure.schema.custom:
                found.extend(self._expressions.check(document, structure.object, structure.schema).findings)
            else:
                found.extend(self._expressions.built_in(document))
        namespaced = structure.schema.namespaced
        admitted = admission_findings(document, structure.object, minor=self._minor, namespaced=namespaced)
        # A field that the schema refuses already is one fault, whatever admission would say of it.
        paths = [path for _, place in found for path in (place.path, _CONSEQUENCES.get(place.path)) if path]
        found.extend(hit for hit in admitted if not any(_is_within(hit[1].path, path) for path in paths))
        return found, ""


def _is_within(path: Path, outer: Path) -> bool:
    return path[: len(outer)] == outer
