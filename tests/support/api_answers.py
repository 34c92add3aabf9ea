"""A loopback HTTP server that gives answers in the form of an API server's. It is NOT an API server: it checks nothing.

It lists objects by kind and namespace, in pages, and can refuse. Requests are kept.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

GROUPS = {
    "apps/v1": {"Deployment": "deployments", "ReplicaSet": "replicasets", "StatefulSet": "statefulsets"},
    "batch/v1": {"Job": "jobs"},
    "inference.networking.k8s.io/v1": {"InferencePool": "inferencepools"},
    "leaderworkerset.x-k8s.io/v1": {"LeaderWorkerSet": "leaderworkersets"},
    "example.com/v1": {"Widget": "widgets"},
}
CORE = {
    "ConfigMap": "configmaps",
    "Pod": "pods",
    "Secret": "secrets",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
}


@dataclass
class Answers:
    """What the server holds and how it behaves."""

    objects: list[dict[str, Any]] = field(default_factory=list)
    minor: str = "35+"
    refuse: dict[str, int] = field(default_factory=dict)
    """Plural (or `*`) -> HTTP status of lists of it."""
    page: int = 1000
    expire: bool = False
    """Whether a continue token is refused with 410 once."""
    raw: bytes | None = None
    """Answers everything when given."""
    requests: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    """Method, path with query, headers."""

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
        """Status and body for one GET."""
        parts = path.strip("/").split("/")
        if parts == ["version"]:
            return 200, {"major": "1", "minor": self.minor}
        if parts == ["apis"]:
            return 200, {"groups": [_group(version) for version in GROUPS]}
        if parts == ["api", "v1"]:
            return 200, _resources("v1", CORE)
        version = "/".join(parts[1:3])
        if len(parts) == 3 and version in GROUPS:
            return 200, _resources(version, GROUPS[version])
        return self._list("v1" if parts[0] == "api" else version, parts, query)

    def _list(self, version: str, parts: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
        plural = parts[-1]
        namespace = parts[parts.index("namespaces") + 1] if "namespaces" in parts else ""
        status = self.refuse.get(plural) or self.refuse.get("*")
        if status:
            return status, {"kind": "Status", "message": f'{plural} is forbidden: User "ann" cannot list it'}
        kinds = {plural: kind for kind, plural in (CORE if version == "v1" else GROUPS.get(version, {})).items()}
        found = [
            {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
            for obj in self.objects
            if (obj["apiVersion"], obj["kind"]) == (version, kinds.get(plural))
            and namespace in ("", obj["metadata"]["namespace"])
        ]
        start = int(query.get("continue", ["0"])[0])
        if start and self.expire:
            self.expire = False
            return 410, {"kind": "Status", "message": "the continue token is too old"}
        size = self.page if "limit" in query else len(found)
        more = start + size < len(found)
        metadata = {"continue": str(start + size)} if more else {}
        return 200, {"kind": "List", "metadata": metadata, "items": found[start : start + size]}


def _group(version: str) -> dict[str, Any]:
    name = version.partition("/")[0]
    return {"name": name, "preferredVersion": {"groupVersion": version}, "versions": [{"groupVersion": version}]}


def _resources(version: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    listed = [{"name": plural, "kind": kind, "namespaced": True} for kind, plural in kinds.items()]
    status = [{"name": f"{plural}/status", "kind": kind, "namespaced": True} for kind, plural in kinds.items()]
    return {"groupVersion": version, "resources": [*listed, *status]}


@contextmanager
def serving(answers: Answers, kubeconfig: Path, namespace: str = "llm-d") -> Iterator[str]:
    """Serves the answers on loopback and writes a kubeconfig for them; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.requests.append((self.command, self.path, dict(self.headers.items())))
            where = urlsplit(self.path)
            status, body = answers.answer(where.path, parse_qs(where.query))
            data = answers.raw if answers.raw is not None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Keeps quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    write_kubeconfig(kubeconfig, address, namespace)
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_kubeconfig(path: Path, address: str, namespace: str) -> None:
    """A kubeconfig with one context, `test`."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": address}}],
        "users": [{"name": "ann", "user": {"token": "not-a-secret"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "ann", "namespace": namespace}}],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
