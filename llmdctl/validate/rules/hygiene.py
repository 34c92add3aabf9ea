"""IMG, SEC, MON, GWY and RES: images, secrets, monitors and routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from llmdctl.findings import Check, Hit, Outcome, Rule, Severity, Unresolved
from llmdctl.manifest.typed import nearest
from llmdctl.validate.rules.evidence import seen
from llmdctl.view import View
from llmdctl.view.node import Node
from llmdctl.view.pool import GROUP, OLD_GROUP
from llmdctl.view.versions import split_image

_PLACEHOLDER = re.compile(r"REPLACE|CHANGE_?ME|YOUR[-_]|<[^>]*>|\$\{|\{\{|example\.com/|TODO", re.IGNORECASE)
_MOVING = frozenset({"", "latest", "main", "master", "nightly", "dev", "edge", "head"})
_TOKEN = re.compile(r"\b(hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9]{20,}|ghp_[A-Za-z0-9]{20,}|nvapi-[A-Za-z0-9_-]{20,})\b")
_SECRET_NAMES = re.compile(r"(^|_)(TOKEN|PASSWORD|SECRET|API_KEY|ACCESS_KEY)$")
RELEASE = "llmdctl.io/release"
_ENVOY_HEADER = "x-gateway-destination-endpoint"


@cache
def _deprecated() -> dict[str, tuple[str, str]]:
    """Repository -> what to use instead, and why."""
    from llmdctl.catalog.load import load_catalog

    return {item.repository: (item.replacement, item.why) for item in load_catalog().images.deprecated}


def _repository(image: str) -> str:
    name = image.partition("@")[0]
    head, slash, tail = name.rpartition("/")
    return f"{head}{slash}{tail.partition(':')[0]}"


def check_deprecated(view: View) -> Iterator[Outcome]:
    """IMG002: an image that is no longer built."""
    for template in view.templates:
        # Rendering a stack of an older release has told so already.
        if RELEASE in template.workload.annotations:
            continue
        for container in (*template.init_containers, *template.containers):
            if not container.image.startswith("ghcr.io/llm-d/"):
                continue
            found = _deprecated().get(_repository(container.image))
            if found is not None:
                title = f"{template.lead}{_repository(container.image)} is deprecated: {found[1]}"
                yield Hit(container.at("image"), title, fix=f"use {found[0]}")


def check_placeholders(view: View) -> Iterator[Outcome]:
    """IMG003: an image name that nobody filled in."""
    for template in view.templates:
        for container in (*template.init_containers, *template.containers):
            if container.image and _PLACEHOLDER.search(container.image):
                yield Hit(container.at("image"), f"{template.lead}{container.image} is a placeholder, and no image")


def check_tags(view: View) -> Iterator[Outcome]:
    """IMG004: an image whose content changes under its name."""
    for template in view.templates:
        for container in (*template.init_containers, *template.containers):
            _, tag, digest = split_image(container.image)
            if container.image and not digest and tag in _MOVING and not _PLACEHOLDER.search(container.image):
                shown = f"the tag {tag}" if tag else "no tag"
                yield Hit(container.at("image"), f"{template.lead}{container.image} has {shown}: its content changes")


def check_secrets(view: View) -> Iterator[Outcome]:
    """SEC001: a secret in plain text."""
    for template in view.templates:
        for container in (*template.init_containers, *template.containers):
            for name, value in container.env.items():
                text = value.value or ""
                named = _SECRET_NAMES.search(name) and len(text) >= 16 and "$(" not in text
                if named or _TOKEN.search(text):
                    yield Hit(value.place, f"{template.lead}{name} holds a secret in plain text")
            for index, word in enumerate((*container.command, *container.args)):
                if _TOKEN.search(word):
                    inside = index - len(container.command)
                    place = container.at("args", inside) if inside >= 0 else container.at("command", index)
                    yield Hit(place, f"{template.lead}the command line holds a secret in plain text")


def check_repeated(view: View) -> Iterator[Outcome]:
    """RES022: a variable that is set twice with different values."""
    for template in view.templates:
        # The schema of these kinds refuses it at once.
        if template.workload.kind in ("LeaderWorkerSet", "DisaggregatedSet"):
            continue
        for container in (*template.init_containers, *template.containers):
            first: dict[str, Node] = {}
            for item in container.node.at("env").items():
                name = item.at("name").text()
                if name in first and first[name].value != item.value:
                    yield Hit(
                        item.place, f"{template.lead}{name} is set twice in {container.name}: the last counts",
                        evidence=(seen("the first", first[name].place),),
                    )  # fmt: skip
                first.setdefault(name, item)


def check_monitors(view: View) -> Iterator[Outcome]:
    """MON001: a monitor that finds nothing to scrape."""
    for monitor in view.monitors:
        if not monitor.selector or not view.templates:
            continue
        if any(True for _ in view.selected(monitor.selector, monitor.document, monitor.namespaces)):
            continue
        place, title = monitor.at("spec", "selector"), "the monitor's selector picks no pod"
        yield Hit(place, title) if _are_whole(view, monitor.namespaces) else Unresolved(place, title)
    for document in view.of_kind("ServiceMonitor"):
        node = Node(document, document.object)
        labels = node.at("spec", "selector", "matchLabels").texts()
        if not labels or node.at("spec", "selector", "matchExpressions").exists or not view.services:
            continue
        chosen = node.at("spec", "namespaceSelector")
        namespaces = None if chosen.at("any").truth() else chosen.at("matchNames").strings() or [document.ref.namespace]
        pair = next(iter(labels.items()))
        spaces = [""] if namespaces is None else namespaces
        likely = {id(item): item for space in spaces for item in view.services_by_label.named("=".join(pair), space)}
        found = [item for item in likely.values() if labels.items() <= item.labels.items()]
        place = node.at("spec", "selector").place
        if not found:
            title = "the monitor's selector picks no Service"
            yield Hit(place, title) if _are_whole(view, namespaces) else Unresolved(place, title)
        for endpoint in node.at("spec", "endpoints").items():
            port = endpoint.at("port").text()
            names = {item.at("name").text() for service in found for item in service.node.at("spec", "ports").items()}
            if found and port and port not in names:
                close = nearest(port, sorted(names))
                fix = f"did you mean {close}?" if close else f"it has {', '.join(sorted(names)) or 'none'}"
                yield Hit(endpoint.at("port").place, f"no Service that is scraped has a port called {port}", fix=fix)


def _are_whole(view: View, namespaces: Sequence[str] | None) -> bool:
    """True when what the input lacks in all of these namespaces (None: in any at all) does not exist."""
    return view.is_whole_everywhere if namespaces is None else all(map(view.is_whole, namespaces))


def check_routes(view: View) -> Iterator[Outcome]:
    """GWY011: a route to a pool that isn't there, or under the wrong group."""
    for document in view.of_kind("HTTPRoute"):
        rules = Node(document, document.object).at("spec", "rules")
        for rule in rules.items():
            for backend in rule.at("backendRefs").items():
                kind, group, name = (backend.at(key).text() for key in ("kind", "group", "name"))
                if kind != "InferencePool" or not name:
                    continue
                if group not in (GROUP, OLD_GROUP):
                    title = f"an InferencePool is no backend of group {group or 'core'}"
                    yield Hit(backend.place, title, fix=f"set group: {GROUP}")
                    continue
                where = backend.at("namespace").text() or document.ref.namespace
                named = view.pools_by_name.named(name, where)
                if any(pool.is_old == (group == OLD_GROUP) for pool in named):
                    continue
                if named:
                    right = OLD_GROUP if group == GROUP else GROUP
                    yield Hit(backend.place, f"InferencePool {name} is of group {right}", fix=f"set group: {right}")
                elif view.is_whole(where):
                    close = nearest(name, view.pools_by_name.names(where))
                    fix = f"did you mean {close}?" if close else "name an InferencePool that exists"
                    yield Hit(backend.place, f"the route leads to InferencePool {name}, which does not exist", fix=fix)
                else:
                    yield Unresolved(backend.place, f"the route leads to InferencePool {name}, not in the input")


