"""What `llmdctl guide show` tells about a guide, as plain data."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from llmdctl.catalog.coverage import seen
from llmdctl.catalog.load import Catalog
from llmdctl.catalog.model import Guide
from llmdctl.catalog.roots import builtin_directory
from llmdctl.catalog.select import combinations, image_names
from llmdctl.findings import Path, UserError, format_path
from llmdctl.operate.matrix import Variant
from llmdctl.plan.build import build_plan
from llmdctl.plan.origin import Ledger
from llmdctl.plan.parallelism import plan_parallelism
from llmdctl.plan.podsecurity import PodSecurity, pod_security
from llmdctl.plan.request import Request, flag_layer
from llmdctl.plan.resolve import Resolved, resolve
from llmdctl.spec.model import Role
from llmdctl.spec.paths import Target, field_targets, without_none

_TYPE_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def guide_list(catalog: Catalog) -> list[dict[str, Any]]:
    """One line of data a guide."""
    return [
        {
            "name": guide.name,
            "title": guide.title,
            "roles": guide.roles,
            "workloads": guide.workloads,
            "presets": list(guide.presets),
            "combinations": len(combinations(guide)),
        }
        for guide in catalog.guides.values()
    ]


def guide_data(name: str, catalog: Catalog) -> dict[str, Any]:
    """Everything about a guide. Raises UserError when there is none of that name."""
    guide = catalog.guide(name)
    resolved = _resolve(guide, catalog)
    return {
        "name": guide.name,
        "title": guide.title,
        "summary": guide.summary,
        "roles": guide.roles,
        "workloads": guide.workloads,
        "default": _needs(resolved),
        "podSecurity": _pod_security(guide, resolved, catalog),
        "parameters": _parameters(guide, resolved),
        "unsupported": list(guide.unsupported),
        "presets": [_preset(guide, preset, catalog) for preset in guide.presets],
        "matrix": _matrix(guide, catalog),
        "images": _images(resolved, catalog),
        "sources": guide.sources,
    }


def _resolve(guide: Guide, catalog: Catalog, preset: str | None = None) -> Resolved:
    values: dict[Path, tuple[Any, str]] = {("spec", "guide"): (guide.name, guide.name)}
    if preset is not None:
        values[("spec", "preset")] = (preset, preset)
    return resolve(Request((flag_layer(values),)), catalog)


def _pod_security(guide: Guide, resolved: Resolved, catalog: Catalog) -> list[dict[str, Any]]:
    """The PodSecurity level that each listed provider needs with the default engine, and what asks for it."""
    rows = []
    chosen: dict[str, str] = {}
    for (engine, accelerator, provider), _ in combinations(guide):
        if engine == resolved.selection.engine.name:
            chosen.setdefault(provider, accelerator)
    for provider, accelerator in chosen.items():
        values: dict[Path, tuple[Any, str]] = {
            ("spec", "guide"): (guide.name, guide.name),
            ("spec", "accelerator"): (accelerator, accelerator),
            ("spec", "provider"): (provider, provider),
        }
        try:
            security = pod_security(build_plan(Request((flag_layer(values),)), catalog))
        except UserError as error:
            # A guide that can't be planned yet can still be looked at.
            security = PodSecurity("unknown", (error.what,))
        rows.append({"provider": provider, "level": security.level, "reasons": list(security.reasons)})
    return rows


def _needs(resolved: Resolved) -> dict[str, Any]:
    """Accelerators of each role, and the nodes that they come from."""
    selection, spec = resolved.selection, resolved.stack.spec
    accelerator, roles = selection.accelerator, []
    for name in selection.roles:
        role = getattr(spec.roles, name, None) or Role()
        sizes = plan_parallelism(name, role, accelerator, selection.model, Ledger(), ())
        replicas = 1 if role.replicas is None else role.replicas
        roles.append(
            {
                "name": name,
                "replicas": replicas,
                "podsPerReplica": sizes.pods,
                "acceleratorsPerPod": sizes.accelerators,
                "accelerators": replicas * sizes.pods * sizes.accelerators,
            }
        )
    return {
        "engine": selection.engine.name,
        "model": spec.model.id if spec.model else None,
        "accelerator": accelerator.name,
        "provider": selection.provider.name,
        "release": spec.release,
        "roles": roles,
        "accelerators": sum(role["accelerators"] for role in roles),
        "node": {
            "accelerators": accelerator.per_node,
            "resource": accelerator.resource,
            "memoryGiB": accelerator.memory_gib,
            "architecture": accelerator.architecture,
            "atLeast": max((role["acceleratorsPerPod"] for role in roles), default=0),
        },
    }


def _parameters(guide: Guide, resolved: Resolved) -> list[dict[str, Any]]:
    return [
        _parameter(target, resolved)
        for target in field_targets()
        if target.path[0] in ("metadata", "spec") and _is_offered(target, guide)
    ]


def _is_offered(target: Target, guide: Guide) -> bool:
    """False for parts that only group fields, for other guides' roles, and for what the guide refuses."""
    if dataclasses.is_dataclass(without_none(target.kind)):
        return False
    if target.path[:2] == ("spec", "roles") and target.path[2] not in guide.roles:
        return False
    refused = [("spec", *dotted.split(".")) for dotted in guide.unsupported]
    return not any(target.path[: len(path)] == path for path in refused)


