"""What `llmdctl router` does with its options: find the configs, judge or rewrite them, print, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from llmdctl.cli.output import Format, parse_outputs, write_data, write_out, write_report
from llmdctl.findings import Severity, UserError, format_path
from llmdctl.findings.text import escape
from llmdctl.findings.versions import Version

if TYPE_CHECKING:
    from llmdctl.cli.validate_run import Telling
    from llmdctl.manifest import Document
    from llmdctl.view import VersionOptions
    from llmdctl.view.picker_config import PickerConfig

EXIT_FINDINGS = 1
FAMILIES = ("RTR", "YML")
"""What a lint is about: the configs, and the text that they are read from."""

_TARGETS = {"v1": "1.0.0", "v1alpha1": "0.10.0"}
"""apiVersion -> the newest router whose own version of the config it is."""


def run_lint(
    paths: Sequence[str],
    router_version: str,
    only: Sequence[str],
    skip: Sequence[str],
    ignore_file: str,
    telling: Telling,
) -> None:
    """`router lint`. Raises typer.Exit for findings, UserError for everything that can't be checked."""
    from llmdctl.manifest import read_paths
    from llmdctl.validate.pipeline import ValidateOptions, validate
    from llmdctl.validate.registry import all_rules
    from llmdctl.validate.scope import without_ignore_files
    from llmdctl.validate.select import parse_selection
    from llmdctl.validate.suppress import FILE, load_ignores

    outputs = parse_outputs(telling.outputs)
    versions = _stated(_version(router_version))
    selection = parse_selection(only or FAMILIES, skip)
    chosen = ignore_file or (FILE if Path(FILE).is_file() else "")
    ignores = load_ignores(chosen) if chosen else ()
    reading = read_paths(paths)
    documents = without_ignore_files(reading.require())
    configs = _configs(documents, versions)
    options = ValidateOptions(versions=versions, selection=selection, ignores=ignores)
    report = validate(documents, options, findings=reading.findings, texts=reading.texts)
    # What a lint covers is configs: that they, or what lies beside them, have no schema is no gap of it,
    # and neither is that no picker or pool stands beside them.
    coverage = replace(report.coverage, objects_total=len(configs), objects_validated=len(configs), objects_skipped=0)
    of_configs = {rule.code for rule in all_rules() if "configs" in rule.needs}
    skipped = tuple(
        check
        for check in report.skipped
        if check.code in of_configs or (check.object is not None and check.code != "SCH")
    )
    report = replace(report, coverage=coverage, skipped=skipped)
    write_report(
        report.listing(Severity(telling.min_severity)),
        outputs,
        colour=telling.colour,
        verbose=telling.verbose,
        quiet=telling.quiet,
        threshold=telling.threshold,
        rules=all_rules(),
    )
    if report.fails(telling.threshold) or (telling.fail_on_skipped and report.skipped):
        raise typer.Exit(EXIT_FINDINGS)


def run_effective(file: str, router_version: str, name: str, output: Format) -> None:
    """`router effective`. Raises typer.Exit when the router would not start with the config."""
    from llmdctl.manifest.emit import emit_yaml
    from llmdctl.router.config import dump, load
    from llmdctl.router.started import started

    found = _one_config(file, router_version, name)
    version = _version(router_version) or found.version
    found_config = load(_readable(found))
    result = started(found_config, version)
    body = dump(result.config, str(version or ""))
    refusals = _refusals(found)
    if output is Format.TEXT:
        about = [f"What router {version or '(newest known)'} runs with {_where(found)}."]
        about += [f"added: {plugin}: {reason}" for plugin, reason in result.added]
        about += [f"note: {note}" for note in result.notes]
        write_out("".join(f"# {escape(line)}\n" for line in about) + emit_yaml(body))
    else:
        data: dict[str, Any] = {
            "routerVersion": str(version or ""),
            "config": body,
            "added": [{"plugin": plugin, "reason": reason} for plugin, reason in result.added],
            "notes": list(result.notes),
            "refusals": refusals,
        }
        write_data(data, output)
    if refusals:
        _tell(["the router does not start with this config", *refusals], "error")
        raise typer.Exit(EXIT_FINDINGS)


