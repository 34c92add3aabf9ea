"""Pod-level settings of a role: labels, scheduling, security, volumes, claims."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from llmdctl.catalog.model import Engine
from llmdctl.findings import Path
from llmdctl.plan.contributions import RoleAdds, scale
from llmdctl.plan.merge import OriginOf, merge
from llmdctl.plan.model import EngineConfigPlan, ParallelismPlan
from llmdctl.plan.origin import Ledger, formula
from llmdctl.spec.model import Model, ModelCache

NETWORKS = "k8s.v1.cni.cncf.io/networks"
CACHE_VOLUME = "model-cache"
CACHE_MOUNT = "/var/cache/huggingface"


def cache_volume(cache: ModelCache) -> dict[str, Any]:
    """The volume that holds model files."""
    if cache.pvc:
        return {"name": CACHE_VOLUME, "persistentVolumeClaim": {"claimName": cache.pvc.claim_name}}
    if cache.host_path:
        return {"name": CACHE_VOLUME, "hostPath": {"path": cache.host_path.path, "type": "DirectoryOrCreate"}}
    limit = cache.empty_dir.size_limit if cache.empty_dir else None
    return {"name": CACHE_VOLUME, "emptyDir": {"sizeLimit": limit} if limit else {}}


def engine_config(engine: Engine, stack: str, ledger: Ledger) -> EngineConfigPlan | None:
    """The ConfigMap of the file that the engine reads its settings from; None for an engine without one."""
    if engine.config_file is None:
        return None
    ledger.note(("engineConfig",), formula(f"configFile of the engine {engine.name}"))
    return EngineConfigPlan(
        name=f"{stack}-engine", file=PurePosixPath(engine.config_file.path).name, data=engine.config_file.data
    )


def plan_volumes(
    engine: Engine, stack: str, adds: RoleAdds, cache: ModelCache, ledger: Ledger, path: Path
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Volumes of the pod and mounts of the engine's container."""
    ledger.note((*path, "pod", "volumes"), formula("the model cache and the paths that the engine writes to"))
    ledger.note((*path, "container", "volumeMounts"), formula("one a volume"))
    volumes = [cache_volume(cache)]
    mounts: list[dict[str, Any]] = [{"name": CACHE_VOLUME, "mountPath": CACHE_MOUNT}]
    for name, mount_path in engine.writable_paths.items():
        volumes.append({"name": name, "emptyDir": {}})
        mounts.append({"name": name, "mountPath": mount_path})
    config = engine_config(engine, stack, ledger)
    if config is not None and engine.config_file is not None:
        volumes.append({"name": "engine-options", "configMap": {"name": config.name}})
        directory = str(PurePosixPath(engine.config_file.path).parent)
        mounts.append({"name": "engine-options", "mountPath": directory, "readOnly": True})
    volumes.extend(adds.data.get("volumes", []))
    mounts.extend(adds.data.get("mounts", []))
    return volumes, mounts


def plan_claims(
    stack: str, adds: RoleAdds, parallelism: ParallelismPlan, ledger: Ledger, path: Path
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], bool]:
    """Claims of the pod, claims of the container, and whether they bring the accelerators."""
    pod_claims: list[dict[str, Any]] = []
    for claim in adds.claims.values():
        count = scale(claim.count, accelerators=parallelism.accelerators, ranks=parallelism.data_local)
        pod_claims.extend(
            {"name": f"{claim.name}-{index}", "resourceClaimTemplateName": f"{stack}-{claim.name}"}
            for index in range(int(count or 0))
        )
    ledger.note(
        (*path, "pod", "resourceClaims"), formula("one claim a rank: each is a scope of its own for matchAttribute")
    )
    ledger.note((*path, "container", "resources", "claims"), formula("the claims of the pod"))
    provides = any(claim.provides_accelerator for claim in adds.claims.values())
    return pod_claims, [{"name": claim["name"]} for claim in pod_claims], provides


def container_security(adds: RoleAdds, *, non_root: bool, ledger: Ledger, path: Path) -> dict[str, Any]:
    """The container's security context: everything closed but what the transport needs."""
    ledger.note(path, formula("closed by default; contributions open what a transport needs"))
    added = adds.data.get("securityContext", {})
    context: dict[str, Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    if added.get("privileged"):
        context = {"privileged": True}
    elif adds.capabilities:
        context["capabilities"]["add"] = sorted(adds.capabilities)
    if added.get("runAsNonRoot", non_root):
        context["runAsNonRoot"] = True
    if added.get("runAsUser") is not None:
        context["runAsUser"] = added["runAsUser"]
    context["seccompProfile"] = {"type": added.get("seccomp") or "RuntimeDefault"}
    return context


CACHE_GROUP = 1000
"""Group that may write a claimed model cache. Any would do, as long as all stacks that share a claim have the same."""


def pod_security(adds: RoleAdds, model: Model, ledger: Ledger, path: Path) -> dict[str, Any] | None:
    """The pod's security context, or None."""
    added = adds.data.get("securityContext", {})
    context = {key: added[key] for key in ("fsGroup", "supplementalGroups") if added.get(key) is not None}
    ledger.note(path, formula("contributions of the catalog"))
    if model.cache and model.cache.pvc and model.source != "local" and not added.get("idsFromCluster"):
        # Without DAC_OVERRIDE not even root writes to what belongs to others, and a fresh volume belongs to root.
        context.setdefault("fsGroup", CACHE_GROUP)
        # Giving every file of a large cache to the group again, at each start of a pod, would take minutes.
        context["fsGroupChangePolicy"] = "OnRootMismatch"
        ledger.note((*path, "fsGroup"), formula("a group that may write the claim with the model cache"))
        ledger.note((*path, "fsGroupChangePolicy"), formula("a claim is given to the group once, not at every start"))
    return context or None


def scheduling(
    adds: RoleAdds, stack_pod: dict[str, Any], role_pod: dict[str, Any], ledger: Ledger, path: Path
) -> dict[str, Any]:
    """Node selector, tolerations, affinity and the like: contributions, then spec.pod, then spec.roles.*.pod."""
    out: dict[str, Any] = {}
    ledger.note(path, formula("contributions of the catalog, then spec.pod, then spec.roles.*.pod"))
    keys = ("nodeSelector", "tolerations", "affinity", "labels", "annotations")
    contributed = {key: adds.data[key] for key in keys if adds.data.get(key)}
    layers: tuple[tuple[dict[str, Any], Path], ...] = (
        (contributed, path[:2]),
        (stack_pod, ("spec", "pod")),
        (role_pod, ("spec", *path[:2], "pod")),
    )
    for layer, given in layers:
        merge(out, layer, _origin_below(ledger, given, len(path)), ledger, path)
    return out


def _origin_below(ledger: Ledger, given: Path, depth: int) -> OriginOf:
    """Origins of a layer whose values are noted below `given` and are now merged `depth` steps down elsewhere."""
    return lambda here: ledger.of((*given, *here[depth:]))


def network_annotation(adds: RoleAdds, parallelism: ParallelismPlan) -> dict[str, str]:
    """Multus' annotation for the further interfaces of a pod; nothing when there are none."""
    if adds.networks is None:
        return {}
    count = scale(adds.networks.count, accelerators=parallelism.accelerators, ranks=parallelism.data_local)
    return {NETWORKS: ",".join([f"{adds.networks.namespace}/{adds.networks.name}"] * int(count or 0))}
