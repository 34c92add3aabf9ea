"""Rewrites requirements.lock (run time) and requirements-dev.lock (tools) with hashes, by `uv pip compile`.

Run it through `make lock`. uv is installed into the virtual environment if it is not there. No index address is written
into the files, so that they work with whatever registry the machine is set up for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD_BACKEND = "setuptools>=77"


def compile_lock(target: str, *arguments: str, extra: str = "") -> None:
    """Resolves the given inputs into `target`, for every platform and Python from 3.11."""
    command = [
        sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11",
        "--generate-hashes", "--no-emit-index-url", "--custom-compile-command", "make lock",
        "--output-file", target, *arguments, "-",
    ]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True, input=extra, text=True)


def main() -> None:
    """Makes both lock files; the development lock is constrained by the run-time one, so they never disagree."""
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv"], check=True)
    compile_lock("requirements.lock", "pyproject.toml", extra=BUILD_BACKEND)
    compile_lock("requirements-dev.lock", "--group", "dev", "-c", "requirements.lock")


if __name__ == "__main__":
    main()
