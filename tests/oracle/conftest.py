"""The Go program beside this file: decodes objects strictly into the types that the API servers are built from."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
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
    program = str(_build())

    def decode(documents: Iterable[str]) -> list[Decoded]:
        text = "".join(f"---\n{document}" for document in documents)
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
        lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        return [
            Decoded(line["apiVersion"], line["kind"], line["name"], line["known"], tuple(line["errors"]))
            for line in lines
        ]

    return decode


def _build() -> Path:
    if shutil.which("go") is None:
        pytest.skip("go is not installed: the Go types can't be compiled")
    digest = hashlib.sha256(b"".join((SOURCE / name).read_bytes() for name in ("go.mod", "go.sum", "main.go")))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llmdctl-tests"
    program = cache / f"oracle-{digest.hexdigest()[:16]}"
    if program.is_file():
        return program
    fetched = _go("mod", "download")
    if fetched.returncode:
        pytest.skip(f"the Go modules can't be downloaded: {fetched.stderr.strip()[-300:]}")
    cache.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(f".{os.getpid()}")
    built = _go("build", "-o", str(fresh), ".")
    assert built.returncode == 0, built.stderr
    fresh.replace(program)
    return program


def _go(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    return subprocess.run(
        ["go", *arguments], cwd=SOURCE, capture_output=True, text=True, env=environment, timeout=TIMEOUT
    )
