"""DRA: claims of pods against what they are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacks import container, deployment, outcomes, titles

from llmdctl.findings import Hit, Severity, Skip, Unresolved
from llmdctl.validate.rules.claims import (
    DRA001,
    DRA002,
    DRA003,
    DRA004,
    DRA005,
    DRA006,
    DRA007,
    DRA008,
)
from llmdctl.validate.rules.parallel import PAR001

GPU = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
NIC = {"name": "nic", "exactly": {"deviceClassName": "mrdma.google.com"}}
PCIE = {"matchAttribute": "resource.kubernetes.io/pcieRoot"}


def template(name: str, *requests: dict[str, Any], constraints: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A ResourceClaimTemplate."""
    devices: dict[str, Any] = {"requests": list(requests)}
    if constraints:
        devices["constraints"] = list(constraints)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "llm-d"},
        "spec": {"spec": {"devices": devices}},
    }


def server(*claims: str, flags: Sequence[str] = (), limits: Any = None, **pod: Any) -> dict[str, Any]:
    """A Deployment with claims `name=template`."""
    pairs = [claim.split("=") for claim in claims]
    resources = {"claims": [{"name": name} for name, _ in pairs], **({"limits": limits} if limits else {})}
    entries = [{"name": name, "resourceClaimTemplateName": target} for name, target in pairs]
    engine = container(["m", *flags], resources=resources)
    return deployment("d", engine, pod={"resourceClaims": entries, **pod})


def test_a_missing_template_by_what_is_known_of_the_world() -> None:
    pods = server("a=gpu")
    assert not outcomes(DRA001, pods, template("gpu", GPU))
    (open_world,) = outcomes(DRA001, pods)
    assert isinstance(open_world, Unresolved)
    (beside,) = outcomes(DRA001, pods, template("gpus", GPU))
    assert isinstance(beside, Hit) and beside.severity is Severity.WARNING and beside.fix == "use 'gpus'"
    (closed,) = outcomes(DRA001, pods, complete=True)
    assert isinstance(closed, Hit) and closed.severity is Severity.ERROR


def test_a_compute_domain_makes_its_template() -> None:
    domain = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": "cd", "namespace": "llm-d"},
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": "channel"}}},
    }
    pods = server("c=channel", limits={"nvidia.com/gpu": 1})
    assert not outcomes(DRA001, pods, domain, complete=True)
    assert not outcomes(PAR001, pods, domain)
    other = {**domain, "metadata": {"name": "cd", "namespace": "elsewhere"}}
    assert titles(DRA001, pods, other, complete=True)


def test_claims_and_ranks() -> None:
    both = template("pair", GPU, NIC, constraints=[PCIE])
    assert not outcomes(PAR001, server("a=pair", "b=pair", flags=["-tp=2"]), both)
    assert titles(PAR001, server("a=pair", flags=["-tp=2"]), both) == [
        "the engine starts 2 ranks (2 tensor parallel), the container gets 1 by claims"
    ]
    four = template("four", {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 4}})
    assert not outcomes(PAR001, server("a=four", flags=["-tp=4"]), four)
    nics = template("nics", NIC)
    assert not outcomes(PAR001, server("a=nics", limits={"nvidia.com/gpu": 1}), nics)
    every = template("all", {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}})
    (skip,) = outcomes(PAR001, server("a=all", flags=["-tp=8"]), every)
    assert isinstance(skip, Skip)
    old = template("gpu", {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 2})
    assert not outcomes(PAR001, server("a=gpu", flags=["-tp=2"]), old)


def test_alternatives_count_when_they_agree() -> None:
    options = [{"name": f"o{i}", "deviceClassName": "gpu.nvidia.com", "count": 2} for i in range(2)]
    assert not outcomes(PAR001, server("a=t", flags=["-tp=2"]), template("t", {"name": "g", "firstAvailable": options}))
    options[1]["count"] = 1
    (skip,) = outcomes(PAR001, server("a=t", flags=["-tp=2"]), template("t", {"name": "g", "firstAvailable": options}))
    assert isinstance(skip, Skip)


def test_claims_that_reach_no_container() -> None:
    pods = server("a=gpu")
    pods["spec"]["template"]["spec"]["resourceClaims"].append({"name": "b", "resourceClaimTemplateName": "gpu"})
    assert titles(DRA002, pods, template("gpu", GPU)) == ["no container uses the pod's claim 'b'"]


def test_twice_only_for_the_same_device() -> None:
    assert titles(DRA003, server("a=gpu", limits={"nvidia.com/gpu": 1}), template("gpu", GPU))
    assert not outcomes(DRA003, server("a=nic", limits={"nvidia.com/gpu": 1}), template("nic", NIC))
    assert not outcomes(DRA003, server("a=gpu", limits={"amd.com/gpu": 1}), template("gpu", GPU))


def test_constraints() -> None:
    numa = {"matchAttribute": "dra.net/numaNode"}
    assert titles(DRA004, template("t", GPU, NIC, constraints=[numa])) == [
        "devices of gpu.nvidia.com have no attribute dra.net/numaNode"
    ]
    assert not outcomes(DRA004, template("t", GPU, NIC, constraints=[PCIE]))
    assert titles(DRA004, template("t", GPU, constraints=[PCIE])) == [
        "the constraint compares the one device of request gpu with no other"
    ]
    one = {**PCIE, "requests": ["gpu"]}
    assert titles(DRA004, template("t", GPU, NIC, constraints=[one]))
    two = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
    assert not outcomes(DRA004, template("t", two, constraints=[PCIE]))
    # A driver that we don't know may publish anything.
    own = {"name": "own", "exactly": {"deviceClassName": "example.com"}}
    assert not outcomes(DRA004, template("t", own, NIC, constraints=[numa]))


def test_an_unpaired_interface() -> None:
    assert titles(DRA005, template("t", GPU, NIC))
    assert not outcomes(DRA005, template("t", GPU, NIC, constraints=[PCIE]))
    assert not outcomes(DRA005, template("t", NIC))


def test_classes() -> None:
    slip = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvida.com"}}
    assert titles(DRA006, template("t", slip))
    (own,) = outcomes(DRA006, template("t", {"name": "x", "exactly": {"deviceClassName": "fast-gpus"}}))
    assert isinstance(own, Unresolved)
    defined = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu.nvida.com"}}
    assert not outcomes(DRA006, template("t", slip), defined)


def test_a_shared_claim() -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpu", "namespace": "llm-d"},
        "spec": {"devices": {"requests": [GPU]}},
    }
    pods = server("a=gpu")
    entry = pods["spec"]["template"]["spec"]["resourceClaims"][0]
    entry["resourceClaimName"] = entry.pop("resourceClaimTemplateName")
    assert not outcomes(DRA007, pods, claim)
    pods["spec"]["replicas"] = 3
    assert titles(DRA007, pods, claim) == ["3 pods share the ResourceClaim 'gpu', and with it its accelerators"]


def test_tolerations_of_tainted_nodes() -> None:
    pair = template("pair", GPU, NIC, constraints=[PCIE])
    assert titles(DRA008, server("a=pair"), pair)
    tolerated = {"tolerations": [{"operator": "Exists"}]}
    assert not outcomes(DRA008, server("a=pair", **tolerated), pair)
    assert not outcomes(DRA008, server("a=gpu"), template("gpu", GPU))
    assert not outcomes(DRA008, server("a=nic", limits={"nvidia.com/gpu": 1}), template("nic", NIC))
