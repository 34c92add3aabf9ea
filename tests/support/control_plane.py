"""A real Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler; no containers.

Built once from Go modules (tests/cluster/controlplane) and kept in the user's cache; started for one test session.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

SOURCE = Path(__file__).resolve().parents[1] / "cluster" / "controlplane"
VERSION = "v1.36.3"
BUILD_TIMEOUT = 3600
START_TIMEOUT = 180
CRDS_TIMEOUT = 120
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Unavailable(Exception):
    """The control plane can't be had here, with the reason."""


def build() -> Path:
    """The program, built when the cache lacks it: that takes minutes. Raises Unavailable without Go or its modules, and
    AssertionError when it doesn't compile.
    """
    if shutil.which("go") is None:
        raise Unavailable("go is not installed: the control plane can't be built")
    digest = hashlib.sha256(b"".join((SOURCE / name).read_bytes() for name in ("go.mod", "go.sum", "main.go")))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llmdctl-tests"
    program = cache / f"controlplane-{digest.hexdigest()[:16]}"
    if program.is_file():
        return program
    fetched = _go("mod", "download")
    if fetched.returncode:
        raise Unavailable(f"the Go modules can't be downloaded: {fetched.stderr.strip()[-300:]}")
    cache.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(f".{os.getpid()}")
    package = "k8s.io/component-base/version"
    major, minor = VERSION.removeprefix("v").split(".")[:2]
    stamps = {"gitVersion": VERSION, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(["-s -w", *(f"-X {package}.{name}={value}" for name, value in stamps.items())])
    built = _go("build", "-trimpath", "-ldflags", flags, "-o", str(fresh), ".")
    assert built.returncode == 0, built.stderr
    fresh.replace(program)
    return program


def _go(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    return subprocess.run(
        ["go", *arguments], cwd=SOURCE, capture_output=True, text=True, env=environment, timeout=BUILD_TIMEOUT
    )


@dataclass(frozen=True)
class Answer:
    """A response of the API server: its status code and its body, JSON where it is that."""

    code: int
    body: Any


def _add_group_identity(crd: dict[str, Any]) -> None:
    field = {"type": "string", "enum": ["Hash", "Ordinal"]}
    for version in crd["spec"]["versions"]:
        root = version["schema"]["openAPIV3Schema"]["properties"]
        if crd["spec"]["names"]["kind"] == "LeaderWorkerSet":
            root["spec"]["properties"].setdefault("groupIdentity", field)
        elif crd["spec"]["names"]["kind"] == "DisaggregatedSet":
            role = root["spec"]["properties"]["roles"]["items"]["properties"]
            role["spec"]["properties"].setdefault("groupIdentity", field)


def _answer(code: int, text: bytes) -> Answer:
    try:
        return Answer(code, json.loads(text or b"null"))
    except ValueError:
        return Answer(code, text.decode("utf-8", "replace"))


class ControlPlane:
    """A running control plane. `url` and `kubeconfig` are for clients; `request` is the bare API for tests."""

    def __init__(self, url: str, token: str, authority: Path, kubeconfig: Path) -> None:
        self.url = url
        self.kubeconfig = kubeconfig
        self._token = token
        self._resources: dict[str, Mapping[str, tuple[str, bool]]] = {}
        self._context = ssl.create_default_context(cafile=str(authority))

    def request(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Answer:
        """One request as the cluster's administrator; refusals come back as answers."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind, "Accept": "application/json"}
        asked = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)  # noqa: S310 - https
        try:
            with urllib.request.urlopen(asked, context=self._context, timeout=60) as answer:  # noqa: S310
                return _answer(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            return _answer(error.code, error.read())

    def resources(self, api_version: str) -> Mapping[str, tuple[str, bool]]:
        """Kind -> (plural name, namespaced) of what the server has in an apiVersion."""
        root = "/api/" if "/" not in api_version else "/apis/"
        answer = self.request("GET", root + api_version)
        found = answer.body.get("resources", []) if answer.code == 200 else []
        return {item["kind"]: (item["name"], item["namespaced"]) for item in found if "/" not in item["name"]}

    def install_crds(self, folder: Path) -> None:
        """Creates every CRD of a folder and waits until all are served. Raises AssertionError for one that is not.

        The LeaderWorkerSet that guides need is 0.11; where the files are older, its field groupIdentity is added.
        """
        found = []
        for path in sorted(folder.glob("*.yaml")):
            found += yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        for crd in found:
            _add_group_identity(crd)
        self.create_crds(found)

    def create_crds(self, crds: Iterable[Mapping[str, Any]]) -> None:
        """Creates CRDs and waits until all are served."""
        names = []
        for crd in crds:
            answer = self.request("POST", CRDS, crd)
            assert answer.code in (201, 409), answer.body
            names.append(crd["metadata"]["name"])
        deadline = time.monotonic() + CRDS_TIMEOUT
        while not all(self._is_served(name) for name in names):
            assert time.monotonic() < deadline, "a CRD was not established"
            time.sleep(0.2)

    def _is_served(self, name: str) -> bool:
        status = self.request("GET", f"{CRDS}/{name}").body.get("status") or {}
        conditions = {item["type"]: item["status"] for item in status.get("conditions") or []}
        assert conditions.get("NonStructuralSchema") != "True", name
        return conditions.get("Established") == "True"

    def create_namespace(self, name: str) -> None:
        """Creates a namespace, if it isn't there."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        assert self.request("POST", "/api/v1/namespaces", body).code in (201, 409)

    def refusals(self, objects: Iterable[Mapping[str, Any]]) -> list[str]:
        """What the server says against creating the objects, as a dry run with strict fields."""
        found = []
        for obj in objects:
            answer = self.request("POST", f"{self.path_of(obj)}?dryRun=All&fieldValidation=Strict", obj)
            if answer.code != 201:
                found.append(f"{obj['kind']}/{obj['metadata'].get('name')}: {answer.code} {answer.body}")
        return found

    def apply(self, objects: Iterable[Mapping[str, Any]], manager: str = "test") -> None:
        """Applies objects on the server's side. Raises AssertionError for what it refuses."""
        for obj in objects:
            name = urllib.parse.quote(obj["metadata"]["name"], safe="")
            path = f"{self.path_of(obj)}/{name}?fieldManager={manager}&fieldValidation=Strict"
            answer = self.request("PATCH", path, obj, "application/apply-patch+yaml")
            assert answer.code in (200, 201), answer.body

    def path_of(self, obj: Mapping[str, Any]) -> str:
        """The collection that an object belongs to. Raises KeyError for a kind that the server lacks."""
        api_version = obj["apiVersion"]
        if api_version not in self._resources:
            self._resources[api_version] = self.resources(api_version)
        name, namespaced = self._resources[api_version][obj["kind"]]
        root = f"{'/api' if '/' not in api_version else '/apis'}/{api_version}"
        namespace = urllib.parse.quote(str(obj["metadata"].get("namespace") or "default"), safe="")
        return f"{root}/namespaces/{namespace}/{name}" if namespaced else f"{root}/{name}"


@contextlib.contextmanager
def running(directory: Path) -> Iterator[ControlPlane]:
    """Starts a control plane with its state in `directory`, and stops what it started. Raises Unavailable."""
    program = build()
    directory.mkdir(parents=True, exist_ok=True)
    ports = _free_ports(5)
    started: list[subprocess.Popen[bytes]] = []
    try:
        yield from _start(program, directory, ports, started)
    finally:
        for process in reversed(started):
            _stop(process)


def _start(
    program: Path, directory: Path, ports: list[int], started: list[subprocess.Popen[bytes]]
) -> Iterator[ControlPlane]:
    client, peer, api, manager, scheduler = ports

    def start(name: str, *arguments: str) -> None:
        with (directory / f"{name}.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    [str(program), name, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=directory
                )
            )

    key = directory / "service-account.key"
    subprocess.run([str(program), "key", str(key)], check=True, timeout=60)
    etcd = {
        "name": "test", "data-dir": str(directory / "etcd"), "unsafe-no-fsync": True, "log-level": "warn",
        "listen-client-urls": f"http://127.0.0.1:{client}", "advertise-client-urls": f"http://127.0.0.1:{client}",
        "listen-peer-urls": f"http://127.0.0.1:{peer}", "initial-advertise-peer-urls": f"http://127.0.0.1:{peer}",
        "initial-cluster": f"test=http://127.0.0.1:{peer}",
    }  # fmt: skip
    (directory / "etcd.yaml").write_text(json.dumps(etcd), encoding="utf-8")
    start("etcd", str(directory / "etcd.yaml"))
    token = secrets.token_urlsafe(24)
    tokens = directory / "tokens.csv"
    tokens.touch(mode=0o600)
    tokens.write_text(f'{token},admin,admin,"system:masters"\n', encoding="utf-8")
    certificates = directory / "certificates"
    start(
        "apiserver", f"--etcd-servers=http://127.0.0.1:{client}", "--bind-address=127.0.0.1", f"--secure-port={api}",
        "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", f"--cert-dir={certificates}",
        f"--token-auth-file={tokens}", "--authorization-mode=RBAC", f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}", "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16", "--anonymous-auth=false", "--profiling=false",
    )  # fmt: skip
    authority = certificates / "apiserver.crt"
    url = f"https://127.0.0.1:{api}"
    deadline = time.monotonic() + START_TIMEOUT
    _wait_for(authority.is_file, deadline, started, directory)
    kubeconfig = _write_kubeconfig(directory, url, token, authority)
    plane = ControlPlane(url, token, authority, kubeconfig)
    _wait_for(lambda: _is_ready(plane), deadline, started, directory)
    shared = [f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--bind-address=127.0.0.1"]
    start(
        "controller-manager", *shared, f"--secure-port={manager}", f"--service-account-private-key-file={key}",
        f"--root-ca-file={authority}", "--node-monitor-grace-period=87600h", "--use-service-account-credentials=true",
    )  # fmt: skip
    start("scheduler", *shared, f"--secure-port={scheduler}")
    account = "/api/v1/namespaces/default/serviceaccounts/default"
    _wait_for(lambda: plane.request("GET", account).code == 200, deadline, started, directory)
    yield plane


def _is_ready(plane: ControlPlane) -> bool:
    try:
        return plane.request("GET", "/readyz").code == 200
    except OSError:
        return False


def _wait_for(done: Any, deadline: float, started: list[subprocess.Popen[bytes]], directory: Path) -> None:
    while not done():
        dead = [process for process in started if process.poll() is not None]
        if dead or time.monotonic() > deadline:
            logs = "\n".join(f"{log.name}: {log.read_text()[-1500:]}" for log in directory.glob("*.log"))
            raise AssertionError(f"the control plane did not start\n{logs}")
        time.sleep(0.1)


def _write_kubeconfig(directory: Path, url: str, token: str, authority: Path) -> Path:
    data = base64.b64encode(authority.read_bytes()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority-data": data}}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "current-context": "test",
    }
    path = directory / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, all different."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [item.getsockname()[1] for item in sockets]
