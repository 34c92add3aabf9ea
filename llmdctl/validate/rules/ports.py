"""PRT: ports of pools, engines, sidecars and probes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from llmdctl.findings import Edit, Hit, Outcome, Rule, Severity, Skip
from llmdctl.validate.rules.answering import answering_ports, numbers
from llmdctl.validate.rules.evidence import seen
from llmdctl.validate.rules.mend import flag_added, name_corrected, number_replaced
from llmdctl.view import Container, EngineCommand, PodTemplate, Pool, PortRange, TargetPort, View
from llmdctl.view.container import Probe
from llmdctl.view.networking import PortReference
from llmdctl.view.ports import MAX_PORT, Listener

MAX_TARGET_PORTS = 8


def check_target_ports(view: View) -> Iterator[Outcome]:
    """PRT001: a pool's target port that a selected pod doesn't serve."""
    for pool in view.pools:
        templates = list(view.selected(pool.selector, pool.document)) if pool.selector else []
        for template in templates:
            yield from _check_target_ports(pool, template, alone=len(templates) == 1)


def _check_target_ports(pool: Pool, template: PodTemplate, *, alone: bool) -> Iterator[Outcome]:
    answers, reason = answering_ports(template)
    dead = [
        port
        for port in pool.target_ports
        if port.number is not None and not any(port.number in ports for ports in answers)
    ]
    if dead and reason:
        yield Skip(reason, template.place)
        return
    past = [port for port in dead if template.sidecar and any(port.number in item.ports for item in _http(template))]
    if past:
        yield _bypass(past[0], template)
    refused = [port for port in dead if port not in past]
    if not refused:
        return
    numbers = ", ".join(str(port.number) for port in refused)
    served = ", ".join(map(str, answers)) or "none"
    yield Hit(
        refused[0].place,
        f"requests go to port {numbers}, where {template.workload.title} serves none",
        evidence=tuple(seen(f"{item.what} listens on {item.ports}", item.at) for item in _http(template))
        or (seen(f"ports that answer requests: {served}", template.place),),
        fix=f"use target port {', '.join(map(str, answers))}"
        if answers
        else "select only the pods that serve requests",
        edits=_only_port(pool, answers) if alone else (),
    )


def _only_port(pool: Pool, answers: Sequence[PortRange]) -> tuple[Edit, ...]:
    """The one port that the one template answers on, for a pool with one target port."""
    if len(pool.target_ports) != 1 or len(answers) != 1 or answers[0].count != 1:
        return ()
    port = pool.target_ports[0]
    return number_replaced(port.place, port.number, answers[0].first) if port.number is not None else ()


def _bypass(port: TargetPort, template: PodTemplate) -> Hit:
    sidecar = template.sidecar
    listens = sidecar.listens if sidecar else None
    return Hit(
        port.place,
        f"requests go to port {port.number} of {template.workload.title}, past the routing sidecar on {listens}",
        why="only the sidecar asks a prefill server first; the engine takes such requests alone",
        fix=f"use target port {listens.first}" if listens else "use the sidecar's port",
    )


def _http(template: PodTemplate) -> list[Listener]:
    return [listener for listener in template.listeners if listener.http]


PRT001 = Rule(
    code="PRT001",
    severity=Severity.ERROR,
    title="a target port of a pool is not served by its pods",
    why="each target port of each pod is an endpoint of its own: requests sent to a port without a server are refused",
    fix="make targetPorts the port of the engine, or of the routing sidecar where there is one",
    references=("gateway-api-inference-extension api/v1/inferencepool_types.go", "llm-d guides/*/router/*.values.yaml"),
    needs=frozenset({"pools", "engines"}),
    check=check_target_ports,
)


def check_port_count(view: View) -> Iterator[Outcome]:
    """PRT002: no, too many or repeated target ports."""
    for pool in view.pools:
        numbers = [port.number for port in pool.target_ports if port.number is not None]
        place = pool.at("spec", "targetPortNumber" if pool.is_old else "targetPorts")
        if not pool.target_ports:
            yield Hit(place, "the pool has no target port")
        elif len(pool.target_ports) > MAX_TARGET_PORTS:
            yield Hit(place, f"the pool has {len(pool.target_ports)} target ports, {MAX_TARGET_PORTS} are allowed")
        repeated = [str(number) for number, count in Counter(numbers).items() if count > 1]
        if repeated:
            yield Hit(place, f"target port {', '.join(repeated)} is named more than once")


PRT002 = Rule(
    code="PRT002",
    severity=Severity.ERROR,
    title="a pool has no, too many or repeated target ports",
    why="the API server refuses the pool; each target port stands for one data-parallel rank of a pod",
    fix="list each rank's port once; more than eight ranks a pod need vLLM's hybrid load balancing and one port",
    references=("gateway-api-inference-extension api/v1/inferencepool_types.go",),
    needs=frozenset({"pools"}),
    # The schema sees the same fault in the same field and says less.
    implies=("SCH003", "SCH004", "SCH005", "CEL001"),
    check=check_port_count,
)


def check_engine_port(view: View) -> Iterator[Outcome]:
    """PRT004: the sidecar or a probe dials a port that the engine doesn't listen on."""
    for template in view.serving:
        engine = template.engine
        if engine is None or engine.is_headless:
            continue
        if template.sidecar is not None:
            yield from _check_forwarding(template, engine)
        yield from _check_probes(template, engine)


