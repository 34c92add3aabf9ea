"""LBL: selection, identity and labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from llmdctl.findings import Hit, Outcome, Rule, Severity, Unresolved
from llmdctl.manifest.typed import nearest, surely_meant
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.mend import label_set
from llmdctl.view import Epp, Group, Match, PodTemplate, Pool, View, Workload
from llmdctl.view.labels import ENGINE_TYPE, LEGACY_ENGINE_TYPE, ROLE
from llmdctl.view.names import same_namespace
from llmdctl.view.peers import PREFILL, STACK_LABELS, are_siblings, engine_role

ROLES = ("prefill", "decode", "encode", "prefill-decode", "encode-prefill", "encode-prefill-decode", "both")

# Deployments select by labels that stay; these change with every chart or image version.
_UPGRADE_LABELS = ("app.kubernetes.io/version", "helm.sh/chart", "pod-template-hash", "controller-revision-hash")

# How many templates are compared with a pool that picks nothing, to name the nearest.
_NEAR = 200

_ENGINE_TYPES = {"vllm": ("vllm",), "sglang": ("sglang",), "trtllm": ("trtllm-serve", "trtllm"), "sim": ("vllm",)}


def check_pool_selects(view: View) -> Iterator[Outcome]:
    """LBL001: a pool picks nothing, or only a part of one stack's servers."""
    picked = {id(pool): list(view.selected(pool.selector, pool.document)) for pool in view.pools if pool.selector}
    bound = {id(member) for members in picked.values() for member in members}
    orphans = _by_stack([item for item in view.serving if id(item) not in bound and item.part != "worker"])
    for pool in view.pools:
        members = picked.get(id(pool))
        if members:
            yield from _partly_selected(view, pool, members, orphans)
        elif members is not None:
            yield from _none_selected(view, pool, bound)


_Stacks = dict[object, list[PodTemplate]]


def _by_stack(templates: list[PodTemplate]) -> _Stacks:
    """Templates by what may tie them to a stack: their object, and each label that names one."""
    out: _Stacks = defaultdict(list)
    for template in templates:
        out[id(template.workload.document)].append(template)
        for key in STACK_LABELS:
            out[key, template.labels.get(key)].append(template)
    return out


def _none_selected(view: View, pool: Pool, bound: set[int]) -> Iterator[Outcome]:
    title = f"the pool's selector {_pairs(pool.selector)} picks no pod"
    met = [item for item in view.serving[:_NEAR] if view.worlds.meet(pool.document, item.node.document)]
    fitting = next((item for item in met if item.labels.match(pool.selector) is not Match.NONE), None)
    if fitting is not None:
        yield Hit(
            pool.selector_place,
            f"{title} of its namespace {pool.namespace}",
            evidence=(seen(f"{fitting.workload.title} fits, in namespace {fitting.namespace}", fitting.labels_place),),
            fix=f"put the pool and {fitting.workload.title} into one namespace",
        )
        return
    free = [item for item in met if id(item) not in bound and same_namespace(item.namespace, pool.namespace)]
    closest = min(free, key=lambda item: len(item.labels.misses(pool.selector)), default=None)
    severity = _certainty(view, pool, closest)
    if severity is None or closest is None:
        yield Hit(pool.selector_place, title) if view.complete else Unresolved(pool.selector_place, title)
        return
    yield Hit(
        pool.selector_place,
        title,
        evidence=(seen(f"the nearest is {closest.workload.title}: {_misses(closest, pool)}", closest.labels_place),),
        severity=severity,
    )


def _certainty(view: View, pool: Pool, closest: PodTemplate | None) -> Severity | None:
    """How sure it is that the pool means these pods: an error, a warning, or nothing to go by."""
    if closest is None:
        return None
    misses = closest.labels.misses(pool.selector)
    close = len(misses) < len(pool.selector) or any(own and nearest(wanted, [own]) for _, wanted, own in misses)
    if view.complete or _surely_in(pool, closest):
        return Severity.ERROR if close or any(own for _, _, own in misses) or view.complete else Severity.WARNING
    return Severity.WARNING if close else None


def _surely_in(pool: Pool, template: PodTemplate) -> bool:
    if template.namespace and template.namespace == pool.namespace:
        return True
    return template.node.document.source.file == pool.document.source.file


