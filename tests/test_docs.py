"""The documents: their links lead somewhere, and the commands they show exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from llmdctl.cli.app import build_app

ROOT = Path(__file__).parent.parent
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("doc", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(doc: Path) -> None:
    for target in LINK.findall(doc.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        found = doc.parent / name if name else doc
        assert found.exists(), target
        if anchor:
            assert anchor in anchors(found.read_text(encoding="utf-8")), target


def shown_commands() -> list[tuple[str, list[str]]]:
    found = []
    for doc in DOCS:
        blocks = BLOCK.findall(doc.read_text(encoding="utf-8"))
        for block in (text for language, text in blocks if language in ("", "sh")):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("llmdctl "):
                    words = shlex.split(line, comments=True)
                    found.append((doc.name, words[1:]))
    return found


def test_commands_are_shown() -> None:
    assert any(doc == "README.md" for doc, _ in shown_commands())


@pytest.mark.parametrize(("doc", "words"), shown_commands(), ids=lambda value: " ".join(value)[:60])
def test_shown_commands_and_their_options_exist(doc: str, words: list[str]) -> None:
    command = typer.main.get_command(build_app(words))
    context = typer.Context(command)
    while words and not words[0].startswith("-") and hasattr(command, "get_command"):
        below = command.get_command(context, words[0])
        assert below is not None, f"{doc}: no command {words[0]}"
        command, words = below, words[1:]
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"-h", "--help"}
    for word in words:
        if word.startswith("-") and word != "-":
            assert word.partition("=")[0] in known, f"{doc}: {word}"


def test_the_architecture_tells_which_packages_are_empty() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    line = re.search(r"^Still empty: (.+?)\.", text, re.MULTILINE)
    told = set(re.findall(r"`(\w+)`", line[1])) if line else set()
    packages = [path.parent for path in (ROOT / "llmdctl").glob("*/__init__.py")]
    assert told == {package.name for package in packages if not list(package.rglob("[!_]*.py"))}
