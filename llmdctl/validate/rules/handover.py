"""KVT and PRT: ports, variables and switches that prefill, decode and sidecar must have alike to hand over blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmdctl.findings import Check, Hit, Outcome, Rule, Severity, Skip
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.routed import engines_of, plugins_of, routed
from llmdctl.view import EngineCommand, PodTemplate, View
from llmdctl.view.engine import SGLANG, VLLM
from llmdctl.view.flags import to_integer
from llmdctl.view.peers import PREFILL, acts_as

BOOTSTRAP = 8998
SIDECAR_IDLE = 90
"""Seconds for which the sidecar keeps an idle connection (Go's default transport)."""
_FALSE = ("false", "0", "f", "no")


def check_keep_alive(view: View) -> Iterator[Outcome]:
    """KVT014: prefill closes idle connections before the sidecar does."""
    for pair in view.pairs:
        engine = pair.prefill_engine
        if engine.engine != VLLM or pair.decode.sidecar is None or engine.container.env_is_open:
            continue
        found = engine.container.env.get("VLLM_HTTP_TIMEOUT_KEEP_ALIVE")
        if found is not None and found.value is None:
            continue
        seconds = to_integer(found.value) if found else 5
        if seconds is not None and seconds < SIDECAR_IDLE:
            stated = f"{seconds} seconds" if found else "5 seconds, its default"
            yield Hit(
                found.node.at("value").place if found else engine.place,
                f"prefill closes idle connections after {stated}, the sidecar of decode keeps them for {SIDECAR_IDLE}",
                evidence=(seen("the sidecar stands here", pair.decode.sidecar.place),),
            )


def check_channel_host(view: View) -> Iterator[Outcome]:
    """PRT009: NIXL tells peers an address that isn't the pod's."""
    for template, engine in _engines(view):
        transfer = engine.kv_transfer
        if transfer is None or not any(item.is_nixl for item in transfer.connectors) or engine.container.env_is_open:
            continue
        found = engine.container.env.get("VLLM_NIXL_SIDE_CHANNEL_HOST")
        if found is None:
            if template.sidecar is not None or acts_as(template):
                yield Hit(
                    engine.container.at("env"), f"{template.lead}peers are told to find its KV blocks on localhost",
                )  # fmt: skip
        elif found.value is not None and found.value not in ("", "$(POD_IP)") and found.field == "":
            yield Hit(
                found.place, f"{template.lead}all pods tell their peers the same address: {found.value}",
            )  # fmt: skip


def _engines(view: View) -> Iterator[tuple[PodTemplate, EngineCommand]]:
    for template in view.serving:
        if template.engine is not None:
            yield template, template.engine


def check_bootstrap(view: View) -> Iterator[Outcome]:
    """PRT013, PRT014: the sidecar asks another bootstrap port than prefill opens."""
    for pair in view.pairs:
        sidecar, engine = pair.decode.sidecar, pair.prefill_engine
        if sidecar is None or sidecar.is_open:
            continue
        connectors = engine.kv_transfer.connectors if engine.kv_transfer else ()
        if any(item.name == "MooncakeConnector" for item in connectors):
            yield from _check_mooncake(pair.prefill, engine, pair.decode)
        elif engine.engine == SGLANG and engine.mode == PREFILL:
            yield from _check_sglang(engine, pair.decode)


def _check_mooncake(prefill: PodTemplate, engine: EngineCommand, decode: PodTemplate) -> Iterator[Outcome]:
    sidecar = decode.sidecar
    own = engine.container.env.get("VLLM_MOONCAKE_BOOTSTRAP_PORT")
    if sidecar is None or (own is not None and own.value is None) or engine.container.env_is_open:
        return
    flag = sidecar.command.flag("mooncake-bootstrap-port")
    asked = flag.value if flag else sidecar.container.env_text("MOONCAKE_BOOTSTRAP_PORT")
    asked_port = to_integer(asked) if asked else BOOTSTRAP
    port = to_integer(own.value) if own else BOOTSTRAP
    if port and asked_port and port != asked_port:
        yield Hit(
            sidecar.place_of("mooncake-bootstrap-port"),
            f"the sidecar asks prefill's bootstrap server at port {asked_port}, it listens on {port}",
            evidence=(seen(f"{prefill.title} listens on {port}", own.place if own else engine.place),),
            fix=f"give the sidecar --mooncake-bootstrap-port={port}",
        )


def _check_sglang(engine: EngineCommand, decode: PodTemplate) -> Iterator[Outcome]:
    sidecar = decode.sidecar
    port = engine.integer(BOOTSTRAP, "disaggregation-bootstrap-port")
    if sidecar is None or port is None or sidecar.container.env_is_open:
        return
    found = sidecar.container.env.get("SGLANG_BOOTSTRAP_PORT")
    asked = BOOTSTRAP if found is None else to_integer(found.value)
    if asked and asked != port:
        yield Hit(
            found.place if found else sidecar.place,
            f"the sidecar sends decode to prefill's bootstrap port {asked}, it listens on {port}",
            evidence=(seen(f"prefill listens on {port}", engine.place_of("disaggregation-bootstrap-port")),),
            fix=f"set SGLANG_BOOTSTRAP_PORT to {port} in the sidecar",
        )


def check_tpu_ports(view: View) -> Iterator[Outcome]:
    """PRT015: the two TPU transfer ports differ between prefill and decode."""
    for pair in view.pairs:
        left, right = pair.prefill_engine.container.env, pair.decode_engine.container.env
        for name in ("TPU_SIDE_CHANNEL_PORT", "TPU_KV_TRANSFER_PORT"):
            mine, theirs = left.get(name), right.get(name)
            if mine and theirs and mine.value and theirs.value and mine.value != theirs.value:
                yield Hit(
                    theirs.place, f"{name} is {mine.value} for prefill and {theirs.value} for decode",
                    evidence=(seen("prefill", mine.place),), fix="give both the same port",
                )  # fmt: skip


def check_tls(view: View) -> Iterator[Outcome]:
    """PRT019: the sidecar speaks TLS to a router that doesn't."""
    for template in view.serving:
        sidecar = template.sidecar
        if sidecar is None or sidecar.is_open or sidecar.is_legacy:
            continue
        flag = sidecar.command.flag("secure-serving", "secure-proxy")
        certificates = sidecar.command.flag("cert-path")
        if certificates is None and (flag is None or flag.value.lower() not in _FALSE):
            if not any(pool.selector for pool in view.pools):
                continue
            yield Hit(
                sidecar.place_of("secure-serving", "secure-proxy"),
                f"{template.lead}the routing sidecar serves TLS with its own certificate, the proxy sends plain HTTP",
            )  # fmt: skip


def check_metrics(view: View) -> Iterator[Outcome]:
    """PRT018: an engine that tells the router nothing of its load."""
    for _, _, templates in routed(view):
        for template, engine in engines_of(templates):
            if engine.engine == SGLANG and not engine.is_open and not engine.is_set("enable-metrics"):
                yield Hit(engine.place, f"{template.lead}SGLang serves no metrics: the router sees no load")


def check_write_mode(view: View) -> Iterator[Outcome]:
    """KVT016: MoRI-IO pushes in the engine and pulls in the sidecar, or the other way round."""
    for template, engine in _engines(view):
        sidecar = template.sidecar
        connectors = engine.kv_transfer.connectors if engine.kv_transfer else ()
        mori = next((item for item in connectors if item.name == "MoRIIOConnector"), None)
        if sidecar is None or mori is None or sidecar.is_open:
            continue
        reads = str(mori.extra.get("read_mode", "false")).lower() in ("true", "1")
        flag = sidecar.command.flag("moriio-write-mode")
        writes = flag is not None and flag.value.lower() not in _FALSE
        if reads is writes:
            yield Hit(
                sidecar.place_of("moriio-write-mode"),
                f"{template.lead}the engine {'reads' if reads else 'writes'} KV blocks, "
                f"the sidecar is told to {'write' if writes else 'read'}",
                evidence=(seen(f"read_mode is {str(reads).lower()}", mori.place),),
                fix="remove --moriio-write-mode" if reads else "give the sidecar --moriio-write-mode=true",
            )
        dispatch = sidecar.command.flag("moriio-parallel-dispatch")
        if dispatch is not None and dispatch.value.lower() not in _FALSE and not writes:
            yield Hit(
                sidecar.place_of("moriio-parallel-dispatch"), f"{template.lead}parallel dispatch needs the write mode",
                fix="give the sidecar --moriio-write-mode=true",
            )  # fmt: skip


def check_mori_ports(view: View) -> Iterator[Outcome]:
    """PRT012: MoRI-IO's ports differ between the engine's config, its own port and the sidecar."""
    for template, engine in _engines(view):
        connectors = engine.kv_transfer.connectors if engine.kv_transfer else ()
        for item in connectors:
            port = to_integer(str(item.extra.get("http_port", "")))
            own = engine.http_ports
            if item.name == "MoRIIOConnector" and port and own is not None and port not in own:
                yield Hit(
                    item.place, f"{template.lead}http_port of MoRI-IO is {port}, the engine serves at {own}",
                    fix=f'write "http_port": "{own.first}"',
                )  # fmt: skip


def check_decider(view: View) -> Iterator[Outcome]:
    """KVT013: SGLang's decode servers get requests that were never prefilled."""
    for config, _, templates in routed(view):
        sglang = [template for template, engine in engines_of(templates) if engine.engine == SGLANG and engine.mode]
        if not sglang:
            continue
        for index, plugin in plugins_of(config, "prefix-based-pd-decider"):
            yield Hit(
                config.at(("plugins", index)),
                f"{plugin.instance} leaves out prefill for some requests, and SGLang's decode servers refuse those",
                evidence=(seen("SGLang runs with --disaggregation-mode", sglang[0].place),),
                fix="use always-disagg-pd-decider",
            )


def check_transport(view: View) -> Iterator[Outcome]:
    """KVT010, KVT011: the buffer's memory and the transports of UCX don't fit."""
    for template, engine in _engines(view):
        transports = engine.container.env_text("UCX_TLS")
        connectors = engine.kv_transfer.connectors if engine.kv_transfer else ()
        if not transports or transports == "all" or transports.startswith("^"):
            continue
        names = {part.strip() for part in transports.split(",")}
        for item in connectors:
            backends = item.extra.get("backends")
            if not item.is_nixl or (isinstance(backends, list) and "UCX" not in backends):
                continue
            device = item.buffer_device or "cuda"
            wanted = _COPIES.get(device)
            if wanted and not names & wanted:
                found = engine.container.env["UCX_TLS"]
                yield Hit(
                    found.place, f"{template.lead}UCX_TLS={transports} has no transport for {device} memory",
                    fix=f"add {' or '.join(sorted(wanted))}",
                )  # fmt: skip


_COPIES: dict[str, frozenset[str]] = {
    "cuda": frozenset({"cuda_copy", "cuda_ipc", "cuda", "rocm_copy", "rocm_ipc", "rocm", "gdr_copy"}),
    "xpu": frozenset({"ze_copy", "ze_ipc", "ze"}),
    "cpu": frozenset({"tcp", "rc", "rc_mlx5", "ud", "dc", "ib", "rc_x", "sm", "shm", "posix", "sysv", "self"}),
}


def check_obsolete(view: View) -> Iterator[Outcome]:
    """KVT021: a variable that the engine no longer reads."""
    for template, engine in _engines(view):
        found = engine.container.env.get("VLLM_NIXL_ABORT_REQUEST_TIMEOUT")
        if found is None or engine.engine != VLLM:
            continue
        if engine.version is None:
            yield Skip("the engine's version is unknown, and with it which variables it reads", engine.place)
        elif engine.version.at_least(0, 22):
            yield Hit(
                found.place, f"{template.lead}vLLM {engine.version} no longer reads VLLM_NIXL_ABORT_REQUEST_TIMEOUT",
                fix="use kv_lease_duration in kv_connector_extra_config",
            )  # fmt: skip


def check_recompute(view: View) -> Iterator[Outcome]:
    """KVT015: decode servers recompute what prefill should have sent, on kernels that are slow at it."""
    for template, engine in _engines(view):
        config = engine.json_option("kv-transfer-config")
        policy = config.get("kv_load_failure_policy") if isinstance(config, dict) else None
        backend = engine.text("all2all-backend") or ""
        if policy == "recompute" and backend.endswith("low_latency"):
            yield Hit(
                engine.place_of("kv-transfer-config"),
                f"{template.lead}failed transfers are recomputed by {backend}, made for single tokens",
                fix='use "kv_load_failure_policy": "fail"',
            )


def _rule(
    code: str, severity: Severity, title: str, why: str, fix: str, check: Check, reference: str, needs: str = "engines",
    implies: tuple[str, ...] = (),
) -> Rule:  # fmt: skip
    return Rule(
        code, severity, title, why, fix, (reference,), needs=frozenset({needs}), implies=implies, check=check
    )  # fmt: skip


_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_SIDECAR, _PD = "llm-d-router pkg/sidecar/proxy", "llm-d guides/pd-disaggregation"

HANDOVER_RULES: Iterable[Rule] = (
    _rule(
        "KVT010", _ERROR, "UCX has no transport for the memory that KV blocks are in",
        "UCX takes the buffer for something else, and the engine crashes or never connects",
        "let UCX_TLS hold a transport for the buffer's device, or leave it out", check_transport, "UCX documentation",
    ),
    _rule(
        "KVT013", _ERROR, "SGLang decode servers get requests without prefill",
        "a decode server needs the bootstrap room that only a prefill request makes: it answers 400",
        "split every request", check_decider, "llm-d docs/operations/disaggregation/sglang.md",
    ),
    _rule(
        "KVT014", _WARNING, "prefill closes connections that the sidecar still uses",
        "a request on a connection that was closed meanwhile fails with a reset, now and then and under low load",
        "set VLLM_HTTP_TIMEOUT_KEEP_ALIVE of prefill to 120", check_keep_alive, _PD, needs="pairs",
    ),
    _rule(
        "KVT015", _WARNING, "failed transfers are recomputed on decode kernels",
        "one failed transfer stalls every request of that decode server", "let such requests fail and be sent again",
        check_recompute, "llm-d docs/operations/disaggregation/vllm.md",
    ),
    _rule(
        "KVT016", _ERROR, "MoRI-IO writes on one side and reads on the other",
        "prefill waits for a handshake that nobody begins, and requests hang",
        "use the same mode in engine and sidecar",
        check_write_mode, f"{_SIDECAR}/options.go",
    ),
    _rule(
        "KVT021", _INFO, "the engine ignores a variable of older versions",
        "the time-out that you mean is not in force",
        "use what replaced it", check_obsolete, "vLLM docs, NIXL connector",
    ),
    _rule(
        "PRT009", _ERROR, "NIXL tells peers a wrong address",
        "decode servers dial localhost or one pod for the KV blocks of all, and the handshake fails",
        "set VLLM_NIXL_SIDE_CHANNEL_HOST from status.podIP", check_channel_host, "vLLM docs, NIXL connector",
    ),
    _rule(
        "PRT012", _ERROR, "MoRI-IO is told another port than the engine serves at",
        "the acknowledgement of a transfer goes to a closed port, and the request ends in 504",
        "write the engine's port into http_port", check_mori_ports, f"{_SIDECAR}/options.go",
    ),
    _rule(
        "PRT013", _ERROR, "the sidecar asks for the bootstrap server at a port where none is",
        "decode never learns where prefill's blocks are: requests end in 502 or time out",
        "give sidecar and prefill the same bootstrap port", check_bootstrap, f"{_SIDECAR}/connector_mooncake.go",
        needs="pairs",
    ),
    _rule(
        "PRT015", _ERROR, "TPU transfer ports differ between prefill and decode", "the KV transfer does not connect",
        "give both roles the same ports", check_tpu_ports, f"{_PD}/modelserver/tpu", needs="pairs",
    ),
    _rule(
        "PRT018", _ERROR, "an engine serves no metrics",
        "queue and cache scorers see zeros for it, and it gets as many requests as the idle ones",
        "give SGLang --enable-metrics", check_metrics, "SGLang server arguments", needs="configs",
    ),
    _rule(
        "PRT019", _ERROR, "the sidecar serves TLS where plain HTTP is sent",
        "every request ends in a handshake error, unless the proxy was given a way to speak TLS to pods",
        "give the sidecar --secure-serving=false (--secure-proxy=false up to 0.10), or certificates", check_tls,
        f"{_SIDECAR}/options.go",
    ),
)  # fmt: skip
