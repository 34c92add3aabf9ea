"""`llmdctl guide list` and `guide show` as text for people."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from llmdctl.findings import counted
from llmdctl.findings.text import escape

WIDTH = 100


def list_text(guides: Sequence[dict[str, Any]]) -> str:
    """One line a guide."""
    rows = [("NAME", "TITLE", "ROLES", "PRESETS")]
    rows += [
        (guide["name"], guide["title"], ",".join(guide["roles"]), ",".join(guide["presets"]) or "-") for guide in guides
    ]
    return "\n".join(_table(rows)) + "\n"


def show_text(data: dict[str, Any]) -> str:
    """A guide as sections of text."""
    sections = [
        [f"{data['name']}: {data['title']}", "", *textwrap.wrap(data["summary"], WIDTH)],
        _needs(data["default"]),
        _pod_security(data["podSecurity"]),
        ["Presets", *_table([(p["name"], _count(p), p["title"]) for p in data["presets"]], indent="  ")],
        _matrix(data["matrix"]),
        _images(data["default"]["release"], data["images"]),
        _parameters(data["parameters"]),
    ]
    if data["unsupported"]:
        refused = textwrap.wrap(", ".join(data["unsupported"]), WIDTH)
        sections.append(["Not supported yet by this guide", *(f"  {line}" for line in refused)])
    sections.append(["Sources", *(f"  {source}" for source in data["sources"])])
    return "\n\n".join("\n".join(escape(line) for line in section) for section in sections if len(section) > 1) + "\n"


def _count(preset: dict[str, Any]) -> str:
    return f"{preset['accelerators']} x {preset['accelerator']}"


def _needs(default: dict[str, Any]) -> list[str]:
    node = default["node"]
    return [
        f"Needs by default: {default['accelerators']} x {default['accelerator']} "
        f"({default['engine']}, {default['model']}, provider {default['provider']})",
        *(
            f"  {role['name']:<8} {role['replicas']} x {counted(role['podsPerReplica'], 'pod')} of "
            + counted(role["acceleratorsPerPod"], "accelerator")
            for role in default["roles"]
        ),
        f"  nodes    {node['architecture']}, at least {node['atLeast']} x {node['resource']} of "
        f"{node['memoryGiB']:g} GiB (a common node has {node['accelerators']})",
    ]


def _pod_security(rows: Sequence[dict[str, Any]]) -> list[str]:
    head = "PodSecurity level that the namespace must allow, by provider"
    table = []
    for row in rows:
        first, *others = row["reasons"] or ["-"]
        table.append((row["provider"], row["level"], first))
        table.extend(("", "", reason) for reason in others)
    return [head, *_table(table, indent="  ")]


def _matrix(cells: Sequence[dict[str, Any]]) -> list[str]:
    rows = [("ENGINE", "ACCELERATOR", "PROVIDER", "UPSTREAM", "READ", "OURS", "NOTE")]
    rows += [
        (
            *(cell[key] for key in ("engine", "accelerator", "provider", "upstream", "date")),
            ", ".join(cell["ours"]) or "-",
            cell["note"],
        )
        for cell in cells
    ]
    return [
        "Listed combinations: upstream's word, and what passes here (nothing was run on hardware by llmdctl)",
        *_table(rows, indent="  "),
    ]


def _images(release: str, images: Iterable[dict[str, Any]]) -> list[str]:
    rows = [
        (image["name"], image["reference"], "" if image["confidence"] == "published" else "tag is inferred")
        for image in images
    ]
    return [f"Images of llm-d {release}", *_table(rows, indent="  ")]


def _parameters(parameters: Sequence[dict[str, Any]]) -> list[str]:
    rows = [("PATH", "DEFAULT", "MEANING")]
    for parameter in parameters:
        default = "-" if parameter["default"] is None else json.dumps(parameter["default"], ensure_ascii=False)
        choices = f" One of: {', '.join(parameter['choices'])}." if parameter["choices"] else ""
        rows.append((parameter["path"], default, parameter["meaning"] + choices))
    return ["Parameters, for a stack file or --set", *_table(rows, indent="  ")]


def _table(rows: Sequence[tuple[str, ...]], indent: str = "") -> list[str]:
    """Columns as wide as their widest cell; the last is not padded."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [
        (indent + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])).rstrip()
        for row in rows
    ]
