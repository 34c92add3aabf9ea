"""Spec and catalog to Plan: the entrance of the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llmdctl.catalog.load import Catalog
from llmdctl.catalog.model import Contribution
from llmdctl.catalog.select import has_router
from llmdctl.findings import UserError
from llmdctl.findings.versions import Version
from llmdctl.plan.blame import blame
from llmdctl.plan.contributions import Context, RoleAdds, collect, matches
from llmdctl.plan.hosts import check_groups
from llmdctl.plan.images import ImageResolver, release_set
from llmdctl.plan.kvevents import plan_render, plugin_parameters
from llmdctl.plan.labels import INSTANCE, SERVING_LABEL
from llmdctl.plan.model import (
    BudgetPlan,
    ClaimPlan,
    ModelPlan,
    MonitoringPlan,
    ObjectPlan,
    Plan,
    PoolPlan,
    RenderPlan,
    RolePlan,
    RouterPlan,
    ServingAccountPlan,
    StackPlan,
)
from llmdctl.plan.notices import cache_notices, claim_notices, event_notices, gateway_notices, image_notices
from llmdctl.plan.origin import Ledger, Origin, OriginKind, formula
from llmdctl.plan.pods import CACHE_MOUNT, engine_config
from llmdctl.plan.request import Request
from llmdctl.plan.resolve import Resolved, resolve
from llmdctl.plan.roles import RoleContext, plan_role
from llmdctl.plan.router import plan_router
from llmdctl.schema import SUPPORTED_MINORS
from llmdctl.spec.model import NAME_MAX, Model, StackSpec

GROUP_IDENTITY_SINCE = "0.11.0"
SLICES_SINCE = "0.10.0"
"""LeaderWorkerSet release that has groupIdentity."""

EXISTING_GATEWAY = "existing"
"""What conditions on a Gateway's class call one that the stack does not bring itself: its class is not known."""

DRA_SINCE_MINOR = 34
"""Kubernetes 1.34 serves resource.k8s.io/v1."""


def build_plan(request: Request, catalog: Catalog) -> Plan:
    """The plan of a request. Raises UserError for anything that cannot be planned."""
    try:
        return _derive(request, resolve(request, catalog), catalog)
    except UserError as error:
        raise blame(error, request) from error


def _derive(request: Request, resolved: Resolved, catalog: Catalog) -> Plan:
    spec, ledger = resolved.stack.spec, resolved.ledger
    release = str(spec.release)
    images = release_set(catalog.images, release)
    _check_choices(resolved)
    name, namespace = _names(resolved)
    labels = _labels(resolved, name)
    model = _model(resolved)
    resolver = ImageResolver(catalog.images, release, spec.images, ledger, catalog.image_origin)
    account = _account(resolved, name)
    context = RoleContext(
        resolved=resolved,
        images=resolver,
        model=model,
        stack_name=name,
        labels=labels,
        service_account=account.name if account else "",
        namespace=namespace,
        has_slices=_at_least(images.components.get("lws", ""), SLICES_SINCE),
        has_group_identity=_at_least(images.components.get("lws", ""), GROUP_IDENTITY_SINCE),
        gated=bool(resolved.selection.model and resolved.selection.model.facts.gated),
        foreign_resources=_foreign_resources(resolved, catalog),
    )
    entries = _entries(resolved, catalog)
    wanted = resolved.selection.roles
    adds = {role: collect(entries, _context(resolved, role), ledger, ("roles", role)) for role in wanted}
    roles = tuple(plan_role(role, adds[role], context) for role in wanted)
    _check_replicas(spec, roles)
    _check_local_model(spec)
    _check_ports(roles)
    if spec.kv_transfer:
        check_groups(resolved.selection.engine, str(spec.kv_transfer.connector), roles)
    claims = _claims(name, adds, ledger)
    if claims:
        _check_dra(spec, "claims of this combination need")
    notices = claim_notices(resolved, claims, allowed=request.allow_unsupported)
    picker = resolver.resolve("endpoint-picker", ("router", "image"))
    render = _render(resolved, resolver, model, name, labels, roles)
    events = resolved.selection.guide.kv_events
    agreed = (
        plugin_parameters(events, resolved.selection.engine, model, render, picker.version, roles)
        if events and render
        else {}
    )
    extras = _router_extras(adds)
    router = plan_router(resolved, resolver, name, namespace, labels, extras, roles, agreed, picker)
    monitoring = MonitoringPlan(interval="30s", path=resolved.selection.engine.metrics_path)
    used_router = router if has_router(resolved.selection.guide) else None
    monitored = bool(spec.monitoring and spec.monitoring.enabled)
    stack = _stack(resolved, name, namespace, release, labels)
    ledger.note(("monitoring",), formula("spec.monitoring.enabled"))
    ledger.note(("pool",), formula("the ports that every selected pod serves, and the labels that they all carry"))
    plan = Plan(
        stack=stack,
        model=model,
        roles=roles,
        serving_account=account,
        claims=claims,
        pool=PoolPlan(
            name=name,
            selector={INSTANCE: name, SERVING_LABEL: "true"},
            ports=roles[0].serving_ports,
        ),
        budgets=_budgets(roles, router, render, ledger),
        router=router,
        render=render,
        monitoring=monitoring if monitored else None,
        engine_config=engine_config(resolved.selection.engine, name, ledger),
        objects=(),
        patches=tuple(spec.patches or ()),
        spec=resolved.data,
        notices=(
            *resolved.notices,
            *notices,
            *image_notices(roles, used_router, render, release, catalog.images.deprecated),
            *gateway_notices(router, ledger),
            *cache_notices(spec, roles, render),
            *event_notices(resolved),
        ),
        ledger=ledger,
        has_router=used_router is not None,
    )
    return _with_objects(plan, resolved)


