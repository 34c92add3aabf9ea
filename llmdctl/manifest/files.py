"""From paths to bytes: directories, stdin, sizes, encodings."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from llmdctl.findings import SourceRef, UserError
from llmdctl.manifest.typed import nearest

STDIN = "-"
SUFFIXES = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")

MAX_BYTES = 64 * 1024 * 1024
"""The largest file that is read; etcd takes objects of about 1.5 MiB."""

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def expand_path(path: str, errors: list[UserError]) -> Iterator[str]:
    """The files that a path stands for, sorted; what is missing or empty is appended to `errors`."""
    if path == STDIN:
        yield path
        return
    try:
        # An empty path would mean the current directory, which nobody meant.
        is_there, is_folder = bool(path) and Path(path).exists(), Path(path).is_dir()
    except (OSError, ValueError) as error:
        errors.append(UserError(f"{path} is not a path that can be looked up", why=str(error)))
        return
    if not is_there:
        errors.append(_missing(path))
        return
    if not is_folder:
        yield path
        return
    found = False
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for file in sorted(files):
            if file.endswith(SUFFIXES):
                found = True
                yield str(Path(folder, file))
    if not found:
        errors.append(UserError(f"directory {path} holds no *.yaml, *.yml or *.json file, plain or as .gz"))


def _missing(path: str) -> UserError:
    folder, name = Path(path).parent, Path(path).name
    try:
        neighbours = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return UserError(f"there is no file or directory {path}", why=f"{folder} can't be listed")
    close = nearest(name, neighbours)
    fix = f"did you mean {str(folder / close)!r}?" if close else ""
    return UserError(f"there is no file or directory {path}", fix=fix)


def read_bytes(file: str) -> bytes:
    """The content of a file or of stdin (`-`). Raises UserError when it can't be read or exceeds MAX_BYTES."""
    try:
        if file == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"can't read {file}", why=error.strerror or str(error)) from error
    if data.startswith(_GZIP):
        data = _unpacked(data, file)
    if len(data) > MAX_BYTES:
        raise UserError(
            f"larger than {MAX_BYTES // 1024 // 1024} MiB",
            source=SourceRef(file),
            why="no manifest is that large",
            fix="split it, or check that it is the right file",
        )
    return data


def _unpacked(data: bytes, file: str) -> bytes:
    """The content of gzip data, one byte over MAX_BYTES at most: some kilobytes can unpack to gigabytes."""
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            "is gzip data that can't be unpacked", source=SourceRef(file), why=str(error), fix="pack it again"
        ) from error


def check_text(text: str | bytes, file: str) -> bytes:
    """UTF-8 bytes without a byte order mark. Raises UserError for anything that is not text."""
    source = SourceRef(file)
    if isinstance(text, str):
        try:
            text = text.encode()
        except UnicodeEncodeError as error:
            raise UserError("holds a lone surrogate, which is not text", source=source, why=str(error)) from error
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError("is UTF-16, not UTF-8", source=source, fix="save it as UTF-8")
    zero = text.find(b"\0")
    if zero >= 0:
        raise UserError(
            "is not text: it holds a NUL byte", source=source, why=f"byte {zero} is 0", fix="pass YAML or JSON text"
        )
    data = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8", "replace")) + 1
        raise UserError(
            "is not UTF-8 text",
            source=SourceRef(file, line, column),
            why=f"byte 0x{data[error.start]:02x} begins no character",
            fix="save it as UTF-8, or pass YAML or JSON text",
        ) from error
    return data
