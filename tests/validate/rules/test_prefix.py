"""PFX007: where the token producer's URL leads."""

from __future__ import annotations

import pytest
import yaml
from stacks import titles

from llmdctl.validate.registry import EXAMPLES, all_rules
from llmdctl.view import Extent

PFX007 = all_rules().get("PFX007")
GOOD = (EXAMPLES / "PFX007" / "good.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("host", "missing"),
    [
        ("nowhere", True),
        ("nowhere:8000/v1", True),
        ("nowhere.llm-d", True),
        ("nowhere.llm-d.svc", True),
        ("nowhere.llm-d.svc.cluster.local:8000", True),
        ("nowhere.elsewhere.svc", False),
        ("tokens.example.com", False),
        ("localhost:8000", False),
    ],
)
def test_a_service_that_is_not_there(host: str, missing: bool) -> None:
    objects = list(yaml.safe_load_all(GOOD))
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "other", "namespace": "llm-d"},
        "spec": {"ports": [{"port": 80}]},
    }
    for obj in objects:
        obj["metadata"]["namespace"] = "llm-d"
        data = obj.get("data") if obj["kind"] == "ConfigMap" else None
        for key, text in (data or {}).items():
            config = yaml.safe_load(text)
            for plugin in config["plugins"]:
                if plugin["type"] == "token-producer":
                    plugin["parameters"] = {"vllm": {"url": f"http://{host}"}}
            data[key] = yaml.safe_dump(config)
    read = Extent(frozenset({"llm-d"}), cluster_scoped=False)
    found = titles(PFX007, *objects, service, complete=True, extent=read)
    assert any("does not exist" in title for title in found) is missing
