"""Labels as pods will carry them, and what a selector does with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from llmdctl.findings.frozen import frozen

ROLE = "llm-d.ai/role"
GUIDE = "llm-d.ai/guide"
MODEL = "llm-d.ai/model"
INSTANCE = "app.kubernetes.io/instance"
ENGINE_TYPE = "llm-d.ai/engine-type"
LEGACY_ENGINE_TYPE = "inference.networking.k8s.io/engine-type"
INFERENCE_SERVING = "llm-d.ai/inference-serving"

LWS = "leaderworkerset.sigs.k8s.io/"
DS = "disaggregatedset.x-k8s.io/"


class Match(Enum):
    """What a selector does with the pods of one template."""

    NONE = "no pod"
    SOME = "some pods, or it depends on labels that a controller sets"
    ALL = "every pod"


@frozen
class Labels:
    """`fixed` are the labels of every pod; `varying` those that a controller sets pod by pod (None: any value)."""

    fixed: Mapping[str, str]
    varying: Mapping[str, frozenset[str] | None] = field(default_factory=dict)

    def get(self, key: str) -> str | None:
        """The value that every pod has, or None."""
        return self.fixed.get(key)

    def match(self, selector: Mapping[str, str]) -> Match:
        """How an equality selector fits; an empty one fits all, as in Kubernetes."""
        result = Match.ALL
        for key, value in selector.items():
            if key in self.varying:
                values = self.varying[key]
                if values is not None and value not in values:
                    return Match.NONE
                if values is None or len(values) > 1:
                    result = Match.SOME
            elif self.fixed.get(key) != value:
                return Match.NONE
        return result

    def misses(self, selector: Mapping[str, str]) -> list[tuple[str, str, str | None]]:
        """The selector's pairs that no pod has: key, wanted value, own value or None."""
        return [
            (key, value, self.fixed.get(key))
            for key, value in selector.items()
            if self.fixed.get(key) != value and not self._may_have(key, value)
        ]

    def _may_have(self, key: str, value: str) -> bool:
        if key not in self.varying:
            return False
        values = self.varying[key]
        return values is None or value in values


def lws_labels(name: str, fixed: Mapping[str, str], indices: range) -> Labels:
    """What LeaderWorkerSet adds to a template whose pods have these worker indices."""
    varying: dict[str, frozenset[str] | None] = {
        f"{LWS}group-index": None,
        f"{LWS}group-key": None,
        f"{LWS}template-revision-hash": None,
        f"{LWS}worker-index": frozenset(str(index) for index in indices[:64]),
    }
    return Labels({**fixed, f"{LWS}name": name} if name else fixed, varying)


def disaggregated_labels(ds: str, role: str, base: Labels, slices: int) -> Labels:
    """What DisaggregatedSet adds: it overwrites `app`, and LWS names carry a revision (its controller)."""
    fixed = {key: value for key, value in base.fixed.items() if key != f"{LWS}name"}
    fixed |= {f"{DS}name": ds, f"{DS}role": role}
    varying: dict[str, frozenset[str] | None] = {**base.varying, f"{LWS}name": None, f"{DS}revision": None}
    if slices == 1:
        fixed |= {f"{DS}slice": "0", "app": f"{ds}-0-{role}"}
    else:
        numbers = range(min(slices, 100))
        fixed.pop("app", None)
        varying[f"{DS}slice"] = frozenset(str(number) for number in numbers)
        varying["app"] = frozenset(f"{ds}-{number}-{role}" for number in numbers)
    return Labels(fixed, varying)