def _render(
    resolved: Resolved, images: ImageResolver, model: ModelPlan, name: str, labels: dict[str, Any],
    roles: tuple[RolePlan, ...],
) -> RenderPlan | None:  # fmt: skip
    settings = resolved.selection.guide.kv_events
    if settings is None:
        return None
    serving = {INSTANCE: name, SERVING_LABEL: "true"}
    resolved.ledger.note(("render",), formula("who tokenises prompts: the engines themselves, or servers of its own"))
    return plan_render(settings, resolved.selection.engine, images, model, name, serving, labels, roles[0])


def _budgets(
    roles: tuple[RolePlan, ...], router: RouterPlan, render: RenderPlan | None, ledger: Ledger
) -> tuple[BudgetPlan, ...]:
    """One for each set of pods that can lose one: a budget over a single pod would only stop nodes from draining."""
    ledger.note(
        ("budgets",), formula("roles, routers and servers that tokenise, with more than one pod: one at a time")
    )
    found = [
        BudgetPlan(name=role.workload_name, labels=role.workload_labels, selector=role.selector, max_unavailable=1)
        for role in roles
        if role.replicas * role.parallelism.pods > 1
    ]
    if router.replicas > 1:
        found.append(BudgetPlan(name=router.name, labels=router.labels, selector=router.selector, max_unavailable=1))
    if render and render.server and render.server.replicas > 1:
        found.append(BudgetPlan(name=render.name, labels=render.labels, selector=render.selector, max_unavailable=1))
    return tuple(found)


def _at_least(version: str, bound: str) -> bool:
    found, wanted = Version.parse(version), Version.parse(bound)
    return found is not None and wanted is not None and found >= wanted


def _check_choices(resolved: Resolved) -> None:
    spec, guide = resolved.stack.spec, resolved.selection.guide
    if spec.workload not in guide.workloads:
        raise UserError(
            f"spec.workload: guide {guide.name} does not run as {spec.workload}",
            fix="workload: " + " or ".join(guide.workloads),
        )
    _check_refusals(resolved)
    if spec.kube_version not in SUPPORTED_MINORS:
        raise UserError(
            f"spec.kubeVersion: Kubernetes {spec.kube_version} is not known to this llmdctl",
            fix=f"use one of: {', '.join(SUPPORTED_MINORS)}",
        )
    if spec.devices and spec.devices.mode == "dra":
        _check_dra(spec, "spec.devices.mode dra needs")


