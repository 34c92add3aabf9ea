"""The Go programs beside this file: one decodes objects strictly into the types that API servers are built from, one is
what the API server does to custom resources, and one evaluates CEL."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parent
TIMEOUT = 600


@dataclass(frozen=True, slots=True)
class Decoded:
    """What Go says of one document. `known` is false for a kind that no imported module has."""

    api_version: str
    kind: str
    name: str
    known: bool
    errors: tuple[str, ...]


Oracle = Callable[[Iterable[str]], list[Decoded]]


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    """Decodes YAML documents; skips where Go or the modules can't be had. A program that does not compile fails."""
    program = str(_build(SOURCE))

    def decode(documents: Iterable[str]) -> list[Decoded]:
        text = "".join(f"---\n{document}\n" for document in documents)
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
        lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        return [
            Decoded(line["apiVersion"], line["kind"], line["name"], line["known"], tuple(line["errors"]))
            for line in lines
        ]

    return decode


@dataclass(frozen=True, slots=True)
class Served:
    """What the API server's code makes of a custom resource: paths of unknown fields, (field, message) of other faults,
    and the object as it would be stored."""

    unknown: frozenset[str]
    faults: frozenset[tuple[str, str]]
    object: Any


class CustomResourceServer:
    """A running program that answers a line with a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._known: set[str] = set()

    def check(self, key: str, schema: Mapping[str, Any], obj: Any) -> Served:
        """Checks an object against a structural schema that is always the same for a key."""
        asked = {"key": key, "object": obj} if key in self._known else {"key": key, "object": obj, "schema": schema}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the program stopped at {asked}"
        self._known.add(key)
        said = json.loads(line)
        faults = frozenset((fault["field"], fault["message"]) for fault in said["faults"])
        return Served(frozenset(said["unknown"]), faults, said["object"])


@pytest.fixture(scope="session")
def custom_resource_server() -> Iterator[CustomResourceServer]:
    """The API server's code for custom resources; skips where Go or the modules can't be had."""
    program = str(_build(SOURCE / "structural"))
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield CustomResourceServer(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=30) == 0


class CelServer:
    """A running program that evaluates an expression a line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._known = {""}

    def evaluate(self, text: str, *, minor: int, key: str, schema: Any, value: Any) -> dict[str, Any]:
        """What the server's libraries make of an expression over `self`; a schema is always the same for a key."""
        asked = {"text": text, "minor": minor, "key": key, "self": value}
        if key not in self._known:
            asked["schema"] = schema
            self._known.add(key)
        return self._ask(asked)

    def refuses_selector(self, text: str) -> str:
        """Why Kubernetes' code for device claims refuses a selector, "" when it takes it."""
        return str(self._ask({"text": text, "device": True})["refused"])

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the program stopped at {asked}"
        found: dict[str, Any] = json.loads(line)
        return found


@pytest.fixture(scope="session")
def cel_server() -> Iterator[CelServer]:
    """Kubernetes' own CEL; skips where Go or the modules can't be had."""
    program = str(_build(SOURCE / "cel"))
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield CelServer(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def _build(source: Path) -> Path:
    if shutil.which("go") is None:
        pytest.skip("go is not installed: the Go types can't be compiled")
    digest = hashlib.sha256(b"".join((source / name).read_bytes() for name in ("go.mod", "go.sum", "main.go")))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llmdctl-tests"
    program = cache / f"{source.name}-{digest.hexdigest()[:16]}"
    if program.is_file():
        return program
    fetched = _go(source, "mod", "download")
    if fetched.returncode:
        pytest.skip(f"the Go modules can't be downloaded: {fetched.stderr.strip()[-300:]}")
    cache.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(f".{os.getpid()}")
    built = _go(source, "build", "-o", str(fresh), ".")
    assert built.returncode == 0, built.stderr
    fresh.replace(program)
    return program


def _go(source: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    return subprocess.run(
        ["go", *arguments], cwd=source, capture_output=True, text=True, env=environment, timeout=TIMEOUT
    )
