"""The one registry of rules: it drives the run, `explain`, `rules list`, the pages in docs/rules and the tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from llmdctl.findings import RuleRegistry
from llmdctl.manifest.rules import YML_RULES
from llmdctl.validate.admission import ADM_RULES
from llmdctl.validate.expressions import CEL_RULES
from llmdctl.validate.rules import VIEW_RULES
from llmdctl.validate.structure import SCH_RULES
from llmdctl.validate.suppress import IGN001

EXAMPLES = Path(__file__).resolve().parent / "examples"

FAMILIES = {
    "YML": "reading: what YAML readers and the API server's strict decoding refuse",
    "SCH": "structure: the schema of the chosen Kubernetes minor, or of a CRD",
    "ADM": "admission: what the API server checks beyond the schema",
    "CEL": "expressions: rules that CRDs bring, and selectors of device claims",
    "LBL": "selection, identity and labels",
    "PRT": "ports",
    "KVT": "KV transfer between prefill and decode",
    "ENG": "engine: flags and values, by engine version",
    "PFX": "precise prefix-cache routing",
    "RTR": "router: the endpoint picker's config, flags and rights",
    "PAR": "parallelism, groups and rollouts",
    "RES": "resources of pods and what they need of their host",
    "DRA": "device claims",
    "SCL": "autoscaling",
    "IMG": "images and versions",
    "GWY": "routes, gateways and proxies",
    "SEC": "secrets and privileges",
    "MON": "monitoring",
    "IGN": "ignore annotations",
}


@cache
def all_rules() -> RuleRegistry:
    """Every code that `validate` can report. Callers must not add to it."""
    registry = RuleRegistry()
    for rule in (*YML_RULES, *SCH_RULES, *ADM_RULES, *CEL_RULES, *VIEW_RULES, IGN001):
        registry.add(rule)
    return registry


def example(code: str, kind: str) -> str:
    """The text of a rule's `bad` or `good` example, or "" when it has none."""
    path = EXAMPLES / code / f"{kind}.yaml"
    return path.read_text(encoding="utf-8") if path.is_file() else ""
