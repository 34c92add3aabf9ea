"""Host names of a role's pods, for connectors whose sidecars must know every pod of both roles.

A DisaggregatedSet names its LeaderWorkerSets `<set>-<slice>-<revision>-<role>` (before LeaderWorkerSet 0.10 without the
slice), and a LeaderWorkerSet its pods `<name>-<group>` and `<name>-<group>-<worker>`, below a headless Service of its
own name. The revision is only known in the cluster: pods read it from their own labels, and both roles share it.
Sources: LeaderWorkerSet's controllers, and llm-d's wide-ep for AMD (read 2026-10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmdctl.catalog.model import Engine, GroupFlags
from llmdctl.findings import UserError
from llmdctl.plan.model import Balancing, ParallelismPlan, RolePlan

REVISION = "DISAGGREGATEDSET_REVISION"
REVISION_LABEL = "disaggregatedset.x-k8s.io/revision"
REVISION_ENV = {
    "name": REVISION,
    "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{REVISION_LABEL}']"}},
}


def check_groups(engine: Engine, connector: str, roles: Sequence[RolePlan]) -> None:
    """What the sidecar's lists of hosts can express. Raises UserError for anything else.

    Does nothing for a connector that needs no lists, and for roles of a single rank.
    """
    known = engine.connectors.get(connector)
    if known is None or known.group_flags is None or all(role.parallelism.data == 1 for role in roles):
        return
    for role in roles:
        name, found = role.name, role.parallelism
        if found.balancing in (Balancing.PER_RANK, Balancing.LEADER):
            raise UserError(
                f"spec.roles.{name}.parallelism.loadBalancing: {connector} over several ranks needs hybrid",
                why="its sidecar forwards one port, behind which the engine balances the ranks of its pod",
                fix=f"set spec.roles.{name}.parallelism.loadBalancing: hybrid",
                about=[f"spec.roles.{name}.parallelism.loadBalancing", "spec.kvTransfer.connector"],
            )
        if role.replicas != 1:
            raise UserError(
                f"spec.roles.{name}.replicas: {connector} over several pods allows one replica",
                why="every sidecar is started with the host names of one group of each role",
                fix=f"set spec.roles.{name}.replicas: 1, and deploy another stack for more",
                about=[f"spec.roles.{name}.replicas", "spec.kvTransfer.connector"],
            )
    shapes = {(role.parallelism.data, role.parallelism.data_local) for role in roles}
    names = [role.name for role in roles]
    if len(shapes) > 1:
        raise UserError(
            f"spec.roles: {connector} needs the same parallelism.data and dataLocal in both roles",
            why="the sidecar takes one data-parallel size for both",
            fix="give both roles the same sizes",
            about=[f"spec.roles.{name}.parallelism.data" for name in names],
        )


def pod_hosts(stack: str, namespace: str, workload: str, role: str, pods: int, *, sliced: bool) -> list[str]:
    """The names of a role's pods, leader first, as `$(VARIABLE)` text for Kubernetes to complete."""
    name = f"{stack}-{role}"
    if workload == "disaggregatedSet":
        name = f"{stack}{'-0' if sliced else ''}-$({REVISION})-{role}"
    names = [f"{name}-0", *(f"{name}-0-{worker}" for worker in range(1, pods))]
    return [f"{pod}.{name}.{namespace}.svc" for pod in names]


def group_args(
    flags: GroupFlags, stack: str, namespace: str, workload: str, parallelism: ParallelismPlan, *, sliced: bool
) -> dict[str, Any]:
    """The sidecar's flags for ranks over several pods."""

    def hosts(role: str) -> str:
        return ",".join(pod_hosts(stack, namespace, workload, role, parallelism.pods, sliced=sliced))

    return {
        flags.size: parallelism.data,
        flags.local: parallelism.data_local,
        flags.prefill_hosts: hosts("prefill"),
        flags.decode_hosts: hosts("decode"),
        **flags.args,
    }
