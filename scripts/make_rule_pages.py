"""Writes docs/rules from the rules. `--check` only compares and exits with 1 when a page is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from llmdctl.validate.pages import index_markdown, page_markdown
from llmdctl.validate.registry import all_rules

DOCS = Path(__file__).resolve().parent.parent / "docs" / "rules"


def pages() -> dict[str, str]:
    """File name -> content of everything in docs/rules."""
    return {"README.md": index_markdown()} | {f"{rule.code}.md": page_markdown(rule) for rule in all_rules()}


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
