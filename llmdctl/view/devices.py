"""Accelerators that containers get: as extended resources, or from device claims (dynamic resource allocation)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.document import Document
from llmdctl.view.container import Container
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node
from llmdctl.view.pod import PodTemplate
from llmdctl.view.worlds import Worlds

ACCELERATOR_CLASSES = {
    "gpu.nvidia.com": "nvidia.com/gpu",
    "mig.nvidia.com": "nvidia.com/gpu",
    "gpu.amd.com": "amd.com/gpu",
    "gpu.intel.com": "gpu.intel.com/xe",
    "gaudi.intel.com": "habana.ai/gaudi",
    "npu.rebellions.ai": "rebellions.ai/ATOM",
    "tpu.google.com": "google.com/tpu",
}
"""Device classes of accelerators, by the extended resource that device plugins give the same devices under."""

NIC_CLASSES = frozenset(
    {
        "mrdma.google.com",
        "netdev.google.com",
        "dranet",
        "dranet.net",
        "dranet-rdma",
        "rdma-dranet",
        "rdma-net",
        "efa.networking.k8s.aws",
        "sriovnetwork.k8snetworkplumbingwg.io",
    }
)
"""Device classes of network interfaces. DRANET installs none of its own: its examples use several names."""

OTHER_CLASSES = frozenset(
    {
        "vfio.gpu.nvidia.com",
        "gpu-vfio.intel.com",
        "qat.intel.com",
        "compute-domain-daemon.nvidia.com",
        "compute-domain-default-channel.nvidia.com",
    }
)

KNOWN_CLASSES = frozenset(ACCELERATOR_CLASSES) | NIC_CLASSES | OTHER_CLASSES

_RESOURCES = frozenset(
    {
        "nvidia.com/gpu",
        "amd.com/gpu",
        "google.com/tpu",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "habana.ai/gaudi",
        "rebellions.ai/ATOM",
    }
)
# How many names are compared with one that is missing.
_NEAR = 200
TPU = "google.com/tpu"
_TPU_KIND = "cloud.google.com/gke-tpu-accelerator"
# One chip of TPU7x shows itself as two devices; earlier chips as one.
_TWO_DEVICES_A_CHIP = ("tpu7x",)


class Input(Protocol):
    """What is needed of a view."""

    @property
    def worlds(self) -> Worlds:
        """Which documents may stand in one cluster together."""

    def of_kind(self, kind: str) -> list[Document]:
        """The documents of a kind."""


@frozen
class DeviceRequest:
    """One request of a claim. `classes` are all alternatives; `count` is None where it is not one fixed number."""

    name: str
    classes: tuple[str, ...]
    count: int | None
    node: Node

    @property
    def place(self) -> Place:
        """Where the request stands."""
        return self.node.place

    def all_in(self, known: frozenset[str]) -> bool:
        """True when whatever is chosen is of one of these classes."""
        return bool(self.classes) and all(name in known for name in self.classes)

    @property
    def is_accelerator(self) -> bool:
        """True when every alternative is an accelerator."""
        return self.all_in(frozenset(ACCELERATOR_CLASSES))


class DeviceClaim:
    """A ResourceClaimTemplate or a ResourceClaim: what one claim asks for."""

    def __init__(self, document: Document) -> None:
        self.document = document
        root = Node(document, document.object)
        self.is_template = document.ref.kind == "ResourceClaimTemplate"
        self.devices = root.at("spec", "spec", "devices") if self.is_template else root.at("spec", "devices")

    @lazy
    def requests(self) -> list[DeviceRequest]:
        """The device requests, of v1 and of the flat form of v1beta1."""
        return list(self._requests())

    def _requests(self) -> Iterator[DeviceRequest]:
        for item in self.devices.at("requests").items():
            options = list(item.at("firstAvailable").items())
            if not options:
                exactly = item.at("exactly")
                options = [exactly if exactly.exists else item]
            classes = tuple(dict.fromkeys(option.at("deviceClassName").text() for option in options))
            counts = {_count(option) for option in options}
            yield DeviceRequest(item.at("name").text(), classes, counts.pop() if len(counts) == 1 else None, item)

    def accelerators(self, request: str = "") -> int | None:
        """Accelerators that a claim, or one request of it, gives. None when that isn't certain."""
        total = 0
        chosen = [item for item in self.requests if not request or item.name == request.partition("/")[0]]
        if request and not chosen:
            return None
        for item in chosen:
            if item.all_in(NIC_CLASSES | OTHER_CLASSES):
                continue
            if not item.is_accelerator or item.count is None:
                return None
            total += item.count
        return total


