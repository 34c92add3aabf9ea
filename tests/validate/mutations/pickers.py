"""RTR and LBL: the picker's flags and rights, and names that must exist."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects, container, drop_flag, set_flag


def _experimental(objects: Objects) -> None:
    objects.set_picker_config(lambda config: config["plugins"].append({"type": "agent-identity"}))


def _flag(objects: Objects) -> None:
    set_flag(objects.picker(), "--metric-port", "9090")


def _no_pool(objects: Objects) -> None:
    drop_flag(objects.picker(), "--pool-name")


def _sidecar(objects: Objects) -> None:
    proxy = container(objects.template(), "routing-proxy")
    set_flag(proxy, "--prefiller-use-tls", "false")


def _rights(objects: Objects) -> None:
    for rule in objects.one("Role", "-epp")["rules"]:
        if "pods" in rule["resources"]:
            rule["verbs"] = ["get"]


def _account(objects: Objects) -> None:
    objects.template()["spec"]["serviceAccountName"] = "nobody"


def _config_map(objects: Objects) -> None:
    for volume in objects.one("Deployment", "-epp")["spec"]["template"]["spec"]["volumes"]:
        if volume.get("configMap", {}).get("name", "").endswith("-envoy"):
            volume["configMap"]["name"] = "nobody"
            return
    raise NotHere("no proxy")


def _file(objects: Objects) -> None:
    data = objects.one("ConfigMap", "-epp")["data"]
    (key,) = data
    data["other.yaml"] = data.pop(key)


def _pool_name(objects: Objects) -> None:
    set_flag(objects.picker(), "--pool-name", "nobody")


def _service(objects: Objects) -> None:
    objects.one("InferencePool")["spec"]["endpointPickerRef"]["name"] = "nobody"


def _port(objects: Objects) -> None:
    objects.one("InferencePool")["spec"]["endpointPickerRef"]["port"]["number"] = 9005


NOT_OURS = {"LBL016": "no stack of ours holds a PersistentVolumeClaim: the claim of spec.model.cache is the user's"}
MUTATIONS = [
    Mutation("RTR013", _experimental),
    Mutation("RTR040", _flag),
    Mutation("RTR041", _no_pool),
    Mutation("RTR042", _sidecar),
    Mutation("RTR043", _rights),
    Mutation("LBL010", _account),
    Mutation("LBL011", _config_map),
    Mutation("LBL012", _file, also=("LBL011",)),
    Mutation("LBL013", _pool_name),
    Mutation("LBL014", _service),
    Mutation("PRT017", _port),
]