def run_convert(file: str, to: str, router_version: str, name: str, output: Format) -> None:
    """`router convert`. Raises typer.Exit when something is left that the router of that version refuses."""
    from llmdctl.manifest.emit import emit_yaml
    from llmdctl.router.config import V1_SINCE
    from llmdctl.router.convert import convert

    version = _version(router_version)
    if version is not None and to and (to == "v1") is not version.at_least(*V1_SINCE):
        wanted = "v1" if version.at_least(*V1_SINCE) else "v1alpha1"
        raise UserError(f"router {version} has {wanted} for its own, not {to}", fix="give --to or --router-version")
    found = _one_config(file, router_version, name)
    target = version or Version.parse(_TARGETS[to or "v1"])
    assert target is not None  # noqa: S101 - the table holds versions
    result = convert(_readable(found), target)
    if output is Format.JSON:
        write_data(result.data, output)
    else:
        write_out(emit_yaml(result.data))
    _tell(result.changes, "changed")
    if result.left:
        _tell([f"{place}: {what}; {fix}" for place, what, fix in result.left], "left")
        raise typer.Exit(EXIT_FINDINGS)


def _tell(lines: Sequence[str], word: str) -> None:
    sys.stderr.write("".join(f"{word}: {escape(line)}\n" for line in lines))


def _version(text: str) -> Version | None:
    version = Version.parse(text) if text else None
    if text and version is None:
        raise UserError(f"--router-version {text!r} is no version", fix="write it as 0.10.0; leave it out for any")
    return version


def _stated(version: Version | None) -> VersionOptions:
    from llmdctl.view import VersionOptions

    return VersionOptions({("", "epp"): version} if version is not None else {})


def _configs(documents: Sequence[Document], versions: VersionOptions) -> list[PickerConfig]:
    """Every config of the input. Raises UserError when there is none."""
    from llmdctl.validate.scope import not_an_object
    from llmdctl.view import View

    objects: list[Document] = []
    files: list[Document] = []
    for document, reason in not_an_object(documents):
        (files if reason else objects).append(document)
    found = View(objects, versions=versions, files=files).picker_configs
    if not found:
        raise UserError(
            "the input holds no endpoint picker config",
            why="a config states its kind, EndpointPickerConfig, in a file, a ConfigMap, --config-text or Helm values",
            fix="give a file that holds one",
        )
    return found


def _one_config(file: str, router_version: str, name: str) -> PickerConfig:
    from llmdctl.manifest import read_paths

    found = _configs(read_paths([file]).require(), _stated(_version(router_version)))
    if name:
        wanted = [config for config in found if name in _names(config)]
        if not wanted:
            raise UserError(f"no config is called {name!r}", fix=f"one of: {', '.join(map(_where, found))}")
        found = wanted
    read = [config for config in found if config.epp is not None]
    if len(found) > 1 and len(read) == 1:
        # The others lie in the same ConfigMap for choice.
        return read[0]
    if len(found) > 1:
        places = "; ".join(_where(config) for config in found)
        raise UserError(f"the input holds {len(found)} configs", why=places, fix="choose one with --config NAME")
    return found[0]


def _names(config: PickerConfig) -> set[str]:
    last = config.node.path[-1:]
    return {config.node.document.ref.name, *(str(step) for step in last)} - {""}


def _where(config: PickerConfig) -> str:
    """Where a config stands, in words: its file, object and field."""
    document = config.node.document
    parts = [document.source.file]
    if document.ref.name:
        parts.append(f"{document.ref.kind}/{document.ref.name}")
    if config.node.path:
        parts.append(format_path(config.node.path))
    return " ".join(parts)


def _readable(config: PickerConfig) -> Any:
    """The config's data. Raises UserError when its text can't be read."""
    if config.data is None:
        first, *rest = [UserError(fault.title, fix=fault.fix) for fault in config.faults] or [
            UserError("the config is empty", fix="give a file that holds one")
        ]
        raise UserError(first.what, source=config.node.document.source, fix=first.fix, others=rest)
    return config.data


def _refusals(config: PickerConfig) -> list[str]:
    """Why the router does not start with a config."""
    from llmdctl.router.fault import REFUSED

    return [
        f"{fault.code} {format_path(fault.path)}: {fault.title}" for fault in config.faults if fault.code in REFUSED
    ]
