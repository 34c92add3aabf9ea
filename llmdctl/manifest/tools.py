"""Input that another program renders: `kustomize build` and `helm template`. Their output is read like any manifest."""

from __future__ import annotations

import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from llmdctl.findings import Finding, SourceRef, UserError
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.document import Document
from llmdctl.manifest.duplicates import duplicate_objects
from llmdctl.manifest.files import STDIN
from llmdctl.manifest.reader import Reading, read_text

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")

_SOURCE = re.compile(rb"^# Source: (\S.*?)[ \t\r]*$", re.MULTILINE)
_ORIGIN = "config.kubernetes.io/origin"
_NOT_A_NAME = re.compile(r"[^a-z0-9-]+")
_LAST_LINES = 12


@frozen
class HelmChart:
    """What `helm template` is asked: a chart (directory, archive or address), values, and who is installed where."""

    chart: str
    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    release_name: str = ""
    namespace: str = ""
    kube_version: str = ""


def read_kustomization(folder: str) -> Reading:
    """What `kubectl kustomize DIR`, or else `kustomize build DIR`, renders. Raises UserError when neither can."""
    # kustomize also takes addresses, such as https://host/repository//folder?ref=v1.
    if "//" not in folder and not any((Path(folder) / name).is_file() for name in KUSTOMIZATIONS):
        raise UserError(f"{folder} holds no kustomization.yaml", fix="name the directory of an overlay or a base")
    command = _first(["kubectl", "kustomize", folder], ["kustomize", "build", folder])
    if command is None:
        raise UserError(
            f"nothing here can render {folder}: neither kubectl nor kustomize is on PATH",
            fix="install one of them, or pipe what it renders elsewhere into `llmdctl validate -`",
        )
    label = f"kustomize:{folder}"
    return _read(_output(command, folder), label, _origin)


def read_chart(chart: HelmChart) -> Reading:
    """What `helm template` renders, CRDs included. Raises UserError when helm is missing or refuses the chart."""
    name = chart.release_name or _NOT_A_NAME.sub("-", Path(chart.chart).name.lower()).strip("-")[:53] or "release"
    command = ["helm", "template", name, chart.chart, "--include-crds"]
    for option, values in (("--values", chart.values), ("--set", chart.settings)):
        command += [word for value in values for word in (option, value)]
    if chart.namespace:
        command += ["--namespace", chart.namespace]
    if chart.kube_version:
        command += ["--kube-version", chart.kube_version]
    if _first(command) is None:
        raise UserError(
            f"nothing here can render {chart.chart}: helm is not on PATH",
            fix="install helm, or pipe what it renders elsewhere into `llmdctl validate -`",
        )
    data = _output(command, chart.chart)
    marks = [(data.count(b"\n", 0, match.start()) + 1, match[1].decode(errors="replace")) for match in _sources(data)]
    lines = [line for line, _ in marks]

    def template(document: Document) -> str:
        index = bisect_right(lines, document.source.line) - 1
        return _template_file(chart.chart, marks[index][1]) if index >= 0 else ""

    return _read(data, f"helm:{chart.chart}", template)


def _sources(data: bytes) -> list[re.Match[bytes]]:
    return list(_SOURCE.finditer(data))


def _template_file(chart: str, source: str) -> str:
    """The template's file in a chart that is a directory; helm writes it below the chart's own name."""
    _, slash, inner = source.partition("/")
    file = Path(chart) / inner
    return str(file) if slash and file.is_file() else source


def _origin(document: Document) -> str:
    """The file that kustomize names as an object's origin, when its buildMetadata asks for that."""
    metadata = document.object.get("metadata") if isinstance(document.object, Mapping) else None
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    text = annotations.get(_ORIGIN) if isinstance(annotations, Mapping) else None
    lines = text.splitlines() if isinstance(text, str) else []
    return next((line.removeprefix("path: ").strip() for line in lines if line.startswith("path: ")), "")


def _first(*commands: Sequence[str]) -> Sequence[str] | None:
    return next((command for command in commands if shutil.which(command[0])), None)


def _output(command: Sequence[str], about: str) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise UserError(f"{command[0]} could not be started", why=error.strerror or str(error)) from error
    if done.returncode:
        said = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        raise UserError(
            f"`{' '.join(command[:2])}` failed for {about}",
            why="; ".join(said[-_LAST_LINES:]) or f"it ended with {done.returncode} and said nothing",
            fix=f"run it yourself until it succeeds: {' '.join(map(_quoted, command))}",
        )
    return done.stdout


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)


def _read(data: bytes, label: str, template: Callable[[Document], str]) -> Reading:
    """Reads rendered text; every document and finding names the file that it was rendered from, where that is told."""
    reading = read_text(data, label)
    named: dict[int, str] = {}
    for index, document in enumerate(reading.documents):
        file = template(document)
        named[document.source.document] = file
        reading.documents[index] = replace(document, source=replace(document.source, template=file))
    duplicates = duplicate_objects(reading.documents)
    others = [finding for finding in reading.findings if finding.code != "YML002"]
    reading.findings = [*(_with_template(finding, named) for finding in others), *duplicates]
    reading.texts[label] = data
    return reading


def _with_template(finding: Finding, named: Mapping[int, str]) -> Finding:
    def known(source: SourceRef | None) -> SourceRef | None:
        return replace(source, template=named.get(source.document, "")) if source else None

    evidence: Any = tuple(replace(item, source=known(item.source)) for item in finding.evidence)
    return replace(finding, source=known(finding.source), evidence=evidence)


def is_rendered(file: str) -> bool:
    """True for text that came from stdin or from another program: no file of that name can be edited."""
    return file == STDIN or file.startswith(("kustomize:", "helm:"))
