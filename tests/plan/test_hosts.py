"""Host names of groups of pods, for connectors whose sidecars must know every pod."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmdctl.catalog.load import load_catalog
from llmdctl.findings import UserError
from llmdctl.plan.build import build_plan
from llmdctl.plan.hosts import pod_hosts
from llmdctl.plan.model import Plan, RolePlan
from llmdctl.plan.request import Request, flag_layer

AMD = {"accelerator": "amd-mi355x"}
REVISION = "$(DISAGGREGATEDSET_REVISION)"


def decode(plan: Plan) -> RolePlan:
    return next(role for role in plan.roles if role.name == "decode")


def sidecar(plan: Plan) -> dict[str, str]:
    found = decode(plan).sidecar
    assert found is not None
    return dict(word.removeprefix("--").split("=", 1) for word in found.args)


def test_sidecars_are_told_every_pod_leader_first(make_plan: Any) -> None:
    plan = make_plan("wide-ep", AMD, metadata={"name": "big", "namespace": "serving"})
    prefill = f"big-0-{REVISION}-prefill"
    assert sidecar(plan)["moriio-remote-hosts"].split(",") == [
        f"{prefill}-0.{prefill}.serving.svc",
        f"{prefill}-0-1.{prefill}.serving.svc",
    ]
    found = decode(plan)
    assert found.sidecar is not None
    env = {item["name"]: item for item in found.sidecar.env}
    path = env["DISAGGREGATEDSET_REVISION"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == "metadata.labels['disaggregatedset.x-k8s.io/revision']"
    # Names hold numbers of groups, not hashes.
    assert {role.group_identity for role in plan.roles} == {"Ordinal"}


def test_leader_worker_sets_have_names_that_are_known_beforehand(make_plan: Any) -> None:
    plan = make_plan(
        "wide-ep", {**AMD, "workload": "leaderWorkerSet"}, metadata={"name": "big", "namespace": "serving"}
    )
    assert sidecar(plan)["moriio-decode-hosts"] == (
        "big-decode-0.big-decode.serving.svc,big-decode-0-1.big-decode.serving.svc"
    )
    found = decode(plan).sidecar
    assert found is not None and [item["name"] for item in found.env] == ["POD_IP"]
    assert decode(plan).workload_name == "big-decode"


def test_sets_before_slices_have_no_slice_in_their_names() -> None:
    assert pod_hosts("s", "n", "disaggregatedSet", "decode", 1, sliced=False) == [
        f"s-{REVISION}-decode-0.s-{REVISION}-decode.n.svc"
    ]


@settings(max_examples=25, deadline=None)
@given(pods=st.integers(1, 4), local=st.sampled_from([1, 2, 4, 8]))
def test_sizes_agree_with_the_lists(pods: int, local: int) -> None:
    """The sidecar exits at start unless dp-size = dp-size-local x hosts, in both lists."""
    sizes: dict[Any, Any] = {("spec", "guide"): ("wide-ep", ""), ("spec", "accelerator"): ("amd-mi355x", "")}
    sizes["spec", "model", "id"] = ("acme/of-unknown-size", "")
    for role in ("prefill", "decode"):
        for key, value in (("data", pods * local), ("dataLocal", local)):
            sizes["spec", "roles", role, "parallelism", key] = (value, "")
    plan = build_plan(Request((flag_layer(sizes),)), load_catalog())
    flags = sidecar(plan)
    if pods * local == 1:
        assert "moriio-dp-size" not in flags
        return
    assert int(flags["moriio-dp-size"]) == pods * local
    assert int(flags["moriio-dp-size-local"]) == local
    for name in ("moriio-remote-hosts", "moriio-decode-hosts"):
        hosts = flags[name].split(",")
        assert len(set(hosts)) == len(hosts) == pods
    assert all(f"--data-parallel-size={pods * local}" in role.container.args for role in plan.roles)


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ({"prefill": {"replicas": 2}}, "roles.prefill.replicas: moriio over several pods allows one replica"),
        (
            {name: {"parallelism": {"loadBalancing": "perRank"}} for name in ("prefill", "decode")},
            "loadBalancing: moriio over several ranks needs hybrid",
        ),
        ({"prefill": {"parallelism": {"data": 8}}}, "same parallelism.data and dataLocal in both roles"),
    ],
)
def test_what_the_lists_cannot_express_is_refused(make_plan: Any, roles: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        make_plan("wide-ep", {**AMD, "roles": roles})
