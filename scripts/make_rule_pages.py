"""Writes docs/rules from the rules. `--check` only compares and exits with 1 when a page is stale."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from llmdctl.validate.pages import index_markdown, page_markdown
from llmdctl.validate.registry import all_rules

DOCS = Path(__file__).resolve().parent.parent / "docs" / "rules"
ROWS = DOCS / "rows"

SOURCES = {
    "A": "Names, labels and references of llm-d's guides",
    "B": "Ports of llm-d's guides",
    "C": "KV transfer",
    "D": "Parallelism, grouping, rollout",
    "E": "Pod resources and the host",
    "F": "Precise prefix-cache routing",
    "G": "Router, charts, custom resources",
    "router": "EndpointPickerConfig: what the router's loader refuses, and what it lets pass",
    "engine-rules": "What the engines' own source refuses at start, and what peers refuse of each other",
    "kube-apis-15": "References between Kubernetes objects",
    "peers": "Defects found in published manifests, and what users of such tools ask for",
}


def rows(source: str) -> list[dict[str, Any]]:
    """The rows of one source: `row`, and either the `codes` that see it or why it is `left` (`what` says the row)."""
    path = ROWS / f"{source}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) or [] if path.is_file() else []


def left_markdown() -> str:
    """docs/rules/not-implemented.md: what no rule checks, and why."""
    parts = [_LEFT]
    for source, title in SOURCES.items():
        found = rows(source)
        left = [row for row in found if "left" in row]
        if found:
            head = f"## {title}\n\n{len(found) - len(left)} of {len(found)} are rules."
            table = ["", "", "| | what | why no rule |", "|---|---|---|"] if left else []
            lines = [f"| {row['row']} | {_cell(row.get('what', ''))} | {_cell(row['left'])} |" for row in left]
            parts.append(head + "\n".join([*table, *lines]))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


_LEFT = """# What no rule checks

Made by `scripts/make_rule_pages.py` from `docs/rules/rows`, where each constraint that we know of stands with the codes
that see it, or with the reason why none does. Several constraints may share a code."""


def pages() -> dict[str, str]:
    """File name -> content of everything in docs/rules."""
    fixed = {"README.md": index_markdown(), "not-implemented.md": left_markdown()}
    return fixed | {f"{rule.code}.md": page_markdown(rule) for rule in all_rules()}


def stale(folder: Path) -> list[str]:
    """Names of pages that are missing, differ, or belong to no rule."""
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in {*wanted, *found} if wanted.get(name) != found.get(name))


def main() -> int:
    """Writes the pages, or checks them."""
    if "--check" in sys.argv[1:]:
        names = stale(DOCS)
        print("\n".join(f"stale: docs/rules/{name}" for name in names) or "docs/rules is up to date")
        return 1 if names else 0
    DOCS.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in DOCS.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    print(f"{len(wanted)} pages written to docs/rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
