"""Pods of a group beside its leader, where the leader alone answers requests."""

from __future__ import annotations

from dataclasses import replace

from llmdctl.catalog.model import Engine
from llmdctl.findings import Path
from llmdctl.plan.labels import SERVING_LABEL, VERSION_ANNOTATION
from llmdctl.plan.model import (
    Balancing,
    ContainerPlan,
    ImagePlan,
    ParallelismPlan,
    PodPlan,
    SidecarPlan,
    WorkerPlan,
)
from llmdctl.plan.origin import Ledger, formula
from llmdctl.plan.ranks import worker_args, worker_launcher


def plan_worker(
    engine: Engine, parallelism: ParallelismPlan, container: ContainerPlan, pod: PodPlan, ledger: Ledger, path: Path
) -> WorkerPlan | None:
    """The pods beside the leader, where it alone serves: they lack the label by which the pool finds its pods."""
    ledger.note(
        (*path, "worker"), formula("as the leader, but headless: no port, no probes, no sidecar, not in the pool")
    )
    if parallelism.balancing != Balancing.LEADER:
        return None
    return WorkerPlan(
        container=replace(
            container,
            command=worker_launcher(engine.command, parallelism),
            args=worker_args(engine, container.args, parallelism),
            ports=[],
            startup_probe=None,
            liveness_probe=None,
            readiness_probe=None,
            lifecycle=None,
        ),
        sidecar=None,
        pod=replace(
            pod,
            labels={key: value for key, value in pod.labels.items() if key != SERVING_LABEL},
            annotations={**pod.annotations, VERSION_ANNOTATION: versions(container.image, None)},
        ),
    )


def versions(image: ImagePlan, sidecar: SidecarPlan | None) -> str:
    """The annotation from which validate knows the components of a pod."""
    images = [image, *([sidecar.image] if sidecar else [])]
    return ", ".join(f"{found.component}@{found.version}" for found in images)
