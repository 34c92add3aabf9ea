"""An engine's command line with its meaning: model, ports, parallelism, KV transfer. The flags come from `engines`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llmdctl.engines import FlagTable, Invocation, Opaque, Option, ParsedArgs
from llmdctl.engines.defaults import (
    DATA_PARALLEL_RPC_PORT,
    HTTP_PORTS,
    NIXL_SIDE_CHANNEL_PORT,
    SGLANG_BOOTSTRAP_PORT,
    SUPERVISOR_PORT,
)
from llmdctl.findings import Place
from llmdctl.findings.versions import Version
from llmdctl.view.container import Container
from llmdctl.view.flags import to_integer
from llmdctl.view.lazy import lazy
from llmdctl.view.ports import Listener, PortRange
from llmdctl.view.transfer import KvTransfer, read_kv_transfer

VLLM = "vllm"
SGLANG = "sglang"
TRTLLM = "trtllm"

# VLLM_MOONCAKE_BOOTSTRAP_PORT of vLLM (envs.py).
_MOONCAKE_PORT = 8998
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class EngineCommand:
    """What an engine container runs. Numbers are None when the manifest doesn't tell them for certain.

    Flags are named as the engine names them, without dashes; short forms are asked for beside the long ones, since
    they are told apart only where a flag table is known.
    """

    def __init__(
        self,
        container: Container,
        invocation: Invocation,
        parsed: ParsedArgs,
        version: Version | None,
        table: FlagTable | None,
    ) -> None:
        self.container = container
        self.engine = invocation.engine
        self.version = version
        self.parsed = parsed
        self.table = table
        self._invocation = invocation

    @property
    def place(self) -> Place:
        """Where the command line stands."""
        return self.container.at(self._invocation.program.field, self._invocation.program.index)

    @lazy
    def is_open(self) -> bool:
        """True when the process may get flags that can't be read here: a config file, or words a shell puts in."""
        if self.parsed.last("config", "extra_llm_api_options") is not None:
            return True
        return any(isinstance(word, Opaque) for word in self.parsed.positionals)

    def option(self, *names: str) -> Option | None:
        """The option that counts among these flags, as given; None when none is."""
        return self.parsed.last(*names)

    def place_of(self, *names: str) -> Place:
        """Where a flag stands; where the command line stands when it isn't given."""
        found = self.option(*names)
        return self._place_at(found.index) if found else self.place

    def _place_at(self, index: int) -> Place:
        sources = self._invocation.sources
        if not 0 <= index < len(sources):
            return self.place
        return self.container.at(sources[index].field, sources[index].index)

    def place_at(self, option: Option) -> Place:
        """Where an option stands."""
        return self._place_at(option.index)

    @property
    def end(self) -> Place | None:
        """Where one more argument would stand; None when the command line does not end with the container's args."""
        last = len(self.container.args) - 1
        words = self._invocation.sources or (self._invocation.program,)
        if words[-1].field != "args" or words[-1].index != last or any(word.in_shell for word in words):
            return None
        return self.container.at("args", last + 1)

    def text(self, *names: str) -> str | None:
        """A flag's text; None when it isn't given or unknown."""
        return self.parsed.get_str(*names)

    def is_unknown(self, *names: str) -> bool:
        """True when a flag may have a value that can't be read here."""
        return self.parsed.is_opaque(*names) or (self.is_open and self.option(*names) is None)

    def is_set(self, *names: str) -> bool:
        """True for a switch that is given and not negated."""
        return self.parsed.get_bool(*names, default=False) is True

    def integer(self, default: int | None, *names: str) -> int | None:
        """A number; `default` when none of the flags is given, None when it is unknown or no sensible number."""
        if self.option(*names) is None:
            return None if self.is_open else default
        value = self.parsed.get_int(*names)
        return value if value is not None and 0 <= value < 10**9 else None

    @lazy
    def _model(self) -> tuple[str | None, Place]:
        names = ("model",) if self.engine == VLLM else ("model-path", "model")
        found = self.option(*names)
        if found is not None:
            return found.value, self._place_at(found.index)
        if self.parsed.positionals and isinstance(self.parsed.positionals[0], str):
            return self.parsed.positionals[0], self._place_of_word(self.parsed.positionals[0])
        return None, self.place

    def _place_of_word(self, word: str) -> Place:
        return self._place_at(self._invocation.argv.index(word)) if word in self._invocation.argv else self.place

    @property
    def model(self) -> str | None:
        """The model as given on the command line: a hub id or a path."""
        return self._model[0]

    @property
    def model_place(self) -> Place:
        """Where the model is named."""
        return self._model[1]

    @lazy
    def tensor_parallel(self) -> int | None:
        """Ranks that share one layer's weights."""
        return self.integer(1, "tensor-parallel-size", "tp-size", "tp", "tensor_parallel_size")

    @lazy
    def attention_tensor_parallel(self) -> int | None:
        """Ranks that share one request's KV heads: SGLang's DP attention divides them (conn.py)."""
        tensor = self.tensor_parallel
        if self.engine != SGLANG or tensor is None:
            return tensor
        context = self.integer(1, "attn-cp-size", "attention-context-parallel-size")
        data = self.integer(1, "attn-dp-size")
        if self.is_set("enable-dp-attention") and self.option("attn-dp-size") is None:
            data = self.data_parallel
        if not data or not context or tensor % (data * context):
            return None
        return tensor // (data * context)

    @lazy
    def data_parallel(self) -> int | None:
        """Engine replicas that serve one model together, over all pods of a group."""
        return self.integer(1, "data-parallel-size", "dp-size", "dp")

    @lazy
    def local_data_parallel(self) -> int | None:
        """Engine replicas in this pod."""
        if self.engine == VLLM and self.option("data-parallel-size-local", "dpl") is not None:
            return self.integer(1, "data-parallel-size-local", "dpl")
        return self.data_parallel

    @property
    def is_headless(self) -> bool:
        """True when it serves no requests itself: a worker of another pod's server."""
        if self.engine == SGLANG:
            return (self.parsed.get_int("node-rank", default=0) or 0) > 0
        return self.is_set("headless")

    @property
    def has_supervisor(self) -> bool:
        """True when every local rank has a port of its own, under vLLM's supervisor."""
        return self.engine == VLLM and self.is_set("data-parallel-multi-port-external-lb")

    @lazy
    def http_ports(self) -> PortRange | None:
        """The ports that it answers requests on; None when unknown. Check `is_headless` first."""
        port = self.integer(HTTP_PORTS.get(self.engine), "port")
        if port is None:
            return None
        if not self.has_supervisor:
            return PortRange(port)
        count = self.local_data_parallel
        return PortRange(port, count) if count else None

    @lazy
    def is_loopback_only(self) -> bool:
        """True when it listens on the loopback interface only; SGLang does unless told otherwise (serving.py)."""
        host = self.option("host")
        if host is None:
            return self.engine == SGLANG and not self.is_open
        return host.value in _LOOPBACK

    @lazy
    def block_size(self) -> int | None:
        """Tokens a KV block as given on the command line; None when left to the engine or unknown."""
        return self.integer(None, "page-size" if self.engine == SGLANG else "block-size")

    @property
    def mode(self) -> str:
        """SGLang's --disaggregation-mode: prefill, decode or ""."""
        value = self.text("disaggregation-mode") if self.engine == SGLANG else None
        return "" if value in (None, "null") else str(value)

    def json_option(self, name: str) -> Any:
        """The parsed JSON of a flag; None when it isn't given, unknown or no JSON.

        Words that only the pod knows (`$(POD_IP)`) stay in its strings as written.
        """
        found = self.option(name)
        if found is not None and len(found.values) == 1 and isinstance(found.values[0], Opaque):
            return _json(found.values[0].text)
        try:
            return self.parsed.get_json(name)
        except RecursionError:
            return None

    @lazy
    def kv_transfer(self) -> KvTransfer | None:
        """vLLM's KV transfer configuration; None when there is none, or none that can be read."""
        if self.engine != VLLM:
            return None
        return read_kv_transfer(self.json_option("kv-transfer-config"), self.place_of("kv-transfer-config"))

    @property
    def kv_transfer_is_unknown(self) -> bool:
        """True when a configuration may be there that can't be read."""
        if self.engine != VLLM or self.kv_transfer is not None:
            return False
        return self.is_open or self.option("kv-transfer-config") is not None

    @lazy
    def listeners(self) -> list[Listener]:
        """Every port it is known to bind."""
        return list(self._listeners())

    def _listeners(self) -> Iterator[Listener]:
        if self.http_ports and not self.is_headless:
            yield Listener(f"the {self.engine} server", self.http_ports, self.place_of("port"), http=True)
        if self.engine == VLLM:
            yield from self._vllm_listeners()
        if self.engine == SGLANG and self.mode == "prefill":
            port = self.integer(SGLANG_BOOTSTRAP_PORT, "disaggregation-bootstrap-port")
            if port:
                place = self.place_of("disaggregation-bootstrap-port")
                yield Listener("SGLang's bootstrap server", PortRange(port), place)
        yield from self._event_listeners()

    def _vllm_listeners(self) -> Iterator[Listener]:
        if self.has_supervisor:
            port = self.integer(SUPERVISOR_PORT, "data-parallel-supervisor-port")
            if port:
                place = self.place_of("data-parallel-supervisor-port")
                yield Listener("the data-parallel supervisor", PortRange(port), place, http=True)
        if (self.data_parallel or 1) > 1:
            port = self.integer(DATA_PARALLEL_RPC_PORT, "data-parallel-rpc-port")
            if port:
                yield Listener("data-parallel RPC", PortRange(port), self.place_of("data-parallel-rpc-port"))
        grpc = self.integer(None, "grpc-port")
        if grpc:
            yield Listener("the gRPC server", PortRange(grpc), self.place_of("grpc-port"))
        yield from self._transfer_listeners()

    def _transfer_listeners(self) -> Iterator[Listener]:
        connectors = self.kv_transfer.connectors if self.kv_transfer else ()
        if any(connector.is_nixl for connector in connectors):
            yield from self._env_listener(
                "the NIXL side channel", "VLLM_NIXL_SIDE_CHANNEL_PORT", NIXL_SIDE_CHANNEL_PORT
            )
        if any(item.name == "MooncakeConnector" and item.role != "kv_consumer" for item in connectors):
            yield from self._env_listener(
                "the Mooncake bootstrap server", "VLLM_MOONCAKE_BOOTSTRAP_PORT", _MOONCAKE_PORT, ranks=False
            )

    def _env_listener(self, what: str, name: str, default: int, *, ranks: bool = True) -> Iterator[Listener]:
        found = self.container.env.get(name)
        if found is None and self.container.env_is_open:
            return
        port = to_integer(found.value) if found else default
        count = self._ranks_bound() if ranks else 1
        if port and count:
            yield Listener(what, PortRange(port, count), found.place if found else self.place)

    def _ranks_bound(self) -> int | None:
        # Side channels take base + global rank: the first pod's range is the one that is known.
        return self.local_data_parallel or None

    def _event_listeners(self) -> Iterator[Listener]:
        config = self.json_option("kv-events-config")
        if not isinstance(config, Mapping) or config.get("publisher") in (None, "null"):
            return
        for key in ("endpoint", "replay_endpoint"):
            endpoint = config.get(key)
            if isinstance(endpoint, str) and "*" in endpoint:
                port = to_integer(endpoint.rpartition(":")[2])
                if port:
                    place = self.place_of("kv-events-config")
                    yield Listener("KV events", PortRange(port, self._ranks_bound() or 1), place)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