_UNKNOWN_STATED = "the port that the sidecar forwards to is only known in the running pod"
_UNKNOWN_DEFAULT = "the sidecar's version is unknown, and so is the port it forwards to when no flag says so"


def _check_forwarding(template: PodTemplate, engine: EngineCommand) -> Iterator[Outcome]:
    sidecar, listens = template.sidecar, engine.http_ports
    if sidecar is None:
        return
    if sidecar.forwards_to is None:
        reason = "the sidecar's version is unknown, and so is the port it forwards to when no flag says so"
        yield Skip(
            reason if not sidecar.states_engine_port else "the sidecar's engine port is not known", sidecar.place
        )
    elif listens is None:
        yield Skip("the engine's port is only known in the running pod", engine.place)
    elif sidecar.forwards_to.first != listens.first or sidecar.forwards_to.last > listens.last:
        target = sidecar.forwards_to
        stated = "" if sidecar.states_engine_port else f" (the default of sidecar {sidecar.version or 'of that time'})"
        yield Hit(
            sidecar.place_of("model-server-port", "vllm-port"),
            f"{template.lead}the routing sidecar forwards to port {target}{stated}, the engine listens on {listens}",
            evidence=(seen(f"the {engine.engine} server listens on {listens}", engine.place_of("port")),),
            fix=_forwarding_fix(sidecar.listens, target, listens),
            edits=_forwarding_edits(sidecar.listens, target, listens, engine),
        )


def _forwarding_fix(own: PortRange | None, target: PortRange, listens: PortRange) -> str:
    if own is not None and own.overlaps(listens):
        return f"give the engine --port={target.first}: the routing sidecar itself listens on {own}"
    if target.first != listens.first:
        return f"give the routing sidecar the engine's port {listens.first}, or the engine --port={target.first}"
    return f"give the routing sidecar --data-parallel-size={listens.count}, as many as the engine has ports"


def _forwarding_edits(
    own: PortRange | None, target: PortRange, listens: PortRange, engine: EngineCommand
) -> tuple[Edit, ...]:
    """The engine's port, when the engine states none and the port that it takes by itself is the sidecar's."""
    if own is None or not own.overlaps(listens) or own.overlaps(target) or engine.option("port") is not None:
        return ()
    return flag_added(engine, f"--port={target.first}")


def _check_probes(template: PodTemplate, engine: EngineCommand) -> Iterator[Outcome]:
    if engine.http_ports is None or engine.is_open:
        return
    bound = [listener.ports for listener in template.listeners]
    bound += [PortRange(port) for item in template.others for port in numbers(item)]
    done: set[int] = set()
    for probe in engine.container.probes:
        number = _probed(engine.container, probe)
        if number is not None and number not in done and not any(number in ports for ports in bound):
            done.add(number)
            yield Hit(
                probe.place,
                f"{template.lead}the {probe.kind} of {engine.container.name} asks port {number}, the engine listens on "
                f"{engine.http_ports}",
                why="the probe is refused for ever: the pod never becomes ready, or is restarted again and again",
                fix=f"probe port {engine.http_ports.first}, and declare it as containerPort",
                edits=number_replaced(probe.place, probe.port, engine.http_ports.first)
                if isinstance(probe.port, int) and engine.http_ports.count == 1
                else (),
                evidence=(seen(f"the engine listens on {engine.http_ports}", engine.place_of("port")),),
            )


def _probed(container: Container, probe: Probe) -> int | None:
    if isinstance(probe.port, int):
        return probe.port
    port = container.port_named(probe.port) if probe.port else None
    return port.number if port else None


PRT004 = Rule(
    code="PRT004",
    severity=Severity.ERROR,
    title="the routing sidecar or a probe uses a port that the engine does not listen on",
    why=(
        "the sidecar forwards to 8001 up to v0.9 and to 8200 from v0.10 on when no flag says otherwise; where no "
        "engine listens, every request ends in 502"
    ),
    fix="state the port on both sides",
    references=("llm-d-router pkg/sidecar/proxy/options.go",),
    needs=frozenset({"engines"}),
    # An engine that lacks --port takes the sidecar's: one fault, seen twice.
    implies=("PRT005",),
    check=check_engine_port,
)


