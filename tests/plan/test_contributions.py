"""Conditions, scaled quantities, and the sum of what entries contribute."""

from __future__ import annotations

import pytest

from llmdctl.catalog.model import Add, Contribution, Scaled, When
from llmdctl.manifest.typed import load
from llmdctl.plan.contributions import Context, collect, matches, scale
from llmdctl.plan.origin import Ledger, Origin, OriginKind

CONTEXT: Context = {
    "engine": frozenset({"vllm"}),
    "provider": frozenset({"gke", "gke-a4x"}),
    "role": frozenset({"decode"}),
    "transport": frozenset(),
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({}, True),
        ({"engine": "vllm"}, True),
        ({"engine": "sglang"}, False),
        ({"engine": ["sglang", "vllm"]}, True),
        ({"engine": "vllm", "role": "prefill"}, False),
        ({"provider": "gke"}, True),
        ({"provider": "gke-a4x"}, True),
        ({"transport": "nixl"}, False),
        ({"devices": "dra"}, False),
    ],
)
def test_every_given_field_must_hold(condition: dict[str, object], holds: bool) -> None:
    assert matches(load(When, condition), CONTEXT) is holds


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        (Scaled(per_accelerator=2), 8),
        (Scaled(per_rank=3), 6),
        (Scaled(per_role=1), 1),
        (Scaled(per_accelerator=1, per_role=1), 5),
        ("16Gi", "16Gi"),
        (None, None),
    ],
)
def test_quantities_scale_with_the_pod(quantity: object, expected: object) -> None:
    assert scale(quantity, accelerators=4, ranks=2) == expected  # type: ignore[arg-type]


def contribution(condition: dict[str, object], add: dict[str, object]) -> Contribution:
    return Contribution(when=load(When, condition), add=load(Add, add))


def test_contributions_merge_in_order_and_remember_who_won() -> None:
    ledger = Ledger()
    entries = [
        (Origin(OriginKind.CATALOG, "first"), [contribution({}, {"env": [{"name": "A", "value": "1"}]})]),
        (Origin(OriginKind.CATALOG, "second"), [contribution({}, {"env": [{"name": "A", "value": "2"}]})]),
        (Origin(OriginKind.CATALOG, "absent"), [contribution({"role": "prefill"}, {"env": [{"name": "B"}]})]),
    ]
    adds = collect(entries, CONTEXT, ledger, ("roles", "decode"))
    assert adds.data["env"] == [{"name": "A", "value": "2"}]
    assert ledger.of(("roles", "decode", "env", "A")).text == "second"


def test_capabilities_keep_their_reason() -> None:
    add = {"securityContext": {"capabilities": [{"name": "IPC_LOCK", "why": "memory registration"}]}}
    entries = [(Origin(OriginKind.CATALOG, "provider"), [contribution({}, add)])]
    assert collect(entries, CONTEXT, Ledger(), ("roles", "decode")).capabilities == {"IPC_LOCK": "memory registration"}
