"""KVT and PRT: handing over KV blocks."""

from __future__ import annotations

from mutate import Mutation, NotHere, Objects, container, drop_env, drop_flag, flag_value, set_env, set_flag

CONFIG = "--kv-transfer-config"


def _transport(objects: Objects) -> None:
    if "NixlConnector" not in flag_value(objects.engine(), CONFIG):
        raise NotHere("no NIXL")
    set_env(objects.engine(), "UCX_TLS", "rc,sm,self")


def _decider(objects: Objects) -> None:
    if objects.template("prefill")["metadata"]["labels"].get("llm-d.ai/engine-type") != "sglang":
        raise NotHere("no SGLang")

    def change(config: dict) -> None:  # type: ignore[type-arg]
        for plugin in config["plugins"]:
            if plugin["type"] == "always-disagg-pd-decider":
                plugin.update(type="prefix-based-pd-decider", name="always-disagg-pd-decider")
                plugin["parameters"] = {"nonCachedTokens": 16}

    objects.set_picker_config(change)


def _keep_alive(objects: Objects) -> None:
    drop_env(objects.engine("prefill"), "VLLM_HTTP_TIMEOUT_KEEP_ALIVE")


def _recompute(objects: Objects) -> None:
    engine = objects.engine()
    script = [index for index, word in enumerate(engine["args"]) if CONFIG in word]
    if not script or '"kv_load_failure_policy":"fail"' not in engine["args"][script[0]]:
        raise NotHere("no policy")
    changed = engine["args"][script[0]].replace(
        '"kv_load_failure_policy":"fail"', '"kv_load_failure_policy":"recompute"'
    )
    engine["args"][script[0]] = changed
    set_flag(engine, "--all2all-backend", "deepep_low_latency")


def _write_mode(objects: Objects) -> None:
    drop_flag(container(objects.template(), "routing-proxy"), "--moriio-write-mode")


def _obsolete(objects: Objects) -> None:
    if objects.template("prefill")["metadata"]["labels"].get("llm-d.ai/engine-type") != "vllm":
        raise NotHere("no vLLM")
    set_env(objects.engine("prefill"), "VLLM_NIXL_ABORT_REQUEST_TIMEOUT", "480")


def _channel_host(objects: Objects) -> None:
    drop_env(objects.engine("prefill"), "VLLM_NIXL_SIDE_CHANNEL_HOST")


def _mori_port(objects: Objects) -> None:
    engine = objects.engine()
    for index, word in enumerate(engine["args"]):
        if '"http_port":"8200"' in word:
            engine["args"][index] = word.replace('"http_port":"8200"', '"http_port":"8000"')
            return
    raise NotHere("no MoRI-IO")


def _bootstrap(objects: Objects) -> None:
    set_flag(container(objects.template(), "routing-proxy"), "--mooncake-bootstrap-port", "8999")
    if "MooncakeConnector" not in str(objects.engine()["args"]):
        raise NotHere("no Mooncake")


def _sglang_bootstrap(objects: Objects) -> None:
    if objects.template("prefill")["metadata"]["labels"].get("llm-d.ai/engine-type") != "sglang":
        raise NotHere("no SGLang")
    set_env(container(objects.template(), "routing-proxy"), "SGLANG_BOOTSTRAP_PORT", "8999")


def _tpu(objects: Objects) -> None:
    set_env(objects.engine(), "TPU_KV_TRANSFER_PORT", "9999")
    if not any(item["name"] == "TPU_KV_TRANSFER_PORT" for item in objects.engine("prefill").get("env", [])):
        raise NotHere("no TPU")


def _no_metrics(objects: Objects) -> None:
    drop_flag(objects.engine(), "--enable-metrics")


def _tls(objects: Objects) -> None:
    drop_flag(container(objects.template(), "routing-proxy"), "--secure-serving")


MUTATIONS = [
    Mutation("KVT010", _transport),
    Mutation("KVT013", _decider),
    Mutation("KVT014", _keep_alive),
    Mutation("KVT015", _recompute, also=("PAR011",)),
    Mutation("KVT016", _write_mode),
    Mutation("KVT021", _obsolete),
    Mutation("PRT009", _channel_host),
    Mutation("PRT012", _mori_port),
    Mutation("PRT013", _bootstrap),
    Mutation("PRT013", _sglang_bootstrap),
    Mutation("PRT015", _tpu),
    Mutation("PRT018", _no_metrics),
    Mutation("PRT019", _tls),
]