def _count(option: Node) -> int | None:
    if option.at("allocationMode").text() == "All" or option.at("adminAccess").truth():
        return None
    count = option.at("count")
    if not count.exists:
        return 1
    # The API server makes one of zero.
    number = count.integer()
    return max(number, 1) if number is not None and number >= 0 else None


@frozen
class PodClaim:
    """An entry of a pod's resourceClaims: `name`, and either the template or the claim that it stands for."""

    name: str
    template: str
    claim: str
    node: Node

    @property
    def place(self) -> Place:
        """Where the reference stands."""
        key = "resourceClaimTemplateName" if self.template else "resourceClaimName"
        return self.node.at(key).place

    @property
    def kind(self) -> str:
        """What it refers to."""
        return "ResourceClaimTemplate" if self.template else "ResourceClaim"

    @property
    def target(self) -> str:
        """The name that it refers to, or ""."""
        return self.template or self.claim


def pod_claims(template: PodTemplate) -> list[PodClaim]:
    """The claims of a pod."""
    return [
        PodClaim(
            item.at("name").text(),
            item.at("resourceClaimTemplateName").text(),
            item.at("resourceClaimName").text(),
            item,
        )
        for item in template.node.at("spec", "resourceClaims").items()
    ]


@frozen
class ClaimUse:
    """An entry of a container's resources.claims: the pod's claim, and the one request of it ("" for all)."""

    name: str
    request: str
    node: Node


def claim_uses(container: Container) -> list[ClaimUse]:
    """The claims that a container gets devices of."""
    items = container.node.at("resources", "claims").items()
    return [ClaimUse(item.at("name").text(), item.at("request").text(), item) for item in items]


@frozen
class Extended:
    """Accelerators that a container asks of a device plugin."""

    resource: str
    count: int
    node: Node


