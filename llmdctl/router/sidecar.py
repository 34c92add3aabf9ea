"""The disaggregation sidecar's flags by version (llm-d-router cmd/pd-sidecar, pkg/sidecar/proxy/options.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.findings.versions import Version

DEFAULT_PORT = 8000
DEFAULT_CONNECTOR = "nixlv2"
CONNECTORS = ("nixlv2", "shared-storage", "sglang", "mooncake", "offloading")

MODEL_SERVER_PORT_SINCE = (0, 10)
"""--model-server-port exists, and the default engine port is 8200 instead of 8001."""

SECURE_SERVING_SINCE = (0, 11)
"""--secure-serving exists; --secure-proxy stays as a deprecated alias. Sidecars up to 0.10 refuse the new name."""

REMOVED = {
    "connector": "kv-connector",
    "prefiller-use-tls": "enable-tls=prefiller",
    "decoder-use-tls": "enable-tls=decoder",
    "prefiller-tls-insecure-skip-verify": "tls-insecure-skip-verify=prefiller",
    "decoder-tls-insecure-skip-verify": "tls-insecure-skip-verify=decoder",
    "inference-pool-name": "inference-pool",
    "inference-pool-namespace": "inference-pool",
}
"""Flags that 0.10 and newer refuse, with what to write instead."""

BOOLEANS = frozenset(
    {
        "secure-proxy",
        "secure-serving",
        "enable-prefiller-sampling",
        "enable-ssrf-protection",
        "enable-p2p-pull",
        "enable-speculative-prefill",
        "tracing",
        "moriio-write-mode",
        "moriio-parallel-dispatch",
    }
)


@frozen
class SidecarFlag:
    """A flag as given. `value` is "" for a bare switch; `index` its place in the arguments."""

    name: str
    value: str
    index: int


@frozen
class Sidecar:
    """A parsed command line. Numbers are None when they are given but not readable."""

    flags: tuple[SidecarFlag, ...]
    version: Version | None

    def flag(self, *names: str) -> SidecarFlag | None:
        """The last flag given under one of these names."""
        return next((flag for flag in reversed(self.flags) if flag.name in names), None)

    @property
    def port(self) -> int | None:
        """Where it listens."""
        return self._number(DEFAULT_PORT, "port")

    @property
    def model_server_port(self) -> int | None:
        """Where it sends requests; None when it is not given and the version, and so the default, is unknown."""
        default = default_model_server_port(self.version)
        # The new name wins over the old one, whatever their order (options.go).
        if self.flag("model-server-port"):
            return self._number(default, "model-server-port")
        return self._number(default, "vllm-port")

    @property
    def data_parallel_size(self) -> int | None:
        """Consecutive ports that it opens."""
        return self._number(1, "data-parallel-size")

    @property
    def kv_connector(self) -> str:
        """The protocol of KV transfer."""
        flag = self.flag("kv-connector", "connector")
        return flag.value if flag else DEFAULT_CONNECTOR

    def _number(self, default: int | None, *names: str) -> int | None:
        flag = self.flag(*names)
        if flag is None:
            return default
        return int(flag.value) if flag.value.isascii() and flag.value.isdigit() else None


def default_model_server_port(version: Version | None) -> int | None:
    """8001 up to 0.9, 8200 from 0.10 on, None for an unknown version."""
    if version is None:
        return None
    return 8200 if version.at_least(*MODEL_SERVER_PORT_SINCE) else 8001


def parse_sidecar(args: Sequence[str], version: Version | None) -> Sidecar:
    """Reads a sidecar's arguments: `--flag=value`, `--flag value`, bare switches."""
    flags: list[SidecarFlag] = []
    index = 0
    while index < len(args):
        word = args[index]
        if not word.startswith("-"):
            index += 1
            continue
        name, equals, value = word.lstrip("-").partition("=")
        used = 1
        following = args[index + 1] if index + 1 < len(args) else None
        if not equals and name not in BOOLEANS and following is not None and not following.startswith("-"):
            value, used = following, 2
        flags.append(SidecarFlag(name, value, index))
        index += used
    return Sidecar(tuple(flags), version)


def sidecar_args(
    version: str,
    *,
    port: int,
    model_server_port: int,
    kv_connector: str,
    secure_serving: bool,
    data_parallel_size: int = 1,
    zap_log_level: str = "",
    extra: Mapping[str, Any] | None = None,
) -> list[str]:
    """The arguments of a sidecar in the flag names of its version. An unknown version gets the newest names.

    `extra` are further flags by name, without dashes.
    """
    known = Version.parse(version)
    new_port = known is None or known.at_least(*MODEL_SERVER_PORT_SINCE)
    new_tls = known is None or known.at_least(*SECURE_SERVING_SINCE)
    args = [
        f"--port={port}",
        f"--{'model-server-port' if new_port else 'vllm-port'}={model_server_port}",
        f"--kv-connector={kv_connector}",
    ]
    if data_parallel_size > 1:
        args.append(f"--data-parallel-size={data_parallel_size}")
    if zap_log_level:
        args.append(f"--zap-log-level={zap_log_level}")
    for name, value in (extra or {}).items():
        written = str(value).lower() if isinstance(value, bool) else value
        args.append(f"--{name}={written}")
    args.append(f"--{'secure-serving' if new_tls else 'secure-proxy'}={'true' if secure_serving else 'false'}")
    return args
