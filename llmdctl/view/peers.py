"""Which pods serve together: the members of a pool, and prefill and decode servers that move KV blocks between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from llmdctl.findings.frozen import frozen
from llmdctl.view.engine import SGLANG, EngineCommand
from llmdctl.view.labels import DS, GUIDE, INSTANCE, MODEL, ROLE
from llmdctl.view.pod import PodTemplate
from llmdctl.view.pool import Pool

PREFILL = "prefill"
DECODE = "decode"

STACK_LABELS = (f"{DS}name", INSTANCE, GUIDE, MODEL)


@frozen
class Group:
    """Templates whose pods one scheduler chooses from. `pool` is None when only labels tie them together."""

    members: tuple[PodTemplate, ...]
    pool: Pool | None = None

    @property
    def is_disaggregated(self) -> bool:
        """True when a member prefills only, or a routing sidecar stands before an engine."""
        return any(acts_as(member) == PREFILL or member.sidecar is not None for member in self.members)


@frozen
class Pair:
    """A prefill and a decode server of one group, each with its one engine."""

    prefill: PodTemplate
    decode: PodTemplate
    prefill_engine: EngineCommand
    decode_engine: EngineCommand

    @property
    def engine(self) -> str:
        """The engine of both, or "" when they differ."""
        return self.prefill_engine.engine if self.prefill_engine.engine == self.decode_engine.engine else ""

    @property
    def title(self) -> str:
        """How messages name the pair."""
        return f"{self.prefill.workload.title} and {self.decode.workload.title}"


def acts_as(template: PodTemplate) -> str:
    """prefill or decode by label, else by what the engine is told; "" for pods that do both or neither."""
    if template.role in (PREFILL, DECODE):
        return template.role
    return "" if template.role or template.engine is None else engine_role(template.engine)


def engine_role(engine: EngineCommand) -> str:
    """prefill or decode by the engine's own arguments; "" when they don't say."""
    if engine.engine == SGLANG:
        return engine.mode
    roles = {connector.role for connector in engine.kv_transfer.peers} if engine.kv_transfer else set()
    return {"kv_producer": PREFILL, "kv_consumer": DECODE}.get(roles.pop(), "") if len(roles) == 1 else ""


def pairs_of(group: Group) -> Iterator[Pair]:
    """Every prefill with every decode template of a group that may stand in one cluster together."""
    by_role: dict[str, list[PodTemplate]] = {PREFILL: [], DECODE: []}
    for member in group.members:
        by_role.get(acts_as(member), []).append(member)
    for prefill in by_role[PREFILL]:
        for decode in by_role[DECODE]:
            left, right = prefill.engine, decode.engine
            if left is not None and right is not None and prefill is not decode:
                yield Pair(prefill, decode, left, right)


def are_siblings(left: PodTemplate, right: PodTemplate) -> bool:
    """True when labels say that two templates are parts of one stack.

    They share at least one label that names the stack (the DisaggregatedSet, the instance, the guide, the model), and
    contradict each other in none of them.
    """
    shared = 0
    for key in STACK_LABELS:
        mine, theirs = left.labels.get(key), right.labels.get(key)
        if mine is not None and theirs is not None:
            if mine != theirs:
                return False
            shared += 1
    return shared > 0


def identity(template: PodTemplate) -> tuple[tuple[str, str], ...]:
    """The labels that name a template's stack: the DisaggregatedSet, the instance, and llm-d's own but the role."""
    fixed = template.labels.fixed.items()
    pairs = (pair for pair in fixed if pair[0] in STACK_LABELS or (pair[0].startswith("llm-d.ai/") and pair[0] != ROLE))
    return tuple(sorted(pairs))


def sibling_groups(templates: Sequence[PodTemplate]) -> Iterator[Group]:
    """Groups of serving templates that no pool binds: those whose labels name the same stack, in one namespace.

    Where one file holds prefill and decode servers of a stack, they belong to each other and not to those of other
    files: charts and overlays often differ in nothing but their names.
    """
    by_stack: dict[tuple[tuple[str, str], ...], list[PodTemplate]] = defaultdict(list)
    for template in templates:
        by_stack[identity(template)].append(template)
    for stack, everywhere in by_stack.items():
        for members in _split_by_namespace(everywhere) if stack else ():
            if len(members) > 1:
                yield from (Group(tuple(part)) for part in split_by_file(members) if len(part) > 1)


def _split_by_namespace(members: list[PodTemplate]) -> list[list[PodTemplate]]:
    """The members by namespace; all together when one states none, since it goes where it is applied."""
    namespaces: dict[str, list[PodTemplate]] = defaultdict(list)
    for member in members:
        namespaces[member.namespace].append(member)
    return [members] if "" in namespaces else list(namespaces.values())


def split_by_file(members: list[PodTemplate]) -> list[list[PodTemplate]]:
    """The members file by file where a file holds prefill and decode servers, else all together."""
    files: dict[str, list[PodTemplate]] = defaultdict(list)
    for member in members:
        files[member.node.document.source.file].append(member)
    whole = any({PREFILL, DECODE} <= {acts_as(member) for member in part} for part in files.values())
    return list(files.values()) if whole else [members]
