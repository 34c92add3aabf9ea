"""Writing rendered objects into a directory: all or nothing, and without touching files that are not ours."""

from __future__ import annotations

from pathlib import Path

from llmdctl.findings import SourceRef, UserError
from llmdctl.manifest import Document
from llmdctl.manifest.emit import emit_yaml
from llmdctl.manifest.write import replace_file
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
            replace_file(directory / name, f"---\n{emit_yaml(obj)}".encode())
        for stale in before - set(names):
            (directory / stale).unlink(missing_ok=True)
        replace_file(directory / INDEX, "".join(f"{name}\n" for name in sorted(names)).encode())
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
