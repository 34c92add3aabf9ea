"""Choosing the catalog entries of a stack and merging all layers into one spec, with the origin of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from llmdctl.catalog.load import Catalog
from llmdctl.catalog.model import Accelerator, Cell, Engine, Guide, ModelEntry, Preset, Provider
from llmdctl.catalog.select import Combination, find_cell, nearest_cell, nearest_cells
from llmdctl.findings import Path, UserError, format_path
from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version
from llmdctl.manifest.typed import Problem, TypedError, dump, load, nearest
from llmdctl.plan.merge import OriginOf, merge
from llmdctl.plan.origin import Ledger, Origin, OriginKind, formula
from llmdctl.plan.request import Request
from llmdctl.spec.model import API_VERSION, KIND, InferenceStack, Role, Roles, SpecFields
from llmdctl.spec.paths import without_empty_sections

BASE: dict[str, Any] = {
    "metadata": {"namespace": "llm-d"},
    "spec": {
        "kubeVersion": "1.36",
        "model": {
            "source": "huggingface",
            "tokenSecret": {"name": "llm-d-hf-token", "key": "HF_TOKEN"},
            "cache": {"emptyDir": {}},
        },
        "devices": {"mode": "devicePlugin"},
        "router": {
            "mode": "standalone",
            "replicas": 1,
            "failureMode": "FailOpen",
            "gateway": {},
            "resources": {"requests": {"cpu": 4, "memory": "8Gi"}, "limits": {"memory": "16Gi"}},
            "proxy": {
                "concurrency": 8,
                "resources": {"requests": {"cpu": 4, "memory": "8Gi"}, "limits": {"memory": "16Gi"}},
            },
        },
        "monitoring": {"enabled": False},
    },
}
"""What holds for every guide. Router sizes: llm-d recipes/router/base.values.yaml (read 2026-10)."""


@frozen
class Selection:
    """The catalog entries that a stack uses."""

    guide: Guide
    engine: Engine
    model: ModelEntry | None
    accelerator: Accelerator
    providers: tuple[Provider, ...]
    cell: Cell | None
    preset: Preset | None
    borrowed: tuple[Combination, Cell] | None = None
    """For a combination that is not listed: the nearest one that is, whose role sizes are taken."""

    @property
    def roles(self) -> list[str]:
        """The roles to deploy: those of the preset, else the guide's."""
        return (self.preset.roles if self.preset else None) or self.guide.roles

    def router_config(self, version: str) -> dict[str, Any]:
        """The configuration for an endpoint picker of that version: the preset's, else the guide's."""
        if self.preset and self.preset.router_config:
            return self.preset.router_config
        known = Version.parse(version)
        bounds = [
            (bound, config)
            for text, config in self.guide.router_config_before.items()
            if (bound := Version.parse(text)) is not None
        ]
        older = [item for item in sorted(bounds, key=lambda item: item[0]) if known is not None and known < item[0]]
        return older[0][1] if older else self.guide.router_config

    @property
    def provider(self) -> Provider:
        """The provider that was asked for; the ones that it extends come before it in `providers`."""
        return self.providers[-1]


@frozen
class Resolved:
    """A complete spec: `stack` typed, `data` plain, and where each value comes from."""

    stack: InferenceStack
    data: dict[str, Any]
    selection: Selection
    ledger: Ledger
    notices: tuple[str, ...]


def resolve(request: Request, catalog: Catalog) -> Resolved:
    """Merges all layers: engine < model < accelerator < provider < guide < cell < preset < file < flags and --set.

    Raises UserError for unknown names, combinations that the guide does not list, and fields that it refuses.
    """
    selection, notices = _select(request, catalog)
    ledger = Ledger()
    data: dict[str, Any] = {}
    default = Origin(OriginKind.DEFAULT, "llmdctl")
    merge(data, {"apiVersion": API_VERSION, "kind": KIND, **BASE}, lambda _: default, ledger)
    for origin, defaults in _catalog_layers(selection, catalog):
        merge(data, {"spec": defaults}, _constant(origin), ledger)
    chosen = {
        "guide": selection.guide.name,
        "engine": selection.engine.name,
        "accelerator": selection.accelerator.name,
        "provider": selection.provider.name,
    }
    guide_origin = Origin(OriginKind.CATALOG, f"guide {selection.guide.name}")
    merge(
        data["spec"],
        {k: v for k, v in chosen.items() if k not in data["spec"]},
        lambda _: guide_origin,
        ledger,
        ("spec",),
    )
    for layer in request.layers:
        _refuse_unsupported(layer.data, selection, layer)
        merge(data, without_empty_sections(layer.data), layer.origin_of, ledger)
    _settle_cache(data, request)
    if len(selection.roles) == 1 and len(selection.guide.roles) > 1:
        data["spec"].pop("kvTransfer", None)
    for role in selection.guide.roles:
        if role not in selection.roles:
            data["spec"].get("roles", {}).pop(role, None)
    data["spec"].update(chosen)
    _settle(data, "release", catalog.images.default_release, formula("the image catalog's default"), ledger)
    _settle(data, "workload", selection.guide.workloads[0], formula("the first kind that the guide offers"), ledger)
    try:
        stack = load(InferenceStack, data)
    except TypedError as error:
        raise _misfit(error.problems, ledger) from error
    return Resolved(stack, data, selection, ledger, tuple(notices))


