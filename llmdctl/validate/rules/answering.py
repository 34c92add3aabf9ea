"""Which ports of a pod answer inference requests, as far as the manifest tells."""

from __future__ import annotations

from llmdctl.view import Container, PodTemplate, PortRange


def answering_ports(template: PodTemplate) -> tuple[list[PortRange], str]:
    """The ports that answer requests from outside, and why there may be more ("" when there can't be).

    A routing sidecar answers in front of the engine, and then only it counts. Containers that we don't know count with
    the ports that they declare.
    """
    ports = [PortRange(number) for container in template.others for number in numbers(container)]
    if template.sidecar is not None:
        listens = template.sidecar.listens
        return ([listens, *ports], "") if listens else (ports, "the routing sidecar's port is not known")
    if not template.engines:
        return ports, "no engine command is known in these pods"
    reason = ""
    for engine in template.engines:
        if engine.is_headless or engine.is_loopback_only:
            continue
        if engine.http_ports is None:
            reason = "the engine's port is only known in the running pod"
        else:
            ports.append(engine.http_ports)
    return ports, reason


def numbers(container: Container) -> list[int]:
    """The port numbers that a container declares."""
    return [port.number for port in container.ports if port.number is not None]