def check_collisions(view: View) -> Iterator[Outcome]:
    """PRT005: two listeners of one pod on one port, or a port that doesn't exist."""
    for template in view.serving:
        listeners = template.listeners
        for listener in listeners:
            if listener.ports.last > MAX_PORT or listener.ports.first < 1:
                yield Hit(
                    listener.at,
                    f"{template.lead}{listener.what} needs port {listener.ports}, and ports end at {MAX_PORT}",
                    fix="start lower",
                )
        for left, right in combinations(listeners, 2):
            if left.ports.overlaps(right.ports):
                yield Hit(
                    right.at,
                    f"{template.lead}{left.what} ({left.ports}) and {right.what} ({right.ports}) want the same port",
                    evidence=(seen(f"{left.what} listens on {left.ports}", left.at),),
                )


PRT005 = Rule(
    code="PRT005",
    severity=Severity.ERROR,
    title="two servers of one pod want the same port",
    why=(
        "the containers of a pod share one network: the second to bind a port fails with `address already in use` and "
        "is restarted for ever"
    ),
    fix="move one of them; data-parallel ranks and side channels take consecutive ports from their first on",
    references=("llm-d-router options.go Validate", "vLLM entrypoints/launchers/dp_supervisor.py"),
    needs=frozenset({"engines"}),
    check=check_collisions,
)


def check_port_names(view: View) -> Iterator[Outcome]:
    """PRT008: a port name that means two ports, or that nothing declares."""
    for template in view.templates:
        yield from _ambiguous_names(template)
        yield from _unknown_probe_ports(template)
    for monitor in view.monitors:
        if not monitor.selector:
            continue
        templates = list(view.selected(monitor.selector, monitor.document, monitor.namespaces))
        for port in monitor.ports:
            yield from _named_by("scrapes ", port, templates, "Prometheus finds no target to scrape")
    for service in view.services:
        if service.selector:
            templates = list(view.selected(service.selector, service.document))
            for port in service.target_ports:
                yield from _named_by("forwards to ", port, templates, "the Service gets no endpoints")


def _ambiguous_names(template: PodTemplate) -> Iterator[Outcome]:
    where: dict[str, list[tuple[Container, int]]] = defaultdict(list)
    for container in template.running:
        for port in container.ports:
            if not port.name or port.number is None:
                continue
            others = [(item, number) for item, number in where[port.name] if item is not container]
            where[port.name].append((container, port.number))
            if others and others[0][1] != port.number:
                first, number = others[0]
                yield Hit(
                    port.place,
                    f"{template.lead}port {port.name} is {number} in {first.name}, {port.number} in {container.name}",
                    why="Services, PodMonitors and policies find a port by its name and take the first one they meet",
                    fix="give each port of a pod a name of its own",
                    severity=Severity.WARNING,
                )


def _unknown_probe_ports(template: PodTemplate) -> Iterator[Outcome]:
    for container in template.running:
        for probe in container.probes:
            if isinstance(probe.port, str) and not probe.port.isdigit() and not container.port_named(probe.port):
                names = [port.name for port in container.ports if port.name]
                declared = ", ".join(names) or "none"
                yield Hit(
                    probe.place,
                    f"{template.lead}the {probe.kind} of {container.name} names port {probe.port!r}, which it lacks",
                    why="the kubelet looks for the name among the container's own ports; the probe fails for ever",
                    fix=f"use one of its port names ({declared}) or a number",
                    edits=name_corrected(probe.place, probe.port, names),
                )


def _named_by(who: str, port: PortReference, templates: list[PodTemplate], why: str) -> Iterator[Outcome]:
    if not port.name or not templates:
        return
    # Headless workers serve nothing, beside a leader of theirs that does.
    expected = [template for template in templates if not _serves_nothing(template)] or templates
    lacking = [template for template in expected if port.name not in template.port_names]
    if not lacking:
        return
    known = sorted({name for template in templates for name in template.port_names})
    everywhere = len(lacking) == len(expected)
    yield Hit(
        port.place,
        f"{who}port {port.name!r}, which {lacking[0].workload.title} doesn't declare",
        why=why if everywhere else f"{why} in these pods",
        fix=f"use a declared port name: {', '.join(known)}" if known else "declare the port in the container",
        edits=name_corrected(port.place, port.name, known) if everywhere else (),
        severity=Severity.ERROR if everywhere else Severity.WARNING,
    )


def _serves_nothing(template: PodTemplate) -> bool:
    return bool(template.engines) and all(engine.is_headless for engine in template.engines)


PRT008 = Rule(
    code="PRT008",
    severity=Severity.ERROR,
    title="a port name is ambiguous or does not exist",
    why="probes, Services and PodMonitors look a port up by its name",
    fix="declare the port under that name",
    references=("Kubernetes API: ContainerPort, Probe, PodMonitor",),
    needs=frozenset({"workloads"}),
    check=check_port_names,
)

PRT_RULES: Iterable[Rule] = (PRT001, PRT002, PRT004, PRT005, PRT008)