def whole(value: object) -> int | None:
    """A count of an extended resource: a whole number, as text or number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < 10**6 else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 6:
        return int(value)
    return None


def is_accelerator_resource(name: str) -> bool:
    """True for the extended resources of accelerators, MIG slices of a GPU among them."""
    return name in _RESOURCES or name.startswith("nvidia.com/mig-")


def counts(container: Container) -> dict[str, Node]:
    """Extended resources with a number over zero; requests follow limits where both are given."""
    out: dict[str, Node] = {}
    for part in ("requests", "limits"):
        node = container.node.at("resources", part)
        if isinstance(node.value, dict):
            for key, value in node.value.items():
                if isinstance(key, str) and "/" in key and whole(value):
                    out[key] = node.key(key)
    return out


def extended(container: Container) -> list[Extended]:
    """The accelerators that a container asks of device plugins."""
    return [
        Extended(key, whole(node.value) or 0, node)
        for key, node in counts(container).items()
        if is_accelerator_resource(key)
    ]


@frozen
class Accelerators:
    """How many devices an engine sees. `low` and `high` differ where only the node tells; None is unknown."""

    low: int
    high: int | None
    what: str
    place: Place
    reason: str = ""


class Devices:
    """The claims, templates and classes of an input."""

    def __init__(self, view: Input) -> None:
        self._view = view
        self._claims: dict[tuple[str, str], list[DeviceClaim]] = defaultdict(list)
        self._by_space: dict[tuple[str, str], list[DeviceClaim]] = defaultdict(list)
        self.claims: list[DeviceClaim] = []
        for kind in ("ResourceClaimTemplate", "ResourceClaim"):
            for document in view.of_kind(kind):
                if document.ref.api_version.partition("/")[0] == "resource.k8s.io":
                    claim = DeviceClaim(document)
                    self.claims.append(claim)
                    self._claims[kind, document.ref.name].append(claim)
                    self._by_space[kind, document.ref.namespace].append(claim)
        self._spaces = sorted({space for _, space in self._by_space})
        self.classes = {item.ref.name for item in view.of_kind("DeviceClass")}
        self._domains: dict[str, list[Document]] = defaultdict(list)
        for document in view.of_kind("ComputeDomain"):
            name = Node(document, document.object).at("spec", "channel", "resourceClaimTemplate", "name").text()
            if name:
                self._domains[name].append(document)

    def find(self, template: PodTemplate, claim: PodClaim) -> DeviceClaim | None:
        """What a pod's claim stands for, when it is in the input."""
        for found in self._claims.get((claim.kind, claim.target), ()):
            if self._meets(template, found.document):
                return found
        return None

    def is_generated(self, template: PodTemplate, claim: PodClaim) -> bool:
        """True for the claim template that a ComputeDomain makes: it stands in no manifest."""
        found = self._domains.get(claim.template, ())
        return any(self._meets(template, document) for document in found)

    def names(self, kind: str, template: PodTemplate) -> list[str]:
        """Names of claims or templates of a kind that a pod could mean, not more than a few hundred."""
        own = template.namespace
        spaces = (own, "") if own else tuple(self._spaces)
        candidates = (item for space in dict.fromkeys(spaces) for item in self._by_space.get((kind, space), ()))
        fitting = (item.document.ref.name for item in candidates if self._meets(template, item.document))
        return sorted(set(islice(fitting, _NEAR)))

    def _meets(self, template: PodTemplate, document: Document) -> bool:
        left, right = template.namespace, document.ref.namespace
        return (left == right or not left or not right) and self._view.worlds.meet(template.node.document, document)

    def accelerators(self, template: PodTemplate, container: Container) -> Accelerators | None:
        """What an engine's container gets; None when it asks for no device at all."""
        own = extended(container)
        uses = claim_uses(container)
        low, high = 0, 0
        place = own[0].node.place if own else container.at("resources")
        parts = []
        for item in own:
            least, most = _devices(template, item)
            low, high = low + least, high + most
            parts.append(f"{item.resource}: {item.count}")
        total, reason = self._claimed(template, uses)
        if uses and not own:
            place = container.at("resources", "claims")
        if total:
            parts.append(f"{total} by claims")
        if not own and not uses:
            return None
        what = " and ".join(parts) or "no accelerator"
        if total is None:
            return Accelerators(low, None, what, place, reason)
        if not own and not total:
            return None
        return Accelerators(low + total, high + total, what, place)

    def _claimed(self, template: PodTemplate, uses: Sequence[ClaimUse]) -> tuple[int | None, str]:
        by_name = {claim.name: claim for claim in pod_claims(template)}
        total = 0
        for use in uses:
            claim = by_name.get(use.name)
            if claim is None:
                return None, f"the pod has no claim {use.name!r}"
            if self.is_generated(template, claim):
                continue
            found = self.find(template, claim)
            if found is None:
                return None, f"the {claim.kind} {claim.target!r} is not in the input"
            count = found.accelerators(use.request)
            if count is None:
                return None, f"what {claim.target} asks for is no fixed number of known accelerators"
            total += count
        return total, ""


def _devices(template: PodTemplate, item: Extended) -> tuple[int, int]:
    if item.resource != TPU:
        return item.count, item.count
    kind = template.node.at("spec", "nodeSelector").texts().get(_TPU_KIND)
    if kind is None:
        return item.count, item.count * 2
    devices = item.count * (2 if kind in _TWO_DEVICES_A_CHIP else 1)
    return devices, devices
