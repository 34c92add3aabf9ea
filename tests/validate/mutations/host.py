"""RES."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects, flag_value, set_env


def _gpus(objects: Objects) -> int:
    limits = (objects.engine().get("resources") or {}).get("limits") or {}
    count = int(limits.get("nvidia.com/gpu") or limits.get("amd.com/gpu") or 0)
    if not count:
        raise NotHere("no GPU of a device plugin")
    return count


def _no_shared_memory(objects: Objects) -> None:
    if _gpus(objects) < 2:
        raise NotHere("one rank")
    engine = objects.engine()
    engine["volumeMounts"] = [item for item in engine["volumeMounts"] if item["mountPath"] != "/dev/shm"]


def _few_interfaces(objects: Objects) -> None:
    resources = objects.engine()["resources"]
    for part in (resources.get("limits") or {}, resources.get("requests") or {}):
        if "amd.com/vnic" in part:
            part["amd.com/vnic"] = "1"
    if "amd.com/vnic" not in (resources.get("limits") or {}):
        raise NotHere("no interfaces")


def _read_only(objects: Objects) -> None:
    engine = objects.engine()
    engine.setdefault("securityContext", {})["readOnlyRootFilesystem"] = True
    engine["volumeMounts"] = [item for item in engine.get("volumeMounts") or [] if item["mountPath"] != "/tmp"]


def _greedy_cache(objects: Objects) -> None:
    if "memory" not in ((objects.engine().get("resources") or {}).get("limits") or {}):
        raise NotHere("no memory limit")
    set_env(objects.engine(), "VLLM_CPU_KVCACHE_SPACE", "5000")


def _other_slice(objects: Objects) -> None:
    limits = (objects.engine().get("resources") or {}).get("limits") or {}
    if "google.com/tpu" not in limits:
        raise NotHere("no TPU")
    spec = objects.template()["spec"]
    spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), "cloud.google.com/gke-tpu-topology": "4x8x8"}


def _short_grace(objects: Objects) -> None:
    flag_value(objects.engine(), "--shutdown-timeout")
    objects.template()["spec"]["terminationGracePeriodSeconds"] = 5


def _hasty_probe(objects: Objects) -> None:
    probe = objects.engine().get("startupProbe")
    if not probe:
        raise NotHere("no startup probe")
    probe.update(failureThreshold=3, periodSeconds=10, initialDelaySeconds=0)


MUTATIONS = [
    Mutation("RES001", _no_shared_memory),
    Mutation("RES003", _few_interfaces),
    Mutation("RES010", _read_only),
    Mutation("RES013", _greedy_cache),
    Mutation("RES016", _other_slice),
    Mutation("RES019", _short_grace),
    Mutation("RES020", _hasty_probe),
]