def _partly_selected(view: View, pool: Pool, members: list[PodTemplate], orphans: _Stacks) -> Iterator[Outcome]:
    done: set[int] = set()
    for member in members:
        keys: list[object] = [id(member.workload.document)]
        keys += [(key, value) for key in STACK_LABELS if (value := member.labels.get(key))]
        for template in (item for key in keys for item in orphans.get(key, ())):
            if id(template) in done or not same_namespace(template.namespace, pool.namespace):
                continue
            if _belong_together(view, member, template):
                done.add(id(template))
                yield Hit(
                    template.labels_place,
                    f"the pool {pool.name} picks {member.title} but not {template.title}: {_misses(template, pool)}",
                    evidence=(seen(f"the pool's selector is {_pairs(pool.selector)}", pool.selector_place),),
                )


def _belong_together(view: View, left: PodTemplate, right: PodTemplate) -> bool:
    if left.workload.document is right.workload.document:
        return True
    roles = {left.role, right.role}
    if not view.worlds.meet(left.node.document, right.node.document) or PREFILL not in roles or len(roles) < 2:
        return False
    return are_siblings(left, right)


def _misses(template: PodTemplate, pool: Pool) -> str:
    return ", ".join(
        f"{key} is {own!r}, not {wanted!r}" if own is not None else f"it lacks {key}"
        for key, wanted, own in template.labels.misses(pool.selector)
    )


def _pairs(labels: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in labels.items()) + "}"


LBL001 = Rule(
    code="LBL001",
    severity=Severity.ERROR,
    title="an InferencePool does not pick its serving pods",
    why=(
        "a pool picks pods of its own namespace by equality of labels; pods that it doesn't pick get no request, and a "
        "pool without pods answers 503"
    ),
    fix="make the pool's selector a subset of the pod template's labels, in one namespace",
    references=("gateway-api-inference-extension api/v1/inferencepool_types.go",),
    needs=frozenset({"pools"}),
    check=check_pool_selects,
)


def check_roles(view: View) -> Iterator[Outcome]:
    """LBL003: pods of a disaggregated pool without a role, or with one that no filter knows."""
    done: set[int] = set()
    for group in view.groups:
        if not group.is_disaggregated:
            continue
        for member in group.members:
            if id(member) not in done and member.part != "worker" and (member.engines or member.sidecar or member.role):
                done.add(id(member))
                yield from _check_role(group, member)


def _check_role(group: Group, member: PodTemplate) -> Iterator[Outcome]:
    if member.role in ROLES:
        return
    where = f"pool {group.pool.name}" if group.pool else "its stack"
    if member.role:
        close = nearest(member.role, ROLES)
        yield Hit(
            member.at("metadata", "labels", ROLE),
            f"{member.lead}the pods have the role {member.role!r}, which no filter of the router knows",
            why="prefill-filter and decode-filter both drop the pod, so it gets no request",
            fix=f"use {close!r}" if close else f"use one of: {', '.join(ROLES)}",
            edits=label_set(member, ROLE, surely_meant(member.role, ROLES)) if surely_meant(member.role, ROLES) else (),
        )
    elif ROLE not in member.labels.varying:
        acting = member.engine and engine_role(member.engine)
        yield Hit(
            member.labels_place,
            f"{member.lead}the pods have no label {ROLE}, and {where} separates prefill and decode",
            fix=f"add {ROLE}: {acting or 'decode'} to the pod template",
            edits=label_set(member, ROLE, acting) if acting else (),
            severity=Severity.ERROR if acting == PREFILL else Severity.WARNING,
        )


LBL003 = Rule(
    code="LBL003",
    severity=Severity.ERROR,
    title="a pod of a disaggregated pool states no role that the router knows",
    why=(
        "prefill-filter keeps only pods whose llm-d.ai/role includes prefill; decode-filter keeps those with a decode "
        "role and those without any, so an unlabelled prefill server is asked to decode and never to prefill"
    ),
    fix="label the pod template with llm-d.ai/role",
    references=("llm-d-router filter/bylabel/roles.go",),
    needs=frozenset({"engines"}),
    check=check_roles,
)


def check_selectors(view: View) -> Iterator[Outcome]:
    """LBL005: selectors that catch another workload's pods, or that the next upgrade may not change."""
    for workload in view.workloads:
        if not workload.selector:
            continue
        for key in _UPGRADE_LABELS:
            if key in workload.selector:
                yield Hit(
                    workload.at("spec", "selector", "matchLabels", key),
                    f"the selector names {key}, which changes with every version",
                    why="a selector can't be changed: the API server refuses the next upgrade",
                    fix=f"leave {key} out of the selector; keep it as a label",
                )
        other = _caught(view, workload)
        if other is not None:
            yield Hit(
                workload.at("spec", "selector"),
                f"the selector also matches the pods of {other.title}",
                evidence=(seen(f"{other.title} has all labels of {_pairs(workload.selector)}", other.place),),
            )


