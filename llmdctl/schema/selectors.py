"""CEL selectors of device claims.

Source of the facts: k8s.io/dynamic-resource-allocation cel/compile.go; attributes: the drivers' own sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmdctl.schema.cel.parser import parse
from llmdctl.schema.cel.program import Program, compile_expression
from llmdctl.schema.cel.syntax import Has, Index, Literal, Name, Select
from llmdctl.schema.cel.types import ObjectType, Type

_MAP_OF_ANY: Type = ("map", "string", ("map", "string", "dyn"))
_MAP_OF_QUANTITY: Type = ("map", "string", ("map", "string", "quantity"))
_SHARED_SINCE = 34

_STANDARD = frozenset({"pcieRoot", "pciBusID", "numaNode"})
ATTRIBUTES: dict[str, frozenset[str]] = {
    "resource.kubernetes.io": _STANDARD,
    "gpu.nvidia.com": frozenset(
        [
            "type",
            "uuid",
            "parentUUID",
            "profile",
            "productName",
            "brand",
            "architecture",
            "cudaComputeCapability",
            "driverVersion",
            "cudaDriverVersion",
            "addressingMode",
            "deviceID",
            "vendorID",
            "numa",
            "iommuFDEnabled",
            "pciBusID",
            "pcieRoot",
            "gpuModuleID",
            "partition1",
            "partition2",
            "partition4",
            "partition8",
            "index",
            "minor",
        ]
    ),
    "compute-domain.nvidia.com": frozenset({"type", "id"}),
    "dra.net": frozenset(
        [
            "ifName",
            "pciAddress",
            "mac",
            "pciVendor",
            "pciDevice",
            "pciSubsystem",
            "numaNode",
            "mtu",
            "encapsulation",
            "alias",
            "state",
            "type",
            "ipv4",
            "ipv6",
            "tcFilterNames",
            "tcxProgramNames",
            "ebpf",
            "sriov",
            "isSriovVf",
            "virtual",
            "rdma",
            "sriovVfs",
            "rdmaDevice",
            "pcieRoot",
            "kind",
        ]
    ),
    "gpu.amd.com": frozenset(
        [
            "type",
            "pciAddr",
            "deviceID",
            "family",
            "productName",
            "driverSrcVersion",
            "partitionProfile",
            "cardIndex",
            "renderIndex",
            "driverVersion",
            "parentPciAddr",
            "parentDeviceID",
            "pcieRoot",
        ]
    ),
    "gpu.intel.com": frozenset(
        [
            "model",
            "family",
            "driver",
            "type",
            "pciId",
            "health",
            "sriov",
            "pciBusID",
            "pcieRoot",
            "pciAddress",
            "pciRoot",
        ]
    ),
    "gaudi.intel.com": frozenset({"model", "serial", "healthy", "pcieRoot", "pciRoot"}),
}
"""Domain -> attributes that its driver is known to publish."""


def compile_selector(text: str, minor: int) -> Program:
    """The selector for a Kubernetes minor (the number after "1."). Raises CompileError and UnsupportedError."""
    fields: dict[str, tuple[str, Type]] = {
        "driver": ("driver", "string"),
        "attributes": ("attributes", _MAP_OF_ANY),
        "capacity": ("capacity", _MAP_OF_QUANTITY),
    }
    if minor >= _SHARED_SINCE:
        fields["allowMultipleAllocations"] = ("allowMultipleAllocations", "bool")
    return compile_expression(text, {"device": ("object", ObjectType("device", fields))}, minor=minor)


def attributes_read(text: str) -> Iterator[tuple[str, str]]:
    """Domain and name of each attribute that a selector reads by constants. Raises CompileError."""
    yield from dict.fromkeys(_reads(parse(text)))


def _reads(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, Select | Index | Has):
        domain = _domain(node.operand)
        name = node.field if not isinstance(node, Index) else _constant(node.key)
        if domain and name:
            yield domain, name
    if isinstance(node, tuple):
        for part in node:
            if isinstance(part, tuple):
                yield from _reads(part)


def _domain(node: Any) -> str:
    """The domain, when a node is `device.attributes["domain"]`."""
    if not isinstance(node, Index) or not isinstance(node.operand, Select):
        return ""
    holder = node.operand.operand
    is_attributes = node.operand.field == "attributes" and isinstance(holder, Name) and holder.name == "device"
    return _constant(node.key) if is_attributes else ""


def _constant(node: Any) -> str:
    return node.value if isinstance(node, Literal) and node.kind == "string" else ""