def _parameter(target: Target, resolved: Resolved) -> dict[str, Any]:
    value = _value_at(resolved.data, target.path)
    kind = without_none(target.kind)
    return {
        "path": format_path(target.path),
        "type": type_name(kind),
        "default": value,
        "origin": str(resolved.ledger.of(target.path)) if value is not None else "",
        "meaning": str(target.metadata.get("doc", "")),
        "choices": list(get_args(kind)) if get_origin(kind) is Literal else [],
    }


def _value_at(data: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(data, Mapping) or step not in data:
            return None
        data = data[step]
    return data


def type_name(kind: Any) -> str:
    """A type in words: `string`, `list of string`, `map of integer or string`."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(type_name(arg) for arg in args if arg is not type(None))
    if origin is Literal:
        return "string"
    if origin is list:
        return f"list of {type_name(args[0])}"
    if origin is dict:
        return "map" if args[1] is Any else f"map of {type_name(args[1])}"
    if dataclasses.is_dataclass(kind):
        return "object"
    return _TYPE_NAMES.get(kind, "any")


def _preset(guide: Guide, name: str, catalog: Catalog) -> dict[str, Any]:
    needs = _needs(_resolve(guide, catalog, name))
    return {
        "name": name,
        "title": guide.presets[name].title,
        "accelerator": needs["accelerator"],
        "accelerators": needs["accelerators"],
    }


def _matrix(guide: Guide, catalog: Catalog) -> list[dict[str, Any]]:
    # Another root's guide may share the name of one of ours; of that one nothing was seen.
    ours = seen() if catalog.root_of_guide(guide.name) == builtin_directory() else {}
    return [
        {
            "engine": engine,
            "accelerator": accelerator,
            "provider": provider,
            "upstream": cell.status.upstream,
            "source": cell.status.source,
            "date": cell.status.date,
            "ours": list(ours.get(Variant(guide.name, engine, accelerator, provider).folder, ())),
            "note": cell.note,
        }
        for (engine, accelerator, provider), cell in combinations(guide)
    ]


def _images(resolved: Resolved, catalog: Catalog) -> list[dict[str, Any]]:
    selection = resolved.selection
    names = image_names(selection.guide, selection.engine, selection.accelerator.family)
    release = catalog.images.releases[str(resolved.stack.spec.release)].images
    return [
        {
            "name": name,
            "reference": f"{image.repository}:{image.tag}",
            "component": image.component,
            "version": image.version,
            "confidence": image.provenance.confidence,
        }
        for name in names
        if (image := release.get(name)) is not None
    ]
