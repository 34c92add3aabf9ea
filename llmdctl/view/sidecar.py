"""The routing sidecar of llm-d's router: where it listens, where it forwards to, how it moves KV blocks."""

from __future__ import annotations

from llmdctl.findings import Place
from llmdctl.findings.versions import Version
from llmdctl.router.sidecar import Sidecar as Command
from llmdctl.router.sidecar import parse_sidecar
from llmdctl.view.container import Container, expand
from llmdctl.view.flags import to_integer
from llmdctl.view.lazy import lazy
from llmdctl.view.ports import Listener, PortRange
from llmdctl.view.versions import image_component, image_version

# llm-d-routing-sidecar came before the router's repository: all its versions have the oldest defaults.
_LEGACY = Version((0, 0, 0), "llm-d-routing-sidecar")

_P2P_PORT = 7777


class Sidecar:
    """A container that runs the routing sidecar (llm-d-router cmd/pd-sidecar)."""

    def __init__(self, container: Container, stated: Version | None) -> None:
        self.container = container
        self._stated = stated

    @property
    def place(self) -> Place:
        """Where the container stands."""
        return self.container.place

    @lazy
    def version(self) -> Version | None:
        """The sidecar's version, None when neither an option, an annotation nor the image tells."""
        return self._stated or image_version(self.container.image, "sidecar")

    @property
    def is_legacy(self) -> bool:
        """True for the image of the time before the router's repository (llm-d-routing-sidecar)."""
        return image_component(self.container.image) == "legacy-sidecar"

    @lazy
    def command(self) -> Command:
        """Its parsed command line; indices are those of `args`."""
        words = [expand(word, self.container.env) or word for word in self.container.args]
        return parse_sidecar(words, _LEGACY if self.is_legacy else self.version)

    def place_of(self, *names: str) -> Place:
        """Where a flag stands; where the arguments stand when it isn't given."""
        flag = self.command.flag(*names)
        return self.container.at("args", flag.index) if flag else self.container.at("args")

    @lazy
    def is_open(self) -> bool:
        """True when a configuration file or text may set what the flags don't say."""
        return self.command.flag("configuration", "configuration-file") is not None

    @lazy
    def fan_out(self) -> int | None:
        """How many consecutive ports it opens, one a data-parallel rank; None when unknown."""
        if self.is_open and self.command.flag("data-parallel-size") is None:
            return None
        return self.command.data_parallel_size

    @lazy
    def listens(self) -> PortRange | None:
        """The ports it serves requests on; None when unknown."""
        return self._range(self.command.port, "port")

    @lazy
    def forwards_to(self) -> PortRange | None:
        """The engine's ports that it forwards to; None when neither a flag nor the version tells."""
        return self._range(self.command.model_server_port, "model-server-port", "vllm-port")

    def _range(self, first: int | None, *names: str) -> PortRange | None:
        if first is None or not self.fan_out or (self.is_open and self.command.flag(*names) is None):
            return None
        return PortRange(first, self.fan_out)

    @property
    def states_engine_port(self) -> bool:
        """True when a flag says where it forwards to."""
        return self.command.flag("model-server-port", "vllm-port") is not None

    @lazy
    def connector(self) -> str | None:
        """The KV transfer protocol it speaks; None when unknown."""
        if self.is_open and self.command.flag("kv-connector", "connector") is None:
            return None
        value = self.command.kv_connector
        return None if "$(" in value else value

    @lazy
    def listeners(self) -> list[Listener]:
        """Everything it binds."""
        out = []
        if self.listens:
            out.append(Listener("the routing sidecar", self.listens, self.place_of("port"), http=True))
        metrics = self._number("metrics-port", 0)
        if metrics:
            out.append(Listener("the sidecar's metrics server", PortRange(metrics), self.place_of("metrics-port")))
        pull = self.command.flag("enable-p2p-pull")
        port = self._number("p2p-connector-port", _P2P_PORT)
        if pull and pull.value.lower() not in ("false", "0", "f") and port and self.fan_out:
            place = self.place_of("p2p-connector-port")
            out.append(Listener("the sidecar's P2P connector", PortRange(port, self.fan_out), place))
        return out

    def _number(self, name: str, default: int) -> int | None:
        flag = self.command.flag(name)
        return to_integer(flag.value) if flag else default


def is_sidecar(container: Container) -> bool:
    """True for a container that runs the routing sidecar, by its image or its program."""
    if image_component(container.image) in ("sidecar", "legacy-sidecar"):
        return True
    program = (container.command or [""])[0].rpartition("/")[2]
    return program == "pd-sidecar" or (container.is_sidecar and container.name == "routing-proxy")
