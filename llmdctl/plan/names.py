"""Names that controllers will generate from ours, and whether they fit."""

from __future__ import annotations

from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen

REVISION_LENGTH = 8
"""Hex digits of a DisaggregatedSet revision (sigs.k8s.io/lws, disaggregatedset utils)."""

STATEFULSET_HASH_LENGTH = 11
"""A dash and up to ten characters, which the StatefulSet controller appends for the pods' revision label."""

REPLICASET_HASH_LENGTH = 17
"""A dash, up to ten characters of the pod template hash, a dash and five random characters of the pod."""

KUEUE_PREFIX = "leaderworkerset-"
KUEUE_HASH_LENGTH = 6
"""A dash and five characters, behind the number of the group, in the label that Kueue gives its pods."""

LABEL_MAX = 63


@frozen
class GeneratedName:
    """A name that a controller makes: what it names, its longest form, and the longest that is accepted."""

    what: str
    name: str
    limit: int

    @property
    def fits(self) -> bool:
        """True when the longest form is accepted."""
        return len(self.name) <= self.limit


def generated_names(
    workload: str, stack: str, role: str, replicas: int, pods: int = 1, *, queued: bool = False
) -> list[GeneratedName]:
    """Names made for one role. `x` stands for characters that are not known before (hashes, revisions).

    `queued` when Kueue admits its groups: it makes one Workload for each.
    """
    last = max(replicas - 1, 0)
    name = f"{stack}-{role}"
    if workload in ("disaggregatedSet", "leaderWorkerSet"):
        in_set = workload == "disaggregatedSet"
        lws = f"{stack}-0-{'x' * REVISION_LENGTH}-{role}" if in_set else name
        # The workers of a group are a StatefulSet of their own, named by the group.
        owner, pod = (f"{lws}-{last}", f"{lws}-{last}-{pods - 1}") if pods > 1 else (lws, f"{lws}-{last}")
        return [
            GeneratedName("LeaderWorkerSet of the role", lws, LABEL_MAX),
            *([GeneratedName("headless Service of the role", f"{lws}-prv", LABEL_MAX)] if in_set else []),
            GeneratedName("controller-revision-hash label", f"{owner}{'x' * STATEFULSET_HASH_LENGTH}", LABEL_MAX),
            GeneratedName("pod", pod, LABEL_MAX),
            *([GeneratedName("Workload of Kueue", _kueue_name(lws, last), LABEL_MAX)] if queued else []),
        ]
    return [GeneratedName("pod", f"{name}{'x' * REPLICASET_HASH_LENGTH}", LABEL_MAX)]


def _kueue_name(lws: str, group: int) -> str:
    return f"{KUEUE_PREFIX}{lws}-{group}{'x' * KUEUE_HASH_LENGTH}"


def check_names(
    workload: str, stack: str, role: str, replicas: int, pods: int = 1, *, queued: bool = False
) -> list[GeneratedName]:
    """The generated names. Raises UserError naming the first that does not fit."""
    names = generated_names(workload, stack, role, replicas, pods, queued=queued)
    for generated in names:
        length, limit = len(generated.name), generated.limit
        if not generated.fits:
            raise UserError(
                f"metadata.name: {stack!r} is too long for role {role!r}",
                why=f"the {generated.what} would be {generated.name}: {length} characters, {limit} are allowed",
                fix=f"shorten metadata.name by {length - limit} or more",
                about=["metadata.name", "spec.guide"],
            )
    return names
