"""A container: image, ports, probes, environment, and what it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from llmdctl.findings import Place
from llmdctl.findings.frozen import frozen
from llmdctl.view.lazy import lazy
from llmdctl.view.node import Node

_REFERENCE = re.compile(r"\$(\$|\(([A-Za-z_][-A-Za-z0-9_.]*)\))")
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


@frozen
class Port:
    """A declared container port. `name` is "" and `number` None where the manifest has none of a right type."""

    name: str
    number: int | None
    node: Node

    @property
    def place(self) -> Place:
        """Where the port is declared."""
        return self.node.place


@frozen
class Probe:
    """A probe that connects to a port. `port` is its number, its name, or None; `kind` is the field's name."""

    kind: str
    port: int | str | None
    node: Node

    @property
    def place(self) -> Place:
        """Where the port is named."""
        return self.node.place


@frozen
class EnvValue:
    """An environment variable. `value` is None where only the cluster knows it; `field` is a fieldRef's path."""

    value: str | None
    node: Node
    field: str = ""

    @property
    def place(self) -> Place:
        """Where the variable is set."""
        return self.node.place


def expand(text: str, values: Mapping[str, EnvValue]) -> str | None:
    """`text` with `$(NAME)` replaced as the kubelet does; None when it needs a value that only the cluster knows.

    A reference to a variable that doesn't exist stays as it is written, and `$$` is one dollar sign.
    """
    if "$" not in text:
        return text
    out: list[str] = []
    end = 0
    for match in _REFERENCE.finditer(text):
        out.append(text[end : match.start()])
        end = match.end()
        if match[2] is None:
            out.append("$")
        elif match[2] not in values:
            out.append(match[0])
        else:
            value = values[match[2]].value
            if value is None:
                return None
            out.append(value)
    return "".join(out) + text[end:]


class Container:
    """One container of a pod template. `is_init` and `is_sidecar` tell init containers and native sidecars apart."""

    def __init__(self, node: Node, *, init: bool, injected: Mapping[str, str | None]) -> None:
        self.node = node
        self.is_init = init
        self.is_sidecar = init and node.at("restartPolicy").text() == "Always"
        self._injected = injected

    @property
    def place(self) -> Place:
        """Where the container stands."""
        return self.node.place

    def at(self, *steps: str | int) -> Place:
        """A place inside the container."""
        return self.node.document.place(*self.node.path, *steps)

    @lazy
    def name(self) -> str:
        """The container's name, or ""."""
        return self.node.at("name").text()

    @lazy
    def image(self) -> str:
        """The image reference, or ""."""
        return self.node.at("image").text()

    @property
    def keeps_running(self) -> bool:
        """True when it runs beside the others: an ordinary container or a native sidecar."""
        return self.is_sidecar or not self.is_init

    @lazy
    def ports(self) -> list[Port]:
        """The declared ports."""
        return [
            Port(item.at("name").text(), item.at("containerPort").integer(), item)
            for item in self.node.at("ports").items()
        ]

    def port_named(self, name: str) -> Port | None:
        """The declared port of that name."""
        return next((port for port in self.ports if port.name == name), None)

    @lazy
    def probes(self) -> list[Probe]:
        """The HTTP, TCP and gRPC probes."""
        return list(self._probes())

    def _probes(self) -> Iterator[Probe]:
        for kind in _PROBES:
            probe = self.node.at(kind)
            for handler in ("httpGet", "tcpSocket", "grpc") if probe.exists else ():
                port = probe.at(handler, "port")
                if port.exists:
                    number = port.integer()
                    yield Probe(kind, number if number is not None else (port.text() or None), port)

    @lazy
    def env(self) -> dict[str, EnvValue]:
        """The environment as the process gets it, in the kubelet's order: a later value may use an earlier one.

        What envFrom brings in is not here: see `env_is_open`.
        """
        # LWS puts its variables first and drops a user's variable of the same name.
        values = {name: EnvValue(value, self.node) for name, value in self._injected.items()}
        for item in self.node.at("env").items():
            name = item.at("name").text()
            if not name or name in self._injected:
                continue
            source = item.at("valueFrom")
            if source.exists:
                values[name] = EnvValue(None, item, source.at("fieldRef", "fieldPath").text())
            else:
                values[name] = EnvValue(expand(item.at("value").text(), values), item)
        return values

    @property
    def env_is_open(self) -> bool:
        """True when a ConfigMap or Secret may add more variables."""
        return any(True for _ in self.node.at("envFrom").items())

    def env_text(self, name: str) -> str | None:
        """The value of a variable, or None when it is absent or only known in the cluster."""
        found = self.env.get(name)
        return found.value if found else None

    @lazy
    def command(self) -> list[str]:
        """The entry point as written; empty when the image's own is used."""
        return self.node.at("command").strings() or []

    @lazy
    def args(self) -> list[str]:
        """The arguments as written."""
        return self.node.at("args").strings() or []
