"""Plan to objects, and objects to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.emit import emit_yaml
from llmdctl.plan.model import Plan
from llmdctl.render.environment import Templates, without_nulls
from llmdctl.spec.model import Patch


@frozen
class Rendered:
    """The objects of a stack, in the order of the guide."""

    plan: Plan
    objects: tuple[dict[str, Any], ...]

    def file_name(self, obj: dict[str, Any]) -> str:
        """`<kind>-<name>.yaml`, in lower case."""
        return f"{obj['kind']}-{obj['metadata']['name']}.yaml".lower()


def render(plan: Plan, template_directories: Sequence[Path], cache: Path | None = None) -> Rendered:
    """Renders all objects of a plan; `cache` keeps compiled templates.

    Raises UserError for a template that does not fit the plan, and for a bad patch.
    """
    return render_with(plan, Templates(template_directories, cache))


def render_with(plan: Plan, templates: Templates) -> Rendered:
    """Renders all objects of a plan with templates that are loaded already. Raises UserError as `render` does."""
    objects = []
    for wanted in plan.objects:
        context: dict[str, Any] = {"plan": plan, "stack": plan.stack, "router": plan.router}
        if wanted.role is not None:
            context["role"] = wanted.role
        if wanted.claim is not None:
            context["claim"] = wanted.claim
        if wanted.budget is not None:
            context["budget"] = wanted.budget
        if wanted.policy is not None:
            context["policy"] = wanted.policy
        objects.append(without_nulls(templates.render(wanted.template, context)))
    origin = plan.ledger.of(("spec", "patches")).text if plan.patches else ""
    return Rendered(plan, tuple(apply_patches(objects, plan.patches, origin)))


def apply_patches(objects: list[dict[str, Any]], patches: Sequence[Patch], origin: str) -> list[dict[str, Any]]:
    """Merge-patches objects (RFC 7386); `origin` says where the patches come from.

    Raises UserError for a patch whose object is not rendered.
    """
    out = list(objects)
    for number, patch in enumerate(patches):
        hits = [i for i, obj in enumerate(out) if (obj["kind"], obj["metadata"]["name"]) == (patch.kind, patch.name)]
        if not hits:
            names = ", ".join(f"{obj['kind']}/{obj['metadata']['name']}" for obj in out)
            raise UserError(
                f"{origin}: spec.patches[{number}]: no {patch.kind}/{patch.name} is rendered",
                fix=f"objects of this stack: {names}",
            )
        for index in hits:
            out[index] = merge_patch(out[index], patch.merge)
    return out


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7386: maps merge, null deletes, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    out = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merge_patch(out.get(key), value)
    return out


def as_text(rendered: Rendered) -> str:
    """All objects as one multi-document YAML text, which may stand behind another."""
    return "".join(f"---\n{emit_yaml(obj)}" for obj in rendered.objects)