def check_gateways(view: View) -> Iterator[Outcome]:
    """GWY012: a route for a listener that its Gateway doesn't have."""
    for document in view.of_kind("HTTPRoute"):
        for parent in Node(document, document.object).at("spec", "parentRefs").items():
            where = parent.at("namespace").text() or document.ref.namespace
            section = parent.at("sectionName").text()
            for gateway in view.by_name("Gateway").named(parent.at("name").text(), where) if section else ():
                listeners = [
                    item.at("name").text() for item in Node(gateway, gateway.object).at("spec", "listeners").items()
                ]
                if section not in listeners:
                    close = nearest(section, listeners)
                    fix = f"did you mean {close}?" if close else f"it has {', '.join(listeners) or 'none'}"
                    yield Hit(
                        parent.at("sectionName").place, f"Gateway {gateway.ref.name} has no listener {section}", fix=fix
                    )


def check_envoy(view: View) -> Iterator[Outcome]:
    """GWY013: the proxy looks for the picked endpoint under another header."""
    for document in view.of_kind("ConfigMap"):
        data = Node(document, document.object).at("data")
        for key, text in data.texts().items():
            if "original_dst_lb_config" not in text:
                continue
            for name in re.findall(r"http_header_name:\s*[\"']?([A-Za-z0-9-]+)", text):
                if name.lower() != _ENVOY_HEADER:
                    yield Hit(
                        data.key(key).place, f"the proxy reads {name}, the picker writes {_ENVOY_HEADER}",
                        fix=f"use {_ENVOY_HEADER}",
                    )  # fmt: skip


