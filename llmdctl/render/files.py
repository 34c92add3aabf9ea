"""Writing rendered objects into a directory: all or nothing, and without touching files that are not ours."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from llmdctl.findings import SourceRef, UserError
from llmdctl.manifest import Document
from llmdctl.manifest.emit import emit_yaml
from llmdctl.render.objects import Rendered

INDEX = ".llmdctl-rendered"
"""Lists the files that the last render wrote, so that the next one can remove what it no longer makes."""


def file_names(rendered: Rendered) -> list[str]:
    """One file name an object, in order. Two objects of one kind and name cannot be rendered: that is a bug."""
    names = [rendered.file_name(obj) for obj in rendered.objects]
    if len(set(names)) != len(names):
        raise ValueError(f"objects share a file name: {sorted(names)}")
    return names


def write_directory(rendered: Rendered, directory: Path) -> list[Document]:
    """Writes one file an object and removes files of an earlier render that are no longer made.

    Returns the objects as documents with their files as sources. Raises UserError when the directory can't be used.
    """
    names = file_names(rendered)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        before = _read_index(directory)
        for name, obj in zip(names, rendered.objects, strict=True):
            # With the separator, the files put one after the other are one valid stream.
            _replace(directory / name, "---\n" + emit_yaml(obj))
        for stale in before - set(names):
            (directory / stale).unlink(missing_ok=True)
        _replace(directory / INDEX, "".join(f"{name}\n" for name in sorted(names)))
    except OSError as error:
        raise UserError(
            f"cannot write to {directory}: {error.strerror}", fix="name a directory that you may write to"
        ) from error
    return [Document(obj, SourceRef(str(directory / name))) for name, obj in zip(names, rendered.objects, strict=True)]


def _read_index(directory: Path) -> set[str]:
    try:
        lines = (directory / INDEX).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return set()
    # The index is input like any other: only plain file names of ours may be removed on its word.
    return {line for line in lines if line.endswith(".yaml") and "/" not in line and not line.startswith(".")}


def _replace(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".llmdctl-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
