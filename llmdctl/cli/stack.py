"""What commands that take a stack share: their options, and turning these into a Request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from llmdctl.findings.frozen import frozen

if TYPE_CHECKING:
    from llmdctl.catalog.load import Catalog
    from llmdctl.plan.model import Plan
    from llmdctl.plan.request import Request, UserLayer

GuideArgument = Annotated[str | None, typer.Argument(metavar="[GUIDE]", help="Guide to use; or give -f.")]
FileOption = Annotated[str | None, typer.Option("-f", "--file", help="InferenceStack file, or - for stdin.")]
AcceleratorOption = Annotated[str | None, typer.Option("--accelerator", help="Accelerator, as in nvidia-h200.")]
EngineOption = Annotated[str | None, typer.Option("--engine", help="Engine: vllm or sglang.")]
ProviderOption = Annotated[str | None, typer.Option("--provider", help="Provider, as in gke.")]
PresetOption = Annotated[str | None, typer.Option("--preset", help="Named topology of the guide.")]
ModelOption = Annotated[str | None, typer.Option("--model", help="Model id.")]
ReleaseOption = Annotated[str | None, typer.Option("--release", help="Release set of images, as in 1.0.")]
NamespaceOption = Annotated[str | None, typer.Option("-n", "--namespace", help="Namespace of all objects.")]
NameOption = Annotated[str | None, typer.Option("--name", help="Name of the stack.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Set a spec field, as in roles.decode.replicas=4 (repeatable).")
]
SetStringOption = Annotated[
    list[str] | None, typer.Option("--set-string", help="As --set, but the value is always text (repeatable).")
]
KubeVersionOption = Annotated[str | None, typer.Option("--kube-version", help="Kubernetes minor, as in 1.36.")]
AllowOption = Annotated[
    bool, typer.Option("--allow-unsupported", help="Render a combination that the guide does not list.")
]
CatalogOption = Annotated[
    list[str] | None, typer.Option("--catalog", help="Directory with catalog entries of your own (repeatable).")
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print no notices.")]


@frozen
class StackOptions:
    """The options above, as given. `flags` maps a spec path to (value, flag as typed)."""

    guide: str | None
    file: str | None
    flags: dict[tuple[str, ...], tuple[str | None, str]] = field(default_factory=dict)
    settings: Sequence[str] = ()
    strings: Sequence[str] = ()
    allow_unsupported: bool = False
    catalogs: Sequence[str] = ()


def stack_flags(**given: str | None) -> dict[tuple[str, ...], tuple[str | None, str]]:
    """Flags by the spec path that they set."""
    paths: dict[str, tuple[tuple[str, ...], str]] = {
        "accelerator": (("spec", "accelerator"), "--accelerator"),
        "engine": (("spec", "engine"), "--engine"),
        "provider": (("spec", "provider"), "--provider"),
        "preset": (("spec", "preset"), "--preset"),
        "model": (("spec", "model", "id"), "--model"),
        "release": (("spec", "release"), "--release"),
        "kube_version": (("spec", "kubeVersion"), "--kube-version"),
        "namespace": (("metadata", "namespace"), "--namespace"),
        "name": (("metadata", "name"), "--name"),
    }
    return {paths[key][0]: (value, f"{paths[key][1]} {value}") for key, value in given.items() if value is not None}


def open_catalog(directories: Sequence[str]) -> Catalog:
    """The catalog with a user's own directories; `print_notices` tells of entries that it shadows."""
    import os

    from llmdctl.catalog.load import load_catalog

    return load_catalog(directories, os.environ)


def print_notices(notices: Iterable[str], *, quiet: bool) -> None:
    """Writes notices to stderr, each once, unless `quiet`."""
    from llmdctl.findings.text import escape

    for notice in () if quiet else dict.fromkeys(notices):
        typer.echo(f"notice: {escape(notice)}", err=True)


def make_request(options: StackOptions) -> Request:
    """Reads the file and the flags. Raises UserError for what cannot be read, and for two sources of the guide."""
    from llmdctl.findings import UserError
    from llmdctl.plan.request import Request, flag_layer

    layers: list[UserLayer] = []
    if options.file is not None:
        layers.append(_file_layer(options.file))
    if options.guide is not None:
        if layers and layers[0].get(("spec", "guide")) not in (None, options.guide):
            raise UserError(
                f"{options.file} is for guide {layers[0].get(('spec', 'guide'))}, the command names {options.guide}",
                fix="give one of the two",
            )
        layers.append(flag_layer({("spec", "guide"): (options.guide, f"guide argument {options.guide}")}))
    if not layers:
        raise UserError(
            "neither a guide nor a stack file is given", fix="llmdctl guide list shows guides; -f FILE reads a stack"
        )
    flags: dict[Any, tuple[Any, str]] = dict(options.flags)
    layers.append(flag_layer(flags))
    if options.settings or options.strings:
        layers.append(_set_layer(options.settings, options.strings))
    return Request(tuple(layers), options.allow_unsupported)


def _file_layer(path: str) -> UserLayer:
    from llmdctl.plan.origin import Origin, OriginKind
    from llmdctl.plan.request import UserLayer
    from llmdctl.spec.load import load_stack

    loaded = load_stack(path)
    return UserLayer(loaded.data, lambda at: Origin(OriginKind.FILE, str(loaded.source(at))), loaded.source)


def _set_layer(expressions: Sequence[str], strings: Sequence[str]) -> UserLayer:
    from llmdctl.plan.origin import Origin, OriginKind
    from llmdctl.plan.request import UserLayer
    from llmdctl.spec.setting import parse_set, set_source

    data = parse_set(expressions, strings)
    return UserLayer(data, lambda at: Origin(OriginKind.FLAG, set_source(at, expressions, strings)))


def make_plan(options: StackOptions, *, quiet: bool = False) -> tuple[Plan, Catalog]:
    """The plan of the options; its notices go to stderr once, unless `quiet`."""
    from llmdctl.plan.build import build_plan

    catalog = open_catalog(options.catalogs)
    plan = build_plan(make_request(options), catalog)
    print_notices((*catalog.notices, *plan.notices), quiet=quiet)
    return plan, catalog
