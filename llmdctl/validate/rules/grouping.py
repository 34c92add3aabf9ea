"""PAR: pods of one group that must be alike, restart together, and be queued together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Hit, MapKey, Outcome, Rule, Severity, Skip
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import EngineCommand, PodTemplate, View, Workload
from llmdctl.view.node import Node

_GROUPS = ("LeaderWorkerSet", "DisaggregatedSet")
# What every rank of one engine must be started with (vLLM config/parallel.py: the hash that ranks compare).
_ALIKE = (
    ("tensor-parallel-size", "tp"),
    ("pipeline-parallel-size", "pp"),
    ("data-parallel-size", "dp"),
    ("data-parallel-rpc-port", "dpp"),
    ("all2all-backend",),
    ("moe-backend",),
)
_MORI = "MORI_"


def _members(workload: Workload) -> list[tuple[PodTemplate, EngineCommand]]:
    return [(item, item.engine) for item in workload.templates if item.engine is not None]


def check_alike(view: View) -> Iterator[Outcome]:
    """PAR011: leader and workers of a group start the ranks of one engine with different settings."""
    for workload in view.workloads:
        members = _members(workload)
        if workload.kind not in _GROUPS or len(members) != 2:
            continue
        (_, leader), (worker_pod, worker) = members
        if leader.engine != worker.engine or leader.is_open or worker.is_open:
            continue
        for names in _ALIKE:
            one, other = leader.option(*names), worker.option(*names)
            if (one and one.is_opaque) or (other and other.is_opaque):
                yield Skip(f"--{names[0]} is only known in the running pod", worker.place)
                continue
            left, right = (item.value if item else None for item in (one, other))
            if left != right:
                yield Hit(
                    worker.place_of(*names),
                    f"{worker_pod.lead}the workers run with {_said(names[0], right)}, their leader with "
                    f"{_said(names[0], left)}",
                    evidence=(seen(f"the leader has {_said(names[0], left)}", leader.place_of(*names)),),
                    fix=f"give leader and workers the same --{names[0]}",
                )


def _said(name: str, value: str | None) -> str:
    return f"no --{name}" if value is None else f"--{name}={value}"


PAR011 = Rule(
    code="PAR011",
    severity=Severity.ERROR,
    title="leader and workers of a group are started with different settings",
    why="all ranks of an engine must agree on sizes and on kernels: else they hang, or read wrong data",
    fix="give every pod of the group the same parallel sizes and backends",
    references=("vLLM config/parallel.py", "llm-d guides/wide-ep"),
    needs=frozenset({"engines"}),
    # The sum of ranks is wrong for the same reason.
    implies=("PAR002", "PAR001"),
    check=check_alike,
)


def check_mori(view: View) -> Iterator[Outcome]:
    """PAR009: MoRI's variables differ between pods that exchange data."""
    for pair in view.pairs:
        left, right = pair.prefill_engine.container, pair.decode_engine.container
        if left.env_is_open or right.env_is_open:
            continue
        names = sorted({name for name in (*left.env, *right.env) if name.startswith(_MORI)})
        for name in names:
            one, other = left.env.get(name), right.env.get(name)
            values = [item.value if item else None for item in (one, other)]
            if (one and one.value is None) or (other and other.value is None) or values[0] == values[1]:
                continue
            yield Hit(
                other.place if other else right.at("env"),
                f"{pair.decode.lead}{name} is {values[1] or 'not set'} here and {values[0] or 'not set'} on the "
                "prefill side",
                evidence=(seen(f"prefill has {values[0] or 'none'}", one.place if one else left.at("env")),),
                fix=f"set {name} alike on every pod of both roles",
            )


PAR009 = Rule(
    code="PAR009",
    severity=Severity.ERROR,
    title="MoRI is set up differently on prefill and decode servers",
    why="both sides lay out their shared memory and their rails by these variables: with different ones transfers hang",
    fix="give every pod of both roles the same MORI_ variables",
    references=("llm-d guides/wide-ep AMD",),
    needs=frozenset({"pairs"}),
    check=check_mori,
)


