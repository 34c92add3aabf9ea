"""References by name: what is missing, and what may lie in a namespace that the input does not hold."""

from __future__ import annotations

from typing import Any

import pytest
from stacks import outcomes, pool, titles

from llmdctl.findings import Unresolved
from llmdctl.validate.registry import all_rules

(GWY011,) = (rule for rule in all_rules() if rule.code == "GWY011")
(LBL014,) = (rule for rule in all_rules() if rule.code == "LBL014")


def route(namespace: str) -> dict[str, Any]:
    backend = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "other", "namespace": namespace}
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "r", "namespace": "llm-d"},
        "spec": {"rules": [{"backendRefs": [backend]}]},
    }


@pytest.mark.parametrize(("namespace", "judged"), [("llm-d", True), ("elsewhere", False)])
def test_a_namespace_that_was_not_read_may_hold_anything(namespace: str, judged: bool) -> None:
    objects = (pool(), route(namespace))
    assert bool(titles(GWY011, *objects, complete=True)) is judged
    assert any(isinstance(item, Unresolved) for item in outcomes(GWY011, *objects, complete=True)) is not judged


def test_a_complete_input_lacks_what_it_does_not_hold() -> None:
    assert titles(LBL014, pool(), complete=True) == ["requests are picked by Service demo-epp, which does not exist"]
    assert titles(LBL014, pool()) == []