def _misfit(problems: list[Problem], ledger: Ledger) -> UserError:
    """What the layers together do not allow; a file by itself was checked when it was read."""
    first, *rest = problems
    others = [_misfit([problem], ledger) for problem in rest]
    origin = ledger.of(first.path)
    # A user's own place is found by the path.
    place = "" if origin.kind in (OriginKind.FILE, OriginKind.FLAG) else f"{origin.text}: "
    return UserError(f"{place}{first}", fix=first.fix, others=others)


def _settle(data: dict[str, Any], field: str, value: str, origin: Origin, ledger: Ledger) -> None:
    """Fills a spec field that no layer gave."""
    if data["spec"].get(field) is None:
        data["spec"][field] = value
        ledger.note(("spec", field), origin)


def _constant(origin: Origin) -> OriginOf:
    return lambda _: origin


def _select(request: Request, catalog: Catalog) -> tuple[Selection, list[str]]:
    name, _ = request.find("spec", "guide")
    if not isinstance(name, str):
        raise UserError(
            "no guide is named", fix="give one as in: llmdctl render optimized-baseline; see llmdctl guide list"
        )
    with _about("spec.guide"):
        guide = catalog.guide(name)
    preset_name = request.find("spec", "preset")[0] or guide.defaults.preset
    preset = _preset(guide, preset_name)
    engine_name = _choose("engine", request, preset, guide)
    accelerator_name = _choose("accelerator", request, preset, guide)
    provider_name = _choose("provider", request, preset, guide)
    with _about("spec.engine"):
        engine = catalog.engine(engine_name)
    with _about("spec.accelerator"):
        accelerator = catalog.accelerator(accelerator_name)
    with _about("spec.provider"):
        providers = _provider_chain(provider_name, catalog)
    notices: list[str] = []
    cell = find_cell(guide, engine.name, accelerator.name, provider_name)
    borrowed = None
    if cell is None:
        _refuse_or_warn(request, guide, (engine.name, accelerator.name, provider_name), notices)
        borrowed = nearest_cell(guide, engine.name, accelerator.name, provider_name)
        if borrowed and borrowed[1].defaults.roles:
            notices.append(f"the sizes of its roles are those of {' '.join(borrowed[0])}")
    elif cell.note:
        notices.append(f"{guide.name} on {accelerator.name}, {provider_name}: {cell.note}")
    model_id = _model_id(request, preset, cell, guide)
    model = catalog.find_model(model_id) if model_id else None
    if model is None and model_id:
        notices.append(f"model {model_id} is not in the catalog: its KV heads and context length are unknown")
    return Selection(guide, engine, model, accelerator, providers, cell, preset, borrowed), notices


@contextmanager
def _about(path: str) -> Iterator[None]:
    """Errors of a catalog look-up are about the spec value that asked for it."""
    try:
        yield
    except UserError as error:
        raise UserError(error.what, source=error.source, why=error.why, fix=error.fix, about=[path]) from error


def _preset(guide: Guide, name: str | None) -> Preset | None:
    if name is None:
        return None
    if name not in guide.presets:
        known = ", ".join(guide.presets) or "none"
        close = nearest(name, guide.presets)
        raise UserError(
            f"guide {guide.name} has no preset {name!r}",
            fix=f"did you mean {close!r}?" if close else f"presets of this guide: {known}",
            about=["spec.preset"],
        )
    return guide.presets[name]


def _choose(field: str, request: Request, preset: Preset | None, guide: Guide) -> str:
    value = request.find("spec", field)[0]
    if isinstance(value, str):
        return value
    for defaults in (preset.defaults if preset else None, guide.defaults):
        chosen = getattr(defaults, field, None)
        if chosen:
            return str(chosen)
    raise UserError(f"no {field} is named, and guide {guide.name} has no default", fix=f"give --{field}")


def _model_id(request: Request, preset: Preset | None, cell: Cell | None, guide: Guide) -> str | None:
    value = request.find("spec", "model", "id")[0]
    if isinstance(value, str):
        return value
    for defaults in (preset and preset.defaults, cell and cell.defaults, guide.defaults):
        if defaults and defaults.model and defaults.model.id:
            return defaults.model.id
    return None


def _provider_chain(name: str, catalog: Catalog) -> tuple[Provider, ...]:
    chain: list[Provider] = []
    while name:
        provider = catalog.provider(name)
        if provider in chain:
            raise UserError(f"provider {name} extends itself", fix="break the cycle of `extends`")
        chain.insert(0, provider)
        name = provider.extends
    return tuple(chain)


