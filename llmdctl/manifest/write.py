"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Puts `data` at `path` in one step, so that no reader ever sees half of it; an existing file keeps its mode.

    Links are followed. What is no regular file (a pipe, /dev/stdout) is written to instead. Raises OSError.
    """
    path = path.resolve()
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG | (0o666 & ~_umask())
    if not stat.S_ISREG(mode):
        with path.open("wb") as stream:
            stream.write(data)
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".llmdctl-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(stat.S_IMODE(mode))
        Path(temporary).replace(path)
    finally:
        # After the replacement nothing stands there any more.
        Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    # It can only be read by setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
