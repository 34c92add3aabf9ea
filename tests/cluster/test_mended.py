"""What `validate --fix` makes of faulty objects, asked of a real API server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from control_plane import ControlPlane

from llmdctl.findings import Report
from llmdctl.manifest import read_paths, read_text
from llmdctl.operate.fix import fix
from llmdctl.validate.pipeline import validate
from llmdctl.validate.registry import EXAMPLES


def check(path: Path, texts: Mapping[str, bytes]) -> Report:
    """The report on one file, or on the text that takes its place."""
    reading = read_paths([str(path)], texts)
    return validate(reading.documents, findings=reading.findings, texts=reading.texts)


def test_the_server_takes_what_was_mended(plane_with_crds: ControlPlane) -> None:
    refused: dict[str, list[str]] = {}
    mended = []
    for path in sorted(EXAMPLES.glob("*/bad.yaml")):
        done = fix(lambda texts, path=path: check(path, texts))
        if not done.changes or done.after.findings:
            continue
        objects = [document.object for document in read_text(done.changes[0].after, "f").documents]
        for namespace in {obj["metadata"].get("namespace") or "default" for obj in objects}:
            plane_with_crds.create_namespace(namespace)
        mended.append(path.parent.name)
        if found := plane_with_crds.refusals(objects):
            refused[path.parent.name] = found
    assert refused == {}
    assert {"ADM027", "PRT001", "SCH001", "SCH002", "SCH004"} <= set(mended)