def _rule(
    code: str, severity: Severity, title: str, why: str, fix: str, check: Check, *references: str, needs: str = ""
) -> Rule:
    wanted = frozenset({needs}) if needs else frozenset[str]()
    return Rule(code, severity, title, why, fix, references, needs=wanted, check=check)


_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

HYGIENE_RULES: Iterable[Rule] = (
    _rule(
        "IMG002", _WARNING, "an image is deprecated", "it gets no fixes any more, and newer releases don't build it",
        "use what replaces it", check_deprecated, "llm-d release notes", needs="workloads",
    ),
    _rule(
        "IMG003", _ERROR, "an image is a placeholder", "the API server takes it, and no node can pull it",
        "name the image that is meant", check_placeholders, "published overlays of llm-d's guides", needs="workloads",
    ),
    _rule(
        "IMG004", _INFO, "an image has a tag that moves, or none",
        "pods of one workload may run different builds, and a restart may bring another",
        "use a release's tag, or a digest",
        check_tags, "Kubernetes documentation: images", needs="workloads",
    ),
    _rule(
        "SEC001", _WARNING, "a secret stands in a manifest in plain text",
        "everybody who may read the workload, or the repository, has it", "put it into a Secret, and refer to that",
        check_secrets, "Kubernetes documentation: secrets", needs="workloads",
    ),
    _rule(
        "RES022", _WARNING, "a variable is set twice with different values",
        "the last one counts, and server-side apply refuses the object", "keep the one that you mean", check_repeated,
        "Kubernetes API: Container.env", needs="workloads",
    ),
    _rule(
        "MON001", _WARNING, "a monitor finds nothing to scrape", "there are no metrics, and dashboards stay empty",
        "make the selector and the port fit", check_monitors, "Prometheus operator API",
    ),
    _rule(
        "GWY011", _ERROR, "a route leads to an InferencePool that does not exist",
        "the gateway answers 500 to every request",
        "name the pool, with its group", check_routes, "Gateway API; gateway-api-inference-extension",
    ),
    _rule(
        "GWY012", _ERROR, "a route is for a listener that its Gateway does not have", "the route is not accepted",
        "use a listener's name, or leave sectionName out", check_gateways, "Gateway API: ParentReference",
    ),
    _rule(
        "GWY013", _ERROR, "the proxy reads the picked endpoint from another header than the picker writes",
        "the proxy finds no destination, and every request ends in 503", f"use {_ENVOY_HEADER}", check_envoy,
        "gateway-api-inference-extension docs/proposals/004-endpoint-picker-protocol",
    ),
)  # fmt: skip