def check_restart(view: View) -> Iterator[Outcome]:
    """PAR021: one pod of a group restarts while the others wait for it for ever."""
    for workload in view.workloads:
        size = workload.group_size
        if workload.kind not in _GROUPS or size is None or size < 2 or not _members(workload):
            continue
        policy = workload.node.at("spec", "leaderWorkerTemplate", "restartPolicy")
        if policy.text() in ("None", "Default"):
            lead = f"roles[{workload.role_name}] " if workload.role_name else ""
            yield Hit(policy.place, f"{lead}the {size} pods of a group restart one by one ({policy.text()})")


PAR021 = Rule(
    code="PAR021",
    severity=Severity.WARNING,
    title="the pods of a group do not restart together",
    why="ranks join each other once, at start: a pod that comes back alone waits for the others, which are past it",
    fix="leave restartPolicy out, or make it RecreateGroupOnPodRestart",
    references=("lws: restartPolicy", "llm-d guides, multi-host"),
    needs=frozenset({"engines"}),
    check=check_restart,
)

_QUEUE = "kueue.x-k8s.io/queue-name"


def check_queue(view: View) -> Iterator[Outcome]:
    """PAR019: a queue that is named where Kueue doesn't look, or roles whose groups it can't tell apart."""
    for document in view.of_kind("DisaggregatedSet"):
        root = Node(document, document.object)
        roles = list(root.at("spec", "roles").items())
        own = root.at("metadata", "labels").key(_QUEUE)
        queued = [role for role in roles if role.at("metadata", "labels").key(_QUEUE).text()]
        if own.text() and len(queued) < len(roles):
            yield Hit(
                document.place("metadata", "labels", MapKey(_QUEUE)),
                f"the queue {own.text()!r} is named on the set, and Kueue queues the groups of its roles",
                fix=f"move the label {_QUEUE} into metadata.labels of every role",
            )
        for role in queued:
            identity = role.at("spec", "groupIdentity")
            if identity.exists and identity.text() != "Ordinal":
                name = role.at("name").text()
                yield Hit(
                    identity.place,
                    f"roles[{name}] groups are named by {identity.text() or 'nothing'}, a queued role needs Ordinal",
                    fix="make it groupIdentity: Ordinal",
                )


PAR019 = Rule(
    code="PAR019",
    severity=Severity.ERROR,
    title="a queued DisaggregatedSet is set up in a way that Kueue does not see",
    why="Kueue looks at the LeaderWorkerSets that are made of the roles: without a queue they start past every quota",
    fix="label the roles, not the set, and use groupIdentity: Ordinal",
    references=("llm-d guides/pd-disaggregation TPU slices",),
    check=check_queue,
)

# Plugins whose state is what this picker itself has sent or seen.
_OWN_STATE = (
    "inflight-load-producer",
    "active-request-scorer",
    "token-load-scorer",
    "approx-prefix-cache-producer",
    "prefix-cache-affinity-filter",
)


def check_pickers(view: View) -> Iterator[Outcome]:
    """PAR022: several pickers choose side by side, each by what it has sent itself."""
    for epp in view.epps:
        replicas = epp.template.workload.replicas
        election = epp.flags.get("ha-enable-leader-election")
        if replicas is None or replicas < 2 or (election is not None and election.value != "false"):
            continue
        if epp.config_data is None:
            yield Skip("the endpoint picker's config is not in the input", epp.place)
            continue
        plugins = epp.config_data.get("plugins") if isinstance(epp.config_data, dict) else None
        types = [item.get("type") for item in plugins if isinstance(item, dict)] if isinstance(plugins, list) else []
        own = next((item for item in types if item in _OWN_STATE), None)
        if own is not None:
            yield Hit(
                epp.template.workload.at("spec", "replicas"),
                f"{replicas} endpoint pickers choose at once, and {own} knows only the requests of its own",
                evidence=(seen(f"the config has {own}", epp.config_node.place if epp.config_node else epp.place),),
            )


PAR022 = Rule(
    code="PAR022",
    severity=Severity.WARNING,
    title="several endpoint pickers choose by state that they do not share",
    why="each sees a part of the load and of the prefixes: busy servers get more requests, and caches are missed",
    fix="run one replica, add --ha-enable-leader-election=true, or use plugins that read their state from the servers",
    references=("llm-d docs/operations/components/router.md",),
    needs=frozenset({"workloads"}),
    check=check_pickers,
)

GROUP_RULES: Iterable[Rule] = (PAR009, PAR011, PAR019, PAR021, PAR022)
