"""`llmdctl validate`."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llmdctl.cli import validate_options as opt
from llmdctl.cli.output import Colour, parse_outputs, write_report

if TYPE_CHECKING:
    from llmdctl.cli.validate_input import Inputs
    from llmdctl.findings import Report, Severity
    from llmdctl.validate.pipeline import ValidateOptions

EXIT_FINDINGS = 1


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("validate")(validate)


def validate(
    paths: opt.Paths = None,
    kustomize: opt.Kustomize = None,
    helm: opt.Helm = "",
    values: opt.Values = None,
    settings: opt.Settings = None,
    release_name: opt.ReleaseName = "",
    from_cluster: opt.FromCluster = False,
    namespace: opt.Namespace = "",
    all_namespaces: opt.AllNamespaces = False,
    cluster_findings: opt.ClusterFindings = False,
    kubeconfig: opt.Kubeconfig = "",
    context: opt.Context = "",
    as_user: opt.AsUser = "",
    request_timeout: opt.RequestTimeout = 30.0,
    kube_version: opt.KubeVersion = "",
    release: opt.Release = "1.0",
    crds: opt.Crds = None,
    complete: opt.Complete = False,
    engine_version: opt.EngineVersion = None,
    only: opt.Only = None,
    skip: opt.SkipRule = None,
    ignore_file: opt.IgnoreFile = "",
    baseline: opt.BaselineFile = "",
    write_baseline: opt.WriteBaseline = "",
    jobs: opt.Jobs = 1,
    fix: opt.Fix = False,
    write: opt.Write = False,
    fail_on: opt.FailOnOption = opt.FailOn.ERROR,
    fail_on_skipped: opt.FailOnSkipped = False,
    min_severity: opt.MinSeverityOption = opt.MinSeverity.INFO,
    output: opt.Outputs = None,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = 0,
    color: Annotated[Colour, typer.Option(help="When to colour text.")] = Colour.AUTO,
) -> None:
    """Check manifests as the API server would, and across objects: labels, ports, KV transfer.

    Example: llmdctl validate build/demo --kube-version 1.36

    YML002 (the same object twice) looks at each path alone: overlays given as two paths may repeat an object, files
    below one directory may not. All other rules compare all paths, but for files that define the same object
    differently: such files are taken for alternatives.

    --from-cluster only reads, and never reads Secrets.

    Exit codes: 0 nothing at or over --fail-on, 1 findings, 2 usage, input that can't be read, or
    nothing that could be validated, 3 a cluster that can't be read.
    """
    from llmdctl.cli.validate_baseline import Known
    from llmdctl.cli.validate_fix import check_fix_options, run_fix
    from llmdctl.cli.validate_input import ClusterInput, Inputs
    from llmdctl.findings import Severity, UserError
    from llmdctl.manifest.parallel import processes
    from llmdctl.validate.registry import all_rules
    from llmdctl.validate.scope import require_coverage
    from llmdctl.validate.select import parse_selection

    outputs = parse_outputs(output or [])
    inputs = Inputs(paths or (), kustomize or (), helm, values or (), settings or (), release_name, namespace)
    cluster = ClusterInput(kubeconfig, context, as_user, request_timeout, all_namespaces, cluster_findings)
    if from_cluster:
        inputs = replace(inputs, cluster=cluster)
    elif cluster != ClusterInput():
        raise UserError("options of a cluster without a cluster", fix="add --from-cluster")
    inputs.check()
    options = _options(kube_version, release, crds or [], complete, engine_version or [], ignore_file)
    options = replace(options, selection=parse_selection(only or [], skip or []), jobs=processes(jobs))
    known = Known(baseline, write_baseline)
    threshold = _threshold(fail_on)

    def check(replaced: Mapping[str, bytes]) -> Report:
        return known.apply(_run(inputs, options, bool(kube_version), replaced), options.selection)

    if fix or write:
        outputs = check_fix_options(fix, write, write_baseline, output or [], outputs)
        report = run_fix(check, write)
    else:
        report = check({})
    write_report(
        report.listing(Severity(min_severity)),
        outputs,
        colour=color,
        verbose=verbose,
        quiet=quiet,
        threshold=threshold,
        rules=all_rules(),
    )
    require_coverage(report)
    if report.fails(threshold) or (fail_on_skipped and report.skipped):
        raise typer.Exit(EXIT_FINDINGS)


def _options(
    kube_version: str, release: str, crds: list[str], complete: bool, engine_versions: list[str], ignore_file: str
) -> ValidateOptions:
    from llmdctl.manifest import read_paths
    from llmdctl.validate.pipeline import ValidateOptions
    from llmdctl.validate.suppress import FILE, load_ignores
    from llmdctl.validate.versions import DEFAULT_MINOR, check_minor, check_release
    from llmdctl.view import parse_version_options

    chosen = ignore_file or (FILE if Path(FILE).is_file() else "")
    return ValidateOptions(
        kube_version=check_minor(kube_version or DEFAULT_MINOR),
        release=check_release(release),
        complete=complete,
        crds=tuple(read_paths(crds).require()) if crds else (),
        versions=parse_version_options(engine_versions),
        ignores=load_ignores(chosen) if chosen else (),
    )


def _run(inputs: Inputs, options: ValidateOptions, kube_version_given: bool, replaced: Mapping[str, bytes]) -> Report:
    # Objects and findings live until the end: collecting cycles among them only costs time.
    gc.disable()
    try:
        return inputs.validate(options, kube_version_given=kube_version_given, replaced=replaced)
    finally:
        gc.enable()


def _threshold(fail_on: opt.FailOn) -> Severity | None:
    from llmdctl.findings import Severity

    return None if fail_on is opt.FailOn.NEVER else Severity(fail_on)
