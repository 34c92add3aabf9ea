"""PAR."""

from __future__ import annotations

from typing import Any

from mutate import Mutation, NotHere, Objects, flag_value, set_flag

_ACCELERATORS = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu")


def _limits(objects: Objects, least: int) -> list[tuple[dict[str, Any], str, int]]:
    resources = objects.engine().get("resources") or {}
    found = [
        (part, key, int(part[key]))
        for part in (resources.get("limits") or {}, resources.get("requests") or {})
        for key in _ACCELERATORS
        if key in part and int(part[key]) >= least
    ]
    if not found:
        raise NotHere("no accelerator of a device plugin")
    return found


def _fewer_devices(objects: Objects) -> None:
    for part, key, count in _limits(objects, 2):
        part[key] = str(count // 2)


def _idle_devices(objects: Objects) -> None:
    for part, key, count in _limits(objects, 1):
        if key == "google.com/tpu":
            raise NotHere("chips of a slice belong together")
        part[key] = str(count * 2)


def _fewer_claims(objects: Objects) -> None:
    claims = (objects.engine().get("resources") or {}).get("claims") or []
    if len(claims) < 2:
        raise NotHere("no two claims")
    dropped = claims.pop()["name"]
    spec = objects.template()["spec"]
    spec["resourceClaims"] = [item for item in spec["resourceClaims"] if item["name"] != dropped]


def _more_ranks(objects: Objects) -> None:
    size = int(flag_value(objects.engine(), "--data-parallel-size"))
    if not objects.all("LeaderWorkerSet") and not objects.all("DisaggregatedSet"):
        raise NotHere("no group")
    for template in objects.pod_templates():
        for item in template["spec"]["containers"]:
            if any(word.startswith("--data-parallel-size=") for word in item.get("args") or []):
                set_flag(item, "--data-parallel-size", str(size * 2))


def _wrong_start(objects: Objects) -> None:
    command = objects.engine().get("command") or []
    for index, word in enumerate(command):
        if "$((LWS_WORKER_INDEX * 8))" in word:
            command[index] = word.replace("LWS_WORKER_INDEX * 8", "LWS_WORKER_INDEX * 4")
            return
    raise NotHere("no first rank")


def _other_mori(objects: Objects) -> None:
    engine = objects.engine()
    for item in engine.get("env") or []:
        if item["name"].startswith("MORI_") and "value" in item:
            item["value"] = "77"
            return
    raise NotHere("no MoRI")


def _other_backend(objects: Objects) -> None:
    groups = [item for item in objects.all("DisaggregatedSet") for item in item["spec"]["roles"]]
    for role in groups:
        group = role["spec"]["leaderWorkerTemplate"]
        if "leaderTemplate" in group:
            for item in group["workerTemplate"]["spec"]["containers"]:
                set_flag(item, "--all2all-backend", "mori_low_latency")
            return
    raise NotHere("no leader")


def _lone_restarts(objects: Objects) -> None:
    for item in objects.all("DisaggregatedSet"):
        for role in item["spec"]["roles"]:
            group = role["spec"]["leaderWorkerTemplate"]
            if group.get("size", 1) > 1:
                group["restartPolicy"] = "None"
                return
    raise NotHere("no group of several pods")


def _queue_of_the_set(objects: Objects) -> None:
    for item in objects.all("DisaggregatedSet"):
        for role in item["spec"]["roles"]:
            labels = (role.get("metadata") or {}).get("labels") or {}
            queue = labels.pop("kueue.x-k8s.io/queue-name", None)
            if queue:
                item["metadata"].setdefault("labels", {})["kueue.x-k8s.io/queue-name"] = queue
                return
    raise NotHere("no queue")


def _no_devices(objects: Objects) -> None:
    _limits(objects, 1)
    resources = objects.engine()["resources"]
    for part in ("limits", "requests"):
        for key in _ACCELERATORS:
            (resources.get(part) or {}).pop(key, None)


def _pickers_apart(objects: Objects) -> None:
    objects.one("Deployment", "-epp")["spec"]["replicas"] = 2
    picker = objects.picker()
    picker["args"] = [word for word in picker["args"] if not word.startswith("--ha-enable-leader-election")]


MUTATIONS = [
    Mutation("PAR001", _fewer_devices),
    Mutation("PAR001", _idle_devices),
    Mutation("PAR001", _no_devices),
    Mutation("PAR001", _fewer_claims),
    Mutation("PAR002", _more_ranks),
    Mutation("PAR002", _wrong_start),
    Mutation("PAR009", _other_mori),
    Mutation("PAR011", _other_backend),
    Mutation("PAR019", _queue_of_the_set),
    Mutation("PAR021", _lone_restarts),
    Mutation("PAR022", _pickers_apart),
]

NOT_OURS = {"PAR005": "no stack of ours spreads one engine over pods by --nnodes"}
