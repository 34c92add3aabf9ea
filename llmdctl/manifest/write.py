"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Puts `data` at `path` in one step, so that no reader ever sees half of it; an existing file keeps its mode.

    Links are followed. What is no regular file (a pipe, /dev/stdout) is written to instead. Raises OSError.
    """
    if path.is_symlink():
        path = path.resolve()
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as stream:
            stream.write(data)
        return
    temporary = path.parent / f".llmdctl-{secrets.token_hex(8)}.tmp"
    # A new file gets what the user's mask leaves; who may not read the old one must not read the new one meanwhile.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            if mode is not None:
                os.fchmod(handle, stat.S_IMODE(mode))
            stream.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