def _refuse_or_warn(request: Request, guide: Guide, wanted: tuple[str, str, str], notices: list[str]) -> None:
    what = f"guide {guide.name} does not list {wanted[0]} on {wanted[1]} with provider {wanted[2]}"
    if request.allow_unsupported:
        notices.append(f"{what}; rendered because of --allow-unsupported, nobody has reported that it works")
        return
    near = "; ".join(" ".join(combination) for combination in nearest_cells(guide, *wanted))
    raise UserError(
        what,
        why="unlisted combinations were neither tested nor reported upstream",
        fix=f"nearest: {near}; or render it all the same with --allow-unsupported",
        about=["spec.accelerator", "spec.engine", "spec.provider", "spec.guide"],
    )


def _catalog_layers(selection: Selection, catalog: Catalog) -> list[tuple[Origin, Mapping[str, Any]]]:
    layers: list[tuple[Origin, Mapping[str, Any]]] = []

    def add(kind: str, name: str, defaults: Any, detail: str = "") -> None:
        text = f"{kind.lower()} {name} ({catalog.origin(kind, name)}{detail})"
        layers.append((Origin(OriginKind.CATALOG, text), dump(defaults)))

    add("Engine", selection.engine.name, selection.engine.defaults)
    if selection.model:
        add("Model", selection.model.name, selection.model.defaults)
    add("Accelerator", selection.accelerator.name, selection.accelerator.defaults)
    for provider in selection.providers:
        add("Provider", provider.name, provider.defaults)
    guide = selection.guide
    add("Guide", guide.name, guide.defaults)
    if selection.borrowed and selection.borrowed[1].defaults.roles:
        sizes = SpecFields(roles=_sizes(selection.borrowed[1].defaults.roles))
        add("Guide", guide.name, sizes, f", matrix of {' '.join(selection.borrowed[0])}")
    if selection.cell:
        add("Guide", guide.name, selection.cell.defaults, ", matrix")
    for defaults in selection.preset.layers(selection.accelerator.name) if selection.preset else ():
        add("Guide", guide.name, defaults, ", preset")
    return layers


def _sizes(roles: Roles) -> Roles:
    """Sizes alone: flags and environment of a listed combination hold for its engine and its accelerator."""
    kept = {
        name: Role(replicas=role.replicas, parallelism=role.parallelism)
        for name in ("prefill", "decode", "encode")
        if (role := getattr(roles, name)) is not None
    }
    return Roles(**kept)


def _refuse_unsupported(data: Mapping[str, Any], selection: Selection, layer: Any) -> None:
    guide = selection.guide
    spec = data.get("spec")
    if not isinstance(spec, Mapping):
        return
    for role in spec.get("roles") or {}:
        if role not in selection.roles:
            path: Path = ("spec", "roles", role)
            preset = " with this preset" if role in guide.roles else ""
            raise UserError(
                f"{format_path(path)}: guide {guide.name} has no role {role!r}{preset}",
                source=layer.source(path),
                fix=f"roles here: {', '.join(selection.roles)}",
            )
    if len(selection.roles) == 1 and spec.get("kvTransfer") and len(guide.roles) > 1:
        raise UserError(
            "spec.kvTransfer has no meaning with this preset: one role has nobody to transfer to",
            source=layer.source(("spec", "kvTransfer")),
            fix="leave it out",
        )
    for dotted in guide.unsupported:
        path = ("spec", *dotted.split("."))
        value = layer.get(path)
        if value is not None and not _says_nothing(value):
            raise UserError(
                f"{format_path(path)} is not supported yet by this guide ({guide.name})",
                source=layer.source(path),
                fix="leave it out",
            )


def _says_nothing(value: Any) -> bool:
    """True for what equals the default of every unsupported field: a switch that is off, or one rank."""
    if isinstance(value, Mapping):
        return all(_says_nothing(item) for item in value.values())
    return value is None or value is False or (value == 1 and value is not True)


def _settle_cache(data: dict[str, Any], request: Request) -> None:
    """A user's kind of cache replaces the default kind instead of standing beside it."""
    chosen, layer = request.find("spec", "model", "cache")
    if not isinstance(chosen, Mapping):
        kinds = [kind for kind in data["spec"]["model"]["cache"] if kind != "emptyDir"]
        if kinds:
            data["spec"]["model"]["cache"].pop("emptyDir", None)
        return
    given = [kind for kind, value in chosen.items() if value is not None]
    if len(given) > 1:
        raise UserError(
            f"spec.model.cache: {' and '.join(given)} exclude each other",
            source=layer.source(("spec", "model", "cache")) if layer else None,
            fix="keep one",
        )
    data["spec"]["model"]["cache"] = {kind: data["spec"]["model"]["cache"][kind] for kind in given}