CHOICES = {
    "engine": "spec.engine",
    "model": "spec.model.id",
    "accelerator_family": "spec.accelerator",
    "accelerator": "spec.accelerator",
    "provider": "spec.provider",
    "transport": "spec.kvTransfer.connector",
    "devices": "spec.devices.mode",
    "release": "spec.release",
    "workload": "spec.workload",
    "router": "spec.router.mode",
    "gateway": "spec.router.gateway.className",
}
"""Field of `When` -> where a user makes that choice."""


def _check_refusals(resolved: Resolved) -> None:
    guide, context = resolved.selection.guide, _context(resolved, "")
    for refusal in guide.refused:
        if not matches(refusal.when, context):
            continue
        met = {name: path for name, path in CHOICES.items() if getattr(refusal.when, name) is not None}
        values = " and ".join(f"{path} {'/'.join(sorted(context[name]))}" for name, path in met.items())
        raise UserError(
            f"guide {guide.name} does not work with {values}",
            why=refusal.why,
            fix=refusal.fix,
            about=list(met.values()),
        )


def _check_dra(spec: StackSpec, who: str) -> None:
    if int(str(spec.kube_version).partition(".")[2]) < DRA_SINCE_MINOR:
        raise UserError(
            f"spec.kubeVersion is {spec.kube_version}, but {who} Kubernetes 1.{DRA_SINCE_MINOR} or newer",
            why="resource.k8s.io/v1 is not served before",
            fix="raise kubeVersion, or set spec.devices.mode: devicePlugin",
        )


def _check_local_model(spec: StackSpec) -> None:
    model = spec.model
    if model is None or model.source != "local":
        return
    if model.cache is None or (model.cache.pvc is None and model.cache.host_path is None):
        raise UserError(
            "spec.model.source is local, but the cache is an empty directory of each pod",
            why="the engine would look for the model's files where none can be",
            fix="name what holds them: spec.model.cache.pvc.claimName or spec.model.cache.hostPath.path",
            about=["spec.model.source", "spec.model.cache"],
        )


def _check_replicas(spec: StackSpec, roles: tuple[RolePlan, ...]) -> None:
    # A rule of the DisaggregatedSet CRD, written in CEL.
    empty = [role.name for role in roles if role.replicas == 0]
    if spec.workload == "disaggregatedSet" and empty and len(empty) < len(roles):
        raise UserError(
            f"spec.roles.{empty[0]}.replicas is 0, but another role of the same DisaggregatedSet has replicas",
            why="the API server refuses a DisaggregatedSet in which some roles have no replicas and others have",
            fix="give every role at least 1, or all of them 0, or set spec.workload: deployment",
        )


def _check_ports(roles: tuple[RolePlan, ...]) -> None:
    first, *others = roles
    for role in others:
        if role.serving_ports != first.serving_ports:
            raise UserError(
                f"spec.roles: {first.name} serves on {len(first.serving_ports)} ports a pod, {role.name} on "
                f"{len(role.serving_ports)}",
                why="one InferencePool holds both roles, and every pod has to listen on each of its target ports",
                fix="give both the same dataLocal, or set loadBalancing: hybrid for both",
                about=[
                    f"spec.roles.{found.name}.parallelism.{size}"
                    for size in ("dataLocal", "loadBalancing", "data")
                    for found in (role, first)
                ],
            )


def _names(resolved: Resolved) -> tuple[str, str]:
    metadata = resolved.stack.metadata
    name = metadata.name
    if not name:
        name = resolved.selection.guide.name[:NAME_MAX].rstrip("-")
        resolved.data["metadata"]["name"] = name
        resolved.ledger.note(("metadata", "name"), formula("the guide's name"))
    return name, str(metadata.namespace)


def _labels(resolved: Resolved, name: str) -> dict[str, Any]:
    selection = resolved.selection
    own = resolved.stack.metadata.labels or {}
    return {
        **own,
        "app.kubernetes.io/managed-by": "llmdctl",
        "app.kubernetes.io/part-of": "llm-d",
        INSTANCE: name,
        "llm-d.ai/guide": selection.guide.name,
        "llm-d.ai/model": _model_label(resolved),
        "llm-d.ai/engine-type": selection.engine.type,
        "llm-d.ai/accelerator-variant": selection.accelerator.variant,
        "llm-d.ai/accelerator-vendor": selection.accelerator.vendor,
    }


