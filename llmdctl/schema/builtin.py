"""The schemas of built-in kinds by Kubernetes minor, read from the committed data a group at a time."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from llmdctl.schema.compiler import BuiltinCompiler
from llmdctl.schema.node import Node

DATA = Path(__file__).resolve().parent / "data"

SUPPORTED_MINORS = ("1.33", "1.34", "1.35", "1.36", "1.37")
"""The Kubernetes minors that we have schemas for, oldest first."""

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

_CLUSTER_SCOPED = frozenset(
    {
        "Namespace",
        "Node",
        "PersistentVolume",
        "ComponentStatus",
        "ClusterRole",
        "ClusterRoleBinding",
        "StorageClass",
        "CSIDriver",
        "CSINode",
        "VolumeAttachment",
        "VolumeAttributesClass",
        "PriorityClass",
        "RuntimeClass",
        "IngressClass",
        "IPAddress",
        "ServiceCIDR",
        "CustomResourceDefinition",
        "APIService",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "CertificateSigningRequest",
        "ClusterTrustBundle",
        "FlowSchema",
        "PriorityLevelConfiguration",
        "StorageVersion",
        "StorageVersionMigration",
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceSlice",
        "ResourcePoolStatusRequest",
        "TokenReview",
        "SelfSubjectReview",
        "SelfSubjectAccessReview",
        "SelfSubjectRulesReview",
        "SubjectAccessReview",
    }
)
"""The OpenAPI definitions don't state scope; these kinds of the API server are registered without namespace."""


def read_packed(*path: str) -> Any:
    """A `.json.gz` file of this package. Raises FileNotFoundError."""
    return json.loads(zlib.decompress(DATA.joinpath(*path).read_bytes(), wbits=31))


@cache
def index() -> Mapping[str, Mapping[str, Any]]:
    """`group/version/Kind` -> `{definition, minors}`."""
    kinds: Mapping[str, Mapping[str, Any]] = read_packed("builtin", "index.json.gz")
    return kinds


@cache
def _chunk(name: str) -> Mapping[str, Mapping[str, Any]]:
    chunk: Mapping[str, Mapping[str, Any]] = read_packed("builtin", f"{name}.json.gz")
    return chunk


def _chunk_of(definition: str) -> str:
    parts = definition.split(".")
    if parts[:3] == ["io", "k8s", "api"]:
        return parts[3]
    return "meta" if parts[2] == "apimachinery" else parts[2]


class BuiltinSchemas:
    """The kinds of one minor."""

    def __init__(self, minor: str) -> None:
        self.minor = minor
        self._compiler = BuiltinCompiler(self._definition)

    def _definition(self, name: str) -> Mapping[str, Any]:
        variants: Mapping[str, Mapping[str, Any]] = _chunk(_chunk_of(name))[name]
        for minors, schema in variants.items():
            if self.minor in minors.split(","):
                return schema
        raise KeyError(name)

    def node(self, api_version: str, kind: str) -> Node | None:
        """The node of a kind, or None when this minor does not serve it."""
        entry = index().get(f"{api_version}/{kind}")
        if entry is None or self.minor not in entry["minors"]:
            return None
        return self._compiler.named(entry["definition"])

    def object_meta(self) -> Node:
        """The node of metadata."""
        return self._compiler.named(OBJECT_META)


@cache
def builtin_schemas(minor: str) -> BuiltinSchemas:
    """The kinds of a minor, shared by all stores: nodes are compiled once."""
    return BuiltinSchemas(minor)


def is_namespaced(kind: str) -> bool:
    """Whether objects of a built-in kind live in a namespace."""
    return kind not in _CLUSTER_SCOPED


def minors_of(api_version: str, kind: str) -> tuple[str, ...]:
    """The minors that serve this version of a kind."""
    entry = index().get(f"{api_version}/{kind}")
    return tuple(entry["minors"]) if entry else ()


def versions_of(group: str, kind: str, minor: str) -> tuple[str, ...]:
    """The versions (`group/version`) of a kind that a minor serves."""
    found = []
    for key, entry in index().items():
        api_version, _, name = key.rpartition("/")
        if name == kind and minor in entry["minors"] and _in(group, key):
            found.append(api_version)
    return tuple(sorted(found))


def kinds_of(group: str, minor: str) -> tuple[str, ...]:
    """The kinds of an API group that a minor serves."""
    found = {key.rpartition("/")[2] for key, entry in index().items() if minor in entry["minors"] and _in(group, key)}
    return tuple(sorted(found))


def has_group(group: str) -> bool:
    """Whether the API server itself serves this API group."""
    return any(_in(group, key) for key in index())


def _in(group: str, key: str) -> bool:
    return key.rpartition("/")[0].rpartition("/")[0] == group