def _caught(view: View, workload: Workload) -> Workload | None:
    """Another workload whose pods the selector matches. A Job's pods never are: their labels carry its uid."""
    for template in view.selected(workload.selector, workload.document):
        other = template.workload
        same = other.document is workload.document or other.ref == workload.ref
        if not same and other.kind not in ("Job", "CronJob") and _surely_together(workload, other):
            return other
    return None


def _surely_together(left: Workload, right: Workload) -> bool:
    """True when both go into one namespace: the same stated one, or none in one file. Overlays often state none."""
    if left.namespace != right.namespace:
        return False
    return bool(left.namespace) or left.document.source.file == right.document.source.file


LBL005 = Rule(
    code="LBL005",
    severity=Severity.WARNING,
    title="a workload's selector catches other pods, or changes with every version",
    why=(
        "scale, disruption budgets and autoscalers count pods by the workload's selector: one that matches a second "
        "workload's pods mixes prefill and decode in every such number"
    ),
    fix="add the label that tells the workloads apart (llm-d.ai/role, app.kubernetes.io/instance) to the selector",
    references=("Kubernetes: Deployments, label selector updates",),
    needs=frozenset({"workloads"}),
    check=check_selectors,
)


def check_engine_type(view: View) -> Iterator[Outcome]:
    """LBL008: the endpoint picker reads the wrong metric names."""
    for template in view.serving:
        engine = template.engine
        if engine is None or template.part == "worker" or engine.engine not in _ENGINE_TYPES:
            continue
        key = next((key for key in (ENGINE_TYPE, LEGACY_ENGINE_TYPE) if template.labels.get(key)), ENGINE_TYPE)
        stated, wanted = template.labels.get(key), _ENGINE_TYPES[engine.engine]
        if stated is None:
            yield from _check_unstated(view, template, engine.engine, wanted[0])
        elif stated not in wanted and (stated in _KNOWN_TYPES or engine.engine != "vllm"):
            yield Hit(
                template.at("metadata", "labels", key),
                f"{template.lead}the pods run {engine.engine} and say {key}: {stated}",
                fix=f"set {key}: {wanted[0]}",
                edits=label_set(template, key, wanted[0]),
            )


_KNOWN_TYPES = frozenset(name for names in _ENGINE_TYPES.values() for name in names)


def _check_unstated(view: View, template: PodTemplate, engine: str, wanted: str) -> Iterator[Outcome]:
    if wanted == "vllm":
        return
    pickers = [epp for epp in view.epps if _serves(view, epp, template)]
    known = [default for epp in pickers if (default := _default_engine(epp))]
    title = f"{template.lead}the pods run {engine} and have no label {ENGINE_TYPE}"
    if len(known) < len(pickers) or wanted in known:
        return
    if not pickers and not view.complete:
        yield Unresolved(template.labels_place, f"{title}, and the endpoint picker's config is not in the input")
        return
    yield Hit(
        template.labels_place,
        title,
        fix=f"add {ENGINE_TYPE}: {wanted} to the pod template",
        edits=label_set(template, ENGINE_TYPE, wanted),
    )


def _serves(view: View, epp: Epp, template: PodTemplate) -> bool:
    return any(
        same_namespace(pool.namespace, template.namespace) and template.labels.match(pool.selector) is not Match.NONE
        for pool in view.pools_by_name.named(epp.pool_name, epp.pool_namespace)
    )


def _default_engine(epp: Epp) -> str | None:
    """The engine that the picker takes unlabelled pods for; None when its config can't be read."""
    if epp.config is None:
        return None
    for plugin in epp.config.plugins:
        if plugin.type == "core-metrics-extractor" and plugin.parameters:
            default = plugin.parameters.get("defaultEngine")
            if isinstance(default, str) and default:
                return default
    return "vllm"


LBL008 = Rule(
    code="LBL008",
    severity=Severity.ERROR,
    title="pods do not say which engine they run",
    why=(
        "the endpoint picker maps metric names by the label llm-d.ai/engine-type and takes pods without it for vLLM: "
        "for another engine it finds no queue length and no KV-cache use, and its scorers see every pod as idle"
    ),
    fix="label the pod template with llm-d.ai/engine-type",
    references=("llm-d-router mapping_registry.go", "llm-d docs/architecture/model-servers/sglang.md"),
    needs=frozenset({"engines"}),
    check=check_engine_type,
)

LBL_RULES: Iterable[Rule] = (LBL001, LBL003, LBL005, LBL008)