def _model_label(resolved: Resolved) -> str:
    if resolved.selection.model:
        return resolved.selection.model.label
    model = resolved.stack.spec.model
    tail = str(model.id if model else "").rpartition("/")[2].lower()
    # A label value: letters, digits, dashes, dots and underscores, ended by a letter or digit.
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "-._") else "-" for char in tail)[:63]
    return kept.strip("-._") or "model"


def _model(resolved: Resolved) -> ModelPlan:
    wanted = resolved.stack.spec.model or Model()
    entry, ledger = resolved.selection.model, resolved.ledger
    if not wanted.id:
        raise UserError("no model is named", fix="set spec.model.id, or --model", about=["spec.model.id"])
    local = wanted.source == "local"
    argument = f"{CACHE_MOUNT}/{wanted.id}" if local else wanted.id
    facts = entry.facts if entry else None
    if wanted.max_length and facts and facts.context and wanted.max_length > facts.context:
        raise UserError(
            f"spec.model.maxLength: {wanted.max_length} tokens are more than {wanted.id} can hold",
            why=f"its config says {facts.context}",
            fix=f"use {facts.context} or less",
        )
    ledger.note(("model",), formula("spec.model and the facts of the catalog's entry"))
    ledger.note(("model", "argument"), formula("a path below the cache's mount" if local else "the hub id"))
    return ModelPlan(
        id=wanted.id,
        label=_model_label(resolved),
        argument=argument,
        revision=wanted.revision,
        served_name=wanted.served_name or wanted.id,
        source=str(wanted.source),
        max_length=wanted.max_length,
        cache_mount=CACHE_MOUNT,
        kv_heads=facts.kv_heads if facts else None,
        mla=bool(facts and facts.mla),
    )


def _foreign_resources(resolved: Resolved, catalog: Catalog) -> Mapping[str, str]:
    """Read only when somebody asks for an extended resource: the entries are many."""
    roles = resolved.data["spec"].get("roles", {})
    wanted = [side for role in roles.values() for side in (role.get("resources") or {}).values()]
    if not any("/" in name for side in wanted for name in side or {}):
        return {}
    own = resolved.selection.accelerator.resource
    # From the last to the first: of several with one resource, the first is named.
    found = [catalog.accelerator(name) for name in reversed(list(catalog.accelerators))]
    return {item.resource: item.name for item in found if item.resource and item.resource != own}


def _account(resolved: Resolved, name: str) -> ServingAccountPlan | None:
    spec, ledger = resolved.stack.spec, resolved.ledger
    ledger.note(("servingAccount",), formula("made unless spec.pod.serviceAccount names one"))
    if spec.pod and spec.pod.service_account:
        return None
    return ServingAccountPlan(name=name)


def _entries(resolved: Resolved, catalog: Catalog) -> list[tuple[Origin, list[Contribution]]]:
    selection = resolved.selection
    named: list[tuple[str, Any]] = [("Engine", selection.engine)]
    if selection.model:
        named.append(("Model", selection.model))
    named.append(("Accelerator", selection.accelerator))
    named.extend(("Provider", provider) for provider in selection.providers)
    named.append(("Guide", selection.guide))
    return [
        (
            Origin(OriginKind.CATALOG, f"{kind.lower()} {entry.name} ({catalog.origin(kind, entry.name)})"),
            entry.contributions,
        )
        for kind, entry in named
    ]


def _context(resolved: Resolved, role: str) -> Context:
    spec, selection = resolved.stack.spec, resolved.selection
    values: dict[str, set[str | None]] = {
        "guide": {selection.guide.name},
        "role": {role},
        "engine": {selection.engine.name},
        "model": {spec.model.id if spec.model else None},
        "accelerator_family": {selection.accelerator.family},
        "accelerator": {selection.accelerator.name},
        "provider": {provider.name for provider in selection.providers},
        "transport": {spec.kv_transfer.connector if spec.kv_transfer else None},
        "devices": {spec.devices.mode if spec.devices else None},
        "release": {spec.release},
        "workload": {spec.workload},
        "router": {spec.router.mode if spec.router else None},
        "gateway": {_gateway_class(resolved)},
    }
    return {key: frozenset(str(value) for value in found if value) for key, found in values.items()}


