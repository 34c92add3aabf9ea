"""Guides: matrix, presets, templates, README, and the images that a listed combination needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from llmdctl.catalog.lint.cells import lint_cells, lint_roles
from llmdctl.catalog.lint.contributions import lint_when
from llmdctl.catalog.lint.flags import lint_default_flags
from llmdctl.catalog.lint.names import Names
from llmdctl.catalog.lint.problem import Problems
from llmdctl.catalog.lint.templates import lint_template
from llmdctl.catalog.model import Guide, When
from llmdctl.catalog.roots import EntryFile
from llmdctl.catalog.select import find_cell
from llmdctl.findings import SourceRef, UserError
from llmdctl.spec.model import SpecFields
from llmdctl.spec.paths import find_target

README = "README.md"
NAME_LENGTH = 255
"""Bytes that file systems allow in a name."""


def lint_guide(guide: Guide, file: EntryFile, templates: list[FilePath], names: Names, problems: Problems) -> None:
    """Checks a guide; `templates` are the directories in which its templates are looked up."""
    if not guide.roles or not guide.workloads:
        problems.at(file, ("roles" if not guide.roles else "workloads",), "must not be empty")
    for field in ("roles", "workloads"):
        for index, name in enumerate(getattr(guide, field)):
            names.check(field[:-1], name, file, (field, index), problems)
    _lint_unsupported(guide, file, problems)
    lint_cells(guide.matrix, [guide] * len(guide.matrix), "matrix", file, names, problems)
    engines = {engine for cell in guide.matrix for engine in cell.engines}
    lint_default_flags(engines, guide.defaults, file, ("defaults",), problems)
    _lint_listed((guide.defaults,), guide, file, ("defaults",), problems)
    for name, preset in guide.presets.items():
        path = ("presets", name, "defaults")
        names.check_defaults(preset.defaults, file, path, problems)
        lint_default_flags(engines, preset.defaults, file, path, problems)
        lint_roles(preset.defaults, guide, file, path, problems)
        _lint_listed((preset.defaults, guide.defaults), guide, file, path, problems)
        for index, variant in enumerate(preset.variants):
            inner = ("presets", name, "variants", index)
            for position, accelerator in enumerate(variant.accelerators):
                names.check("accelerator", accelerator, file, (*inner, "accelerators", position), problems)
            names.check_defaults(variant.defaults, file, (*inner, "defaults"), problems)
            lint_default_flags(engines, variant.defaults, file, (*inner, "defaults"), problems)
            lint_roles(variant.defaults, guide, file, (*inner, "defaults"), problems)
    lint_roles(guide.defaults, guide, file, ("defaults",), problems)
    for index, refusal in enumerate(guide.refused):
        lint_when(refusal.when, file, ("refused", index, "when"), names, problems)
        if refusal.when == When() or refusal.when.role is not None:
            problems.at(file, ("refused", index, "when"), "must name a choice of the stack, and no role")
    for index, made in enumerate(guide.objects):
        lint_when(made.when, file, ("objects", index, "when"), names, problems)
        if not any(_has_template(directory, made.template) for directory in templates):
            problems.at(file, ("objects", index, "template"), f"there is no template {made.template!r}")
    for index, step in enumerate(guide.verification):
        lint_when(step.when, file, ("verification", index, "when"), names, problems)
        if step.target == "render" and guide.kv_events is None:
            problems.at(file, ("verification", index, "target"), "without kvEvents no Service tokenises prompts")
    _lint_readme(file.path.parent / README, problems)


def _has_template(directory: FilePath, name: str) -> bool:
    """True for a template below the directory; the loader refuses names that lead out of it."""
    parts = name.split("/")
    if not all(parts) or ".." in parts or any(len(part) > NAME_LENGTH for part in parts):
        return False
    return (directory / name).is_file()


def _lint_unsupported(guide: Guide, file: EntryFile, problems: Problems) -> None:
    for index, dotted in enumerate(guide.unsupported):
        try:
            find_target(dotted)
        except UserError as error:
            problems.at(file, ("unsupported", index), error.what, error.fix)


def _lint_listed(
    layers: Sequence[SpecFields], guide: Guide, file: EntryFile, path: tuple[str | int, ...], problems: Problems
) -> None:
    """What a guide or preset comes down to when the user says nothing must be in the matrix."""
    chosen = [
        next((value for layer in layers if (value := getattr(layer, field))), "")
        for field in ("engine", "accelerator", "provider")
    ]
    if not all(chosen):
        problems.at(file, path, "engine, accelerator and provider need a default")
    elif find_cell(guide, *chosen) is None:
        problems.at(file, path, f"the matrix does not list {' '.join(chosen)}", "list it, or change the defaults")


def _lint_readme(path: FilePath, problems: Problems) -> None:
    source = SourceRef(str(path))
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        problems.add(source, "a guide needs a README.md", "write one that begins with a title")
        return
    if not any(line.startswith("# ") for line in lines):
        problems.add(source, "has no title", "begin it with a line such as `# Name of the guide`")


def lint_template_files(directories: list[FilePath], problems: Problems) -> None:
    """Checks every template below these directories once."""
    for path in sorted({path for directory in directories for path in directory.rglob("*.j2")}):
        lint_template(path, problems)
