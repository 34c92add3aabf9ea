"""What `llmdctl validate` reads: paths, kustomizations, charts."""

from __future__ import annotations

from collections.abc import Sequence

from llmdctl.findings import UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest import Reading, read_paths


@frozen
class Inputs:
    """Every place that objects come from."""

    paths: Sequence[str] = ()
    kustomizations: Sequence[str] = ()
    chart: str = ""
    values: Sequence[str] = ()
    settings: Sequence[str] = ()
    release_name: str = ""
    namespace: str = ""

    def check(self) -> None:
        """Raises UserError when nothing is to be read, or an option has nothing to act on."""
        if not (self.paths or self.kustomizations or self.chart):
            raise UserError("nothing to validate", fix="give PATHS, - for stdin, -k DIR or --helm CHART")
        if not self.chart and (self.values or self.settings or self.release_name):
            raise UserError("--values, --set and --release-name are for a chart", fix="name it with --helm CHART")

    def read(self, kube_version: str) -> Reading:
        """Reads everything. Each place is one input of its own, in which no object may be twice."""
        reading = read_paths(self.paths)
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
