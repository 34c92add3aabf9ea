"""What a plan tells its user besides the objects."""

from __future__ import annotations

from collections.abc import Sequence

from llmdctl.catalog.model import DeprecatedImage
from llmdctl.findings import UserError
from llmdctl.plan.images import repository_path
from llmdctl.plan.model import ClaimPlan, RenderPlan, RolePlan, RouterPlan
from llmdctl.plan.origin import Ledger, OriginKind
from llmdctl.plan.resolve import Resolved
from llmdctl.spec.model import StackSpec


def claim_notices(resolved: Resolved, claims: tuple[ClaimPlan, ...], *, allowed: bool) -> tuple[str, ...]:
    """Nothing, or why a stack that wants claims has none. Raises UserError unless `allowed`."""
    spec, selection = resolved.stack.spec, resolved.selection
    if claims or not spec.devices or spec.devices.mode != "dra":
        return ()
    providers = " and ".join(provider.name for provider in selection.providers) or "no provider"
    what = (
        f"spec.devices.mode is dra, but nothing in the catalog says which devices to claim for "
        f"{selection.accelerator.name} with {providers} in guide {selection.guide.name}"
    )
    if allowed:
        return (f"{what}; the pods count {selection.accelerator.resource} instead",)
    raise UserError(
        what,
        why="the pods would be rendered without a claim",
        fix="leave spec.devices.mode out, choose a provider whose catalog entry contributes claims, "
        "or add a Contribution with `claims` through --catalog",
    )


def image_notices(
    roles: tuple[RolePlan, ...], router: RouterPlan | None, render: RenderPlan | None, release: str,
    deprecated: Sequence[DeprecatedImage],
) -> list[str]:  # fmt: skip
    """Images whose tags nobody has confirmed, whose versions are only assumed, and that should not be used any more."""
    images = [role.container.image for role in roles]
    images += [role.sidecar.image for role in roles if role.sidecar]
    images += [router.image] if router else []
    assumed = {image.name: image for image in images if image.version_assumed}
    # What follows is rendered alike for every version.
    images += [router.proxy.image] if router and router.proxy else []
    images += [render.server.image] if render and render.server else []
    inferred = {image.name: image for image in images if image.inferred}
    notices = [
        f"image {image.reference}: its tag, or the version inside, is inferred from the release and not confirmed"
        for image in inferred.values()
    ]
    notices += [
        f"image {image.reference} does not tell which {image.component} it carries: its flags and settings are those "
        f"of {image.version}, as in release {release}"
        for image in assumed.values()
    ]
    for reference in dict.fromkeys(image.reference for image in images):
        notices.extend(
            f"image {reference} is deprecated: {item.why}; use {item.replacement}"
            for item in deprecated
            if repository_path(reference) == repository_path(item.repository)
        )
    return notices


def gateway_notices(router: RouterPlan, ledger: Ledger) -> list[str]:
    """What a Gateway that is not part of the stack must bring itself, and settings of one that nothing uses."""
    if router.gateway is None:
        if not any(_is_chosen(ledger, field) for field in ("name", "className")):
            return []
        return [f"spec.router.gateway has no effect with spec.router.mode {router.mode}: no Gateway is used"]
    # A vendor that has policies of its own for the pool is not Istio.
    if router.own_gateway is not None or router.policies:
        return []
    return [
        f"Gateway {router.gateway.name} is not part of this stack. The endpoint picker serves TLS with a certificate "
        "of its own, so an Istio Gateway needs a DestinationRule (spec.router.gateway.className: istio renders one)"
    ]


def _is_chosen(ledger: Ledger, field: str) -> bool:
    return ledger.of(("spec", "router", "gateway", field)).kind in (OriginKind.FILE, OriginKind.FLAG)


def event_notices(resolved: Resolved) -> list[str]:
    """Models of which the router of a guide with KV events knows less than the engines hold (llm-d-router pool.go)."""
    model = resolved.selection.model
    if resolved.selection.guide.kv_events is None or model is None:
        return []
    if not (model.facts.hybrid_attention or model.facts.mamba):
        return []
    return [
        f"model {model.name} has layers without full attention: the router skips the events of their blocks, so it "
        "may send prompts to pods that hold less of them than it believes"
    ]


def cache_notices(spec: StackSpec, roles: tuple[RolePlan, ...], render: RenderPlan | None) -> list[str]:
    """A volume that several pods mount must allow that; nothing in the stack can tell whether it does."""
    claim = spec.model.cache.pvc if spec.model and spec.model.cache else None
    pods = sum(role.replicas * role.parallelism.pods for role in roles)
    if render and render.server and any("persistentVolumeClaim" in volume for volume in render.server.volumes):
        pods += render.server.replicas
    if claim is None or pods < 2:
        return []
    return [
        f"PersistentVolumeClaim {claim.claim_name} is mounted by {pods} pods: unless they share a node, it has to "
        "allow ReadWriteMany (or ReadOnlyMany with model.source: local)"
    ]