def _gateway_class(resolved: Resolved) -> str | None:
    router = resolved.stack.spec.router
    if router is None or router.mode != "gateway":
        return None
    return (router.gateway.class_name if router.gateway else None) or EXISTING_GATEWAY


def _router_extras(adds: dict[str, RoleAdds]) -> dict[str, Any]:
    """What contributions add to the router: plugins of all roles together, other settings by the last word."""
    found = [role_adds.data.get("router", {}) for role_adds in adds.values()]
    extras = {key: value for added in found for key, value in added.items()}
    policies = {policy["kind"]: policy for added in found for policy in added.get("policies", [])}
    plugins = [plugin for added in found for plugin in added.get("plugins", [])]
    return {**extras, "plugins": plugins, "policies": list(policies.values())}


def _claims(stack: str, adds: dict[str, RoleAdds], ledger: Ledger) -> tuple[ClaimPlan, ...]:
    found: dict[str, ClaimPlan] = {}
    for role, role_adds in adds.items():
        for claim in role_adds.claims.values():
            name = f"{stack}-{claim.name}"
            wanted = claim.compute_domain
            domain = (
                {"numNodes": wanted.num_nodes, "allocationMode": wanted.allocation_mode} if wanted is not None else None
            )
            found[name] = ClaimPlan(
                name=name, requests=claim.requests, constraints=claim.constraints, compute_domain=domain
            )
            ledger.note(("claims", name), ledger.of(("roles", role, "claims", claim.name)))
    ledger.note(("claims",), formula("claim templates that contributions ask for"))
    return tuple(found.values())


def _stack(resolved: Resolved, name: str, namespace: str, release: str, labels: dict[str, Any]) -> StackPlan:
    spec, selection, ledger = resolved.stack.spec, resolved.selection, resolved.ledger
    ledger.note(("stack",), formula("the spec's choices"))
    ledger.note(("stack", "labels"), formula("metadata.labels, then labels of the choices"))
    return StackPlan(
        name=name,
        namespace=namespace,
        guide=selection.guide.name,
        preset=spec.preset,
        release=release,
        kube_version=str(spec.kube_version),
        engine=selection.engine.name,
        accelerator=selection.accelerator.name,
        provider=selection.provider.name,
        workload=str(spec.workload),
        device_mode=str(spec.devices.mode if spec.devices else ""),
        labels=labels,
        annotations={
            **(resolved.stack.metadata.annotations or {}),
            "llmdctl.io/accelerator": selection.accelerator.name,
            "llmdctl.io/provider": selection.provider.name,
            "llmdctl.io/release": release,
        },
    )


def _with_objects(plan: Plan, resolved: Resolved) -> Plan:
    """Adds the list of objects, whose conditions may look at the plan."""
    context = _context(resolved, "")
    objects: list[ObjectPlan] = []
    for wanted in resolved.selection.guide.objects:
        if not matches(wanted.when, context) or not _present(plan, wanted.present):
            continue
        if wanted.each == "role":
            objects.extend(ObjectPlan(template=wanted.template, role=role) for role in plan.roles)
        elif wanted.each == "claim":
            devices = [claim for claim in plan.claims if claim.compute_domain is None]
            objects.extend(ObjectPlan(template=wanted.template, claim=claim) for claim in devices)
        elif wanted.each == "computeDomain":
            domains = [claim for claim in plan.claims if claim.compute_domain is not None]
            objects.extend(ObjectPlan(template=wanted.template, claim=claim) for claim in domains)
        elif wanted.each == "budget":
            objects.extend(ObjectPlan(template=wanted.template, budget=budget) for budget in plan.budgets)
        elif wanted.each == "policy":
            objects.extend(ObjectPlan(template=wanted.template, policy=policy) for policy in plan.router.policies)
        else:
            objects.append(ObjectPlan(template=wanted.template))
    return replace(plan, objects=tuple(objects))


def _present(plan: Plan, dotted: str) -> bool:
    value: Any = plan
    for step in dotted.split(".") if dotted else ():
        value = getattr(value, step, None)
    return value is not None
