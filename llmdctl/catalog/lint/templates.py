"""Templates print whole values and decide nothing: `{{ }}` never stands inside a text, `{% if %}` asks for presence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import jinja2
from jinja2 import nodes

from llmdctl.catalog.lint.problem import Problems
from llmdctl.findings import SourceRef

_PRINT = "\0"
_VALUE_BEFORE = re.compile(r"(^|[:\-,]\s|[\[{])\s*$")
_VALUE_AFTER = re.compile(r"\s*$|\s*[,\]}]|\s+#|:(\s|$)")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:''|[^'])*'")
_NO_TEST = "compute it in the plan and ask whether it is there"


def lint_template(path: Path, problems: Problems) -> None:
    """Checks one template: syntax, conditions, and where it prints."""
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.add(SourceRef(str(path)), f"can't be read as text: {error}")
        return
    environment = jinja2.Environment(autoescape=False)  # noqa: S701 (nothing is rendered here)
    try:
        tree = environment.parse(source)
    except jinja2.TemplateSyntaxError as error:
        problems.add(SourceRef(str(path), error.lineno), f"not valid Jinja: {error.message}")
        return
    except RecursionError:
        problems.add(SourceRef(str(path)), "an expression is nested too deeply", _NO_TEST)
        return
    for line, what in _decisions(tree):
        problems.add(SourceRef(str(path), line), what, _NO_TEST)
    for line, what in _misplaced(environment, source):
        problems.add(SourceRef(str(path), line), what, "let the plan compose the text, and print it whole")


def _decisions(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    for branch in tree.find_all(nodes.If):
        if not _is_presence(branch.test):
            yield branch.lineno, "{% if %} on something else than presence"
    for choice in tree.find_all(nodes.CondExpr):
        yield choice.lineno, "a value is chosen inside {{ }}"
    for loop in tree.find_all(nodes.For):
        if loop.test is not None and not _is_presence(loop.test):
            yield loop.lineno, "a loop filters on something else than presence"


def _is_presence(test: nodes.Node) -> bool:
    """True for a dotted name, alone or as `not NAME`, `NAME is defined`."""
    if isinstance(test, nodes.Not):
        return _is_presence(test.node)
    if isinstance(test, nodes.Test):
        return test.name in ("defined", "none") and _is_presence(test.node)
    if isinstance(test, nodes.Getattr):
        return _is_presence(test.node)
    return isinstance(test, nodes.Name)


def _misplaced(environment: jinja2.Environment, source: str) -> Iterator[tuple[int, str]]:
    """Prints that are not a whole value (or key): the text before and after them in their line tells."""
    for number, line in enumerate(_marked(environment, source).split("\n"), start=1):
        for found in re.finditer(_PRINT, line):
            before, after = line[: found.start()], line[found.end() :]
            if not _VALUE_BEFORE.search(before) or _in_quotes(before):
                yield number, f"{{{{ }}}} stands inside a text after {before.strip().replace(_PRINT, '{{ }}')!r}"
            elif not _VALUE_AFTER.match(after):
                yield number, f"text follows {{{{ }}}}: {after.strip().replace(_PRINT, '{{ }}')!r}"


def _marked(environment: jinja2.Environment, source: str) -> str:
    """The template's text with every print as one mark, and without blocks and comments; lines keep their numbers."""
    out: list[str] = []
    inside = False
    for _, kind, value in environment.lex(source):
        if kind in ("variable_begin", "block_begin", "comment_begin"):
            inside = True
            out.append(_PRINT if kind == "variable_begin" else "")
        if inside or kind != "data":
            out.append("\n" * value.count("\n"))
        else:
            out.append(value)
        if kind in ("variable_end", "block_end", "comment_end"):
            inside = False
    return "".join(out)


def _in_quotes(text: str) -> bool:
    """True when a quote of the line is still open at its end."""
    rest = _QUOTED.sub("", text)
    return any(re.search(rf"(^|[:\-,\[{{]\s*){quote}", rest) for quote in "\"'")
