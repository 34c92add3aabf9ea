"""The one way in: a store of all known kinds, which answers what an object must look like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.manifest.typed import nearest
from llmdctl.schema import builtin
from llmdctl.schema.compiler import CustomCompiler
from llmdctl.schema.custom import CustomKind, bundled_kind, custom_kinds, release_order
from llmdctl.schema.defaulting import complete
from llmdctl.schema.expressions import Expressions
from llmdctl.schema.fault import Violation, wrong_type
from llmdctl.schema.node import Node
from llmdctl.schema.structural import UnusableSchemaError


@frozen
class CheckResult:
    """`object` is what the server would store: for custom kinds with nulls dropped and defaults filled in."""

    violations: tuple[Violation, ...]
    object: Any


@frozen
class Unserved:
    """A kind or version that is not served: `by` names who could, `served_in` tells people what is served.

    `versions` are the versions (`group/version`) of the kind that are.
    """

    api_version: str
    kind: str
    by: str
    served_in: str
    versions: tuple[str, ...] = ()


@frozen
class KindSchema:
    """What objects of one kind and version must look like.

    `structural` is the openAPIV3Schema of a custom kind, `expressions` are its x-kubernetes-validations; both are None
    for built-in kinds.
    """

    api_version: str
    kind: str
    namespaced: bool
    custom: bool
    node: Node
    structural: Mapping[str, Any] | None = None
    expressions: Expressions | None = None

    def check(self, obj: Any) -> CheckResult:
        """Everything that is wrong with the object, and the object as the server would see it. The input stays."""
        completed = complete(self.node, obj) if self.custom else obj
        faults = self.node.check(completed) if isinstance(completed, dict) else [wrong_type(completed, "object")]
        if not faults:
            return CheckResult((), completed)
        found = (fault.done() for fault in faults)
        return CheckResult(tuple(one for one in found if not _is_of_status(one)), completed)


def _is_of_status(violation: Violation) -> bool:
    """The server decodes `status` of a new object and then drops it, so what it lacks is of no account."""
    return violation.kind == "required" and violation.path[0] == "status"


class SchemaStore:
    """Kinds of a Kubernetes minor and of an llm-d release's CRDs, plus CRDs that are added.

    Raises ValueError for a minor that is not in SUPPORTED_MINORS and for text that is not a release ("1.0").
    """

    def __init__(self, minor: str = "1.36", release: str = "1.0") -> None:
        if minor not in builtin.SUPPORTED_MINORS:
            raise ValueError(f"no schemas for Kubernetes {minor}; known: {', '.join(builtin.SUPPORTED_MINORS)}")
        release_order(release)
        self.minor = minor
        self.release = release
        self._builtin = builtin.builtin_schemas(minor)
        self._added: dict[tuple[str, str], CustomKind] = {}
        self._found: dict[tuple[str, str], KindSchema | Unserved | None] = {}
        self._unusable: dict[tuple[str, str], str] = {}

    def add_crds(self, documents: Iterable[Any]) -> None:
        """Adds CustomResourceDefinition objects; they take the place of bundled ones. Other kinds are passed over.

        One with a schema that can't be used leaves its kind without any: `why_unknown` then tells what is wrong.
        """
        for kind in custom_kinds(documents):
            self._added[kind.group, kind.kind] = kind
        self._found.clear()
        self._unusable.clear()

    def lookup(self, api_version: str, kind: str) -> KindSchema | Unserved | None:
        """The schema of a kind; Unserved when only other versions or minors have it; None when it is unknown."""
        key = (api_version, kind)
        if key not in self._found:
            self._found[key] = self._lookup(api_version, kind)
        return self._found[key]

    def why_unknown(self, api_version: str, kind: str) -> str:
        """Why `lookup` has nothing to say of a kind; "" when it has."""
        if self.lookup(api_version, kind) is not None:
            return ""
        fault = self._unusable.get((api_version, kind))
        what = f"{api_version} {kind}"
        return f"the CRD of {what} can't be used: {fault}" if fault else f"no schema for {what}"

    def _lookup(self, api_version: str, kind: str) -> KindSchema | Unserved | None:
        group, _, version = api_version.rpartition("/")
        added = self._added.get((group, kind))
        if added:
            return self._custom(added, api_version, version)
        if group and bundled_kind(group, kind, self.release):
            return _bundled(self.minor, self.release, api_version, kind)
        node = self._builtin.node(api_version, kind)
        if node:
            return KindSchema(api_version, kind, builtin.is_namespaced(kind), custom=False, node=node)
        return self._unserved_builtin(api_version, group, kind)

    def _custom(self, custom: CustomKind, api_version: str, version: str) -> KindSchema | Unserved | None:
        try:
            return _of_crd(custom, version, self.minor)
        except UnusableSchemaError as fault:
            self._unusable[api_version, custom.kind] = str(fault)
            return None

    def _unserved_builtin(self, api_version: str, group: str, kind: str) -> Unserved | None:
        minors = builtin.minors_of(api_version, kind)
        others = builtin.versions_of(group, kind, self.minor)
        here = f"Kubernetes {self.minor}"
        parts = []
        if minors:
            span = minors[0] if len(minors) == 1 else f"{minors[0]} to {minors[-1]}"
            parts.append(f"Kubernetes {span} serves it")
        if others:
            parts.append(f"{here} serves {', '.join(others)}")
        if not parts and builtin.has_group(group) and not kind.endswith("List"):
            close = nearest(kind, builtin.kinds_of(group, self.minor))
            parts.append(f'did you mean "{close}"?' if close else "this API group has no such kind")
        return Unserved(api_version, kind, here, "; ".join(parts), tuple(others)) if parts else None


@cache
def _bundled(minor: str, release: str, api_version: str, kind: str) -> KindSchema | Unserved:
    """A bundled kind, compiled once for all stores: its parts never change."""
    group, _, version = api_version.rpartition("/")
    custom = bundled_kind(group, kind, release)
    assert custom is not None  # noqa: S101 - asked by the caller
    return _of_crd(custom, version, minor)


def _of_crd(custom: CustomKind, version: str, minor: str) -> KindSchema | Unserved:
    """Raises UnusableSchemaError."""
    api_version = f"{custom.group}/{version}"
    entry = custom.versions.get(version)
    if entry is None or not entry.get("served", True):
        served = [f"{custom.group}/{name}" for name, other in custom.versions.items() if other.get("served", True)]
        return Unserved(
            api_version, custom.kind, "its CRD", f"the CRD serves {', '.join(served) or 'nothing'}", tuple(served)
        )
    schema = custom.schema_of(version)
    return KindSchema(
        api_version,
        custom.kind,
        custom.scope == "Namespaced",
        custom=True,
        node=CustomCompiler(builtin.builtin_schemas(minor).object_meta()).root(schema),
        structural=schema,
        expressions=Expressions(schema, int(minor.partition(".")[2])),
    )
