"""The options of `llmdctl validate`, each with its help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class FailOn(StrEnum):
    """From which severity on the exit code is 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


class MinSeverity(StrEnum):
    """Severities, for what is listed."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


Paths = Annotated[list[str] | None, typer.Argument(metavar="PATHS", help="Files, directories, or - for stdin.")]
Kustomize = Annotated[
    list[str] | None,
    typer.Option(
        "-k", "--kustomize", metavar="DIR", help="A kustomization, built by kubectl or kustomize; repeatable."
    ),
]
Helm = Annotated[str, typer.Option("--helm", metavar="CHART", help="A chart, rendered by `helm template`.")]
Values = Annotated[
    list[str] | None, typer.Option("--values", metavar="FILE", help="Values for --helm; repeatable, the last wins.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="One value for --helm; repeatable.")
]
ReleaseName = Annotated[
    str, typer.Option("--release-name", metavar="NAME", help="Helm release; the chart's name when absent.")
]
Namespace = Annotated[
    str,
    typer.Option(
        "-n",
        "--namespace",
        metavar="NAME",
        help="Namespace of the cluster to read, or that a chart is installed in; the context's when absent.",
    ),
]
FromCluster = Annotated[
    bool,
    typer.Option(
        "--from-cluster", help="Read a namespace of a cluster; with PATHS, what it would be if they were applied."
    ),
]
AllNamespaces = Annotated[
    bool, typer.Option("-A", "--all-namespaces", help="With --from-cluster: read all namespaces.")
]
ClusterFindings = Annotated[
    bool,
    typer.Option(
        "--cluster-findings", help="With --from-cluster and PATHS: count what concerns no local object as well."
    ),
]
Kubeconfig = Annotated[str, typer.Option("--kubeconfig", metavar="FILE", help="Kubeconfig of --from-cluster.")]
Context = Annotated[str, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")]
AsUser = Annotated[str, typer.Option("--as", metavar="USER", help="User to impersonate at the cluster.")]
RequestTimeout = Annotated[
    float, typer.Option("--request-timeout", metavar="SECONDS", min=0.1, help="How long one request may take.")
]
KubeVersion = Annotated[
    str,
    typer.Option(
        metavar="MINOR", help="Kubernetes minor to check against, 1.33 to 1.37: 1.36 for files, the cluster's own."
    ),
]
Release = Annotated[str, typer.Option(metavar="RELEASE", help="llm-d release whose CRDs are used.")]
Crds = Annotated[
    list[str] | None, typer.Option(metavar="PATH", help="CRDs that win over the bundled ones; repeatable.")
]
Complete = Annotated[bool, typer.Option("--complete", help="The input is all there is: what it lacks does not exist.")]
EngineVersion = Annotated[
    list[str] | None,
    typer.Option(metavar="[ROLE=]ENGINE@VERSION", help="Version that images don't tell; repeatable."),
]
IgnoreFile = Annotated[str, typer.Option(metavar="PATH", help="Findings to ignore; .llmdctl.yaml here when it exists.")]
Only = Annotated[list[str] | None, typer.Option("--rule", metavar="CODE|FAMILY", help="Only these rules; repeatable.")]
SkipRule = Annotated[
    list[str] | None, typer.Option("--skip", metavar="CODE|FAMILY", help="Without these rules; repeatable.")
]
BaselineFile = Annotated[
    str, typer.Option("--baseline", metavar="FILE", help="Findings known from before: they don't count.")
]
WriteBaseline = Annotated[
    str, typer.Option("--write-baseline", metavar="FILE", help="Write what is found into a baseline.")
]
Fix = Annotated[
    bool, typer.Option("--fix", help="Mend what can be mended in one way only; shows a diff and writes nothing.")
]
Write = Annotated[bool, typer.Option("--write", help="With --fix: write the files, and check them again.")]
FailOnOption = Annotated[FailOn, typer.Option(help="From which severity on to exit with 1.")]
FailOnSkipped = Annotated[bool, typer.Option("--fail-on-skipped", help="Exit with 1 when anything was skipped.")]
MinSeverityOption = Annotated[
    MinSeverity, typer.Option("--min-severity", help="From which severity on to list findings.")
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FORMAT[=PATH]",
        help="text, json, yaml, junit, sarif, github or markdown; repeatable.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", metavar="N", min=0, help="Processes that read and check many files; 0 is one for each core."
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="One line a finding.")]
Verbose = Annotated[
    int, typer.Option("-v", "--verbose", count=True, help="Also list what was skipped, ignored or unresolved.")
]
