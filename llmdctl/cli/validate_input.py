"""What `llmdctl validate` reads: paths, kustomizations, charts, a cluster."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from llmdctl.findings import Report, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest import Reading, read_paths

if TYPE_CHECKING:
    from llmdctl.validate.pipeline import ValidateOptions


@frozen
class ClusterInput:
    """The cluster that `--from-cluster` reads; kubectl's flags."""

    kubeconfig: str = ""
    context: str = ""
    as_user: str = ""
    timeout: float = 30.0
    all_namespaces: bool = False
    all_findings: bool = False


@frozen
class Inputs:
    """Every place that objects come from. `cluster_given` are the cluster's options, asked for or not."""

    paths: Sequence[str] = ()
    kustomizations: Sequence[str] = ()
    chart: str = ""
    values: Sequence[str] = ()
    settings: Sequence[str] = ()
    release_name: str = ""
    namespace: str = ""
    cluster: ClusterInput | None = None
    cluster_given: ClusterInput = ClusterInput()

    @property
    def is_local(self) -> bool:
        """True when something else than a cluster is read."""
        return bool(self.paths or self.kustomizations or self.chart)

    def check(self) -> None:
        """Raises UserError when nothing is to be read, or an option has nothing to act on."""
        if not self.is_local and self.cluster is None:
            raise UserError(
                "nothing to validate", fix="give PATHS, - for stdin, -k DIR, --helm CHART or --from-cluster"
            )
        if not self.chart and (self.values or self.settings or self.release_name):
            raise UserError("--values, --set and --release-name are for a chart", fix="name it with --helm CHART")
        if self.cluster is None and self.cluster_given != ClusterInput():
            raise UserError("options of a cluster without a cluster", fix="add --from-cluster")
        if self.namespace and not self.chart and self.cluster is None:
            raise UserError(
                "--namespace is for a cluster or a chart", fix="state the namespace in the files, or add --from-cluster"
            )

    def read(self, kube_version: str, replaced: Mapping[str, bytes] | None = None, jobs: int = 1) -> Reading:
        """Reads all but the cluster. Each place is one input of its own, in which no object may be twice.

        `replaced` holds what is read in place of files.
        """
        reading = read_paths(self.paths, replaced, jobs=jobs)
        if self.kustomizations or self.chart:
            from llmdctl.manifest.tools import HelmChart, read_chart, read_kustomization

            for folder in self.kustomizations:
                reading.add(read_kustomization(folder))
            if self.chart:
                reading.add(
                    read_chart(
                        HelmChart(
                            chart=self.chart,
                            values=tuple(self.values),
                            settings=tuple(self.settings),
                            release_name=self.release_name,
                            namespace=self.namespace,
                            kube_version=kube_version,
                        )
                    )
                )
        return reading

    def validate(
        self,
        options: ValidateOptions,
        *,
        kube_version_given: bool,
        replaced: Mapping[str, bytes] | None = None,
    ) -> Report:
        """Reads everything, with `replaced` in place of files, and checks it."""
        from llmdctl.validate.pipeline import validate
        from llmdctl.validate.scope import require_objects, without_ignore_files

        reading = self.read(options.kube_version if kube_version_given else "", replaced, options.jobs)
        documents = without_ignore_files(reading.require())
        if self.cluster is not None:
            return self._live(self.cluster, reading, options, kube_version_given)
        if not reading.findings:
            require_objects(documents)
        return validate(documents, options, findings=reading.findings, texts=reading.texts)

    def _live(
        self, cluster: ClusterInput, reading: Reading, options: ValidateOptions, kube_version_given: bool
    ) -> Report:
        from llmdctl.cluster import Access
        from llmdctl.operate.live import about_local, read_live
        from llmdctl.validate.pipeline import validate
        from llmdctl.validate.scope import without_ignore_files

        access = Access(cluster.kubeconfig, cluster.context, cluster.as_user, cluster.timeout)
        local = without_ignore_files(reading.documents)
        live = read_live(access, self.namespace, cluster.all_namespaces, local, options.release)
        if live.notice and not kube_version_given:
            sys.stderr.write(f"notice: {live.notice}\n")
        options = replace(
            options,
            kube_version=options.kube_version if kube_version_given else live.kube_version,
            complete=options.complete or live.inventory.complete,
            # Who says that the input is all there is means it of the whole cluster.
            extent=options.extent if options.complete else live.extent,
            accepted=live.accepted,
            crds=(*live.definitions, *options.crds),
        )
        # There is no text to look positions up in.
        texts = {**reading.texts, **dict.fromkeys(live.accepted, b"")}
        report = validate(live.documents, options, findings=reading.findings, texts=texts)
        report = replace(report, skipped=(*live.inventory.skipped, *report.skipped))
        return about_local(report) if self.is_local and not cluster.all_findings else report
