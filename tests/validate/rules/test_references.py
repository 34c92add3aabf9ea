"""References by name: what is missing, and what may lie in a namespace that the input does not hold."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from stacks import outcomes, pool, prefill, titles

from llmdctl.findings import Hit, Skip, Unresolved
from llmdctl.validate.registry import EXAMPLES, all_rules
from llmdctl.view import Extent

GWY011, LBL014, MON001, RTR043 = map(all_rules().get, ("GWY011", "LBL014", "MON001", "RTR043"))
READ = Extent(frozenset({"llm-d"}), cluster_scoped=False)


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
    (found,) = outcomes(GWY011, pool(), route(namespace), complete=True, extent=READ)
    assert isinstance(found, Hit) is judged
    assert isinstance(found, Unresolved) is not judged


def test_an_input_that_is_said_to_be_all_there_is_lacks_other_namespaces() -> None:
    assert titles(GWY011, pool(), route("elsewhere"), complete=True)


@pytest.mark.parametrize(
    ("chosen", "judged"),
    [
        ({}, True),
        ({"matchNames": ["llm-d"]}, True),
        ({"matchNames": ["llm-d", "elsewhere"]}, False),
        ({"any": True}, False),
    ],
)
def test_a_monitor_may_scrape_namespaces_that_were_not_read(chosen: dict[str, Any], judged: bool) -> None:
    monitor = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {"name": "m", "namespace": "llm-d"},
        "spec": {"selector": {"matchLabels": {"app": "other"}}, "namespaceSelector": chosen, "podMetricsEndpoints": []},
    }
    (found,) = outcomes(MON001, prefill(), monitor, complete=True, extent=READ)
    assert isinstance(found, Hit) is judged


@pytest.mark.parametrize(("extent", "kind"), [(Extent(), Hit), (READ, Skip)])
def test_a_cluster_role_binding_may_grant_what_was_not_read(extent: Extent, kind: type) -> None:
    bad = yaml.safe_load_all((EXAMPLES / "RTR043" / "bad.yaml").read_text(encoding="utf-8"))
    found = outcomes(RTR043, *bad, complete=True, extent=extent)
    assert found
    assert all(isinstance(item, kind) for item in found)


def test_a_complete_input_lacks_what_it_does_not_hold() -> None:
    assert titles(LBL014, pool(), complete=True) == ["requests are picked by Service demo-epp, which does not exist"]
    assert titles(LBL014, pool()) == []
