"""`llmdctl validate`."""

from __future__ import annotations

from typing import Annotated

import typer

from llmdctl.cli import validate_options as opt
from llmdctl.cli.output import Colour


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
    from llmdctl.cli.validate_input import ClusterInput, Inputs
    from llmdctl.cli.validate_run import Against, Telling, run_validate

    cluster = ClusterInput(kubeconfig, context, as_user, request_timeout, all_namespaces, cluster_findings)
    run_validate(
        Inputs(
            paths or (), kustomize or (), helm, values or (), settings or (), release_name, namespace,
            cluster if from_cluster else None, cluster,
        ),
        Against(
            kube_version, release, crds or (), complete, engine_version or (), only or (), skip or (), ignore_file, jobs
        ),
        Known(baseline, write_baseline),
        Telling(output or (), min_severity, fail_on, fail_on_skipped, quiet, verbose, color),
        fix=fix,
        write=write,
    )  # fmt: skip
