"""`validate --fix`: makes the edits that findings carry, round by round, in memory; writing is the caller's choice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from llmdctl.cluster.inventory import PREFIX
from llmdctl.findings import Edit, Finding, Op, Report, UserError
from llmdctl.findings import Path as Steps
from llmdctl.findings.frozen import frozen
from llmdctl.manifest.edit import edit_text
from llmdctl.manifest.edit_data import NotEditableError
from llmdctl.manifest.files import read_bytes
from llmdctl.manifest.tools import is_rendered
from llmdctl.manifest.write import replace_file

MAX_ROUNDS = 10

Texts = Mapping[str, bytes]


@frozen
class Change:
    """A file before and after."""

    file: str
    before: bytes
    after: bytes


@frozen
class Fixed:
    """What a run of `--fix` comes to. `refused` are findings whose edits can't be made, each with the reason."""

    before: Report
    after: Report
    changes: tuple[Change, ...] = ()
    fixed: tuple[Finding, ...] = ()
    refused: tuple[tuple[Finding, str], ...] = field(default=())


def fix(validate: Callable[[Texts], Report]) -> Fixed:
    """Edits until no finding offers an edit any more. `validate` checks the input with these texts in place of files.

    Edits that touch each other wait for the next round, in which everything is looked at anew.
    """
    texts: dict[str, bytes] = {}
    originals: dict[str, bytes] = {}
    first = report = validate(texts)
    fixed: list[Finding] = []
    refused: dict[str, tuple[Finding, str]] = {}
    replaced: set[tuple[object, ...]] = set()
    for _ in range(MAX_ROUNDS):
        plan = _Round(texts, refused, replaced)
        done = plan.run(report.findings)
        if not done:
            break
        fixed += done
        for file in plan.changed:
            originals.setdefault(file, plan.before[file])
        texts.update(plan.changed)
        report = validate(texts)
    changes = tuple(
        Change(file, originals[file], texts[file]) for file in sorted(originals) if originals[file] != texts[file]
    )
    return Fixed(first, report, changes, tuple(fixed), tuple(refused.values()))


class _Round:
    """One round: which findings are mended together, and the texts that come out."""

    def __init__(
        self, texts: Texts, refused: dict[str, tuple[Finding, str]], replaced: set[tuple[object, ...]]
    ) -> None:
        self._replaced = replaced
        self.before = dict(texts)
        self.changed: dict[str, bytes] = {}
        self._refused = refused
        self._claims: dict[tuple[str, int, int | None], _Claims] = defaultdict(_Claims)

    def run(self, findings: Sequence[Finding]) -> list[Finding]:
        """Mends what can be mended at once; gives the findings that were."""
        groups: dict[tuple[Edit, ...], list[Finding]] = {}
        for finding in findings:
            # A consequence may go with its cause.
            if not finding.edits or finding.root_cause or finding.fingerprint in self._refused:
                continue
            if finding.edits in groups:
                groups[finding.edits].append(finding)
            elif reason := next(filter(None, map(_why_not, finding.edits)), ""):
                self._refuse([finding], reason)
            elif any(_value(edit) in self._replaced for edit in finding.edits):
                self._refuse([finding], "another fix set this value already: the two contradict each other")
            elif self._claim(finding.edits):
                groups[finding.edits] = [finding]
        if not self._apply(list(groups)):
            groups = {edits: same for edits, same in groups.items() if self._alone(edits, same)}
        self._replaced.update(_value(edit) for edits in groups for edit in edits if edit.op is Op.REPLACE)
        return [finding for same in groups.values() for finding in same]

    def _claim(self, edits: Iterable[Edit]) -> bool:
        wanted = [(self._claims[_object(edit)], _touched(edit)) for edit in edits]
        if not all(claims.is_free(path) for claims, path in wanted):
            return False
        for claims, path in wanted:
            claims.add(path)
        return True

    def _apply(self, groups: Sequence[tuple[Edit, ...]]) -> bool:
        """Makes the edits of these groups, all or none."""
        by_file: dict[str, list[Edit]] = defaultdict(list)
        for edit in (edit for group in groups for edit in group):
            by_file[_file(edit)].append(edit)
        try:
            made = {file: edit_text(self._text(file), file, edits) for file, edits in by_file.items()}
        except NotEditableError:
            return False
        self.changed.update(made)
        return True

    def _alone(self, edits: tuple[Edit, ...], findings: Sequence[Finding]) -> bool:
        """Makes the edits of one group, in the texts as the groups before left them."""
        made = {}
        try:
            for file in dict.fromkeys(map(_file, edits)):
                own = [edit for edit in edits if _file(edit) == file]
                made[file] = edit_text(self._text(file), file, own)
        except NotEditableError as error:
            self._refuse(findings, str(error))
            return False
        self.changed.update(made)
        return True

    def _text(self, file: str) -> bytes:
        if file in self.changed:
            return self.changed[file]
        if file not in self.before:
            try:
                self.before[file] = read_bytes(file)
            except UserError as error:
                raise NotEditableError(error.what) from error
        return self.before[file]

    def _refuse(self, findings: Iterable[Finding], reason: str) -> None:
        for finding in findings:
            self._refused[finding.fingerprint] = finding, reason


class _Claims:
    """Paths of one object that edits of this round touch."""

    def __init__(self) -> None:
        self._taken: set[Steps] = set()
        self._above: set[Steps] = set()

    def is_free(self, path: Steps) -> bool:
        """True when no claimed path is this one, holds it or stands in it."""
        return path not in self._above and not any(start in self._taken for start in _starts(path))

    def add(self, path: Steps) -> None:
        """Claims a path."""
        self._taken.add(path)
        self._above.update(_starts(path))


def _starts(path: Steps) -> Iterator[Steps]:
    return (path[:length] for length in range(len(path) + 1))


def _touched(edit: Edit) -> Steps:
    """What an edit changes: adding to or removing from a list moves its other items."""
    path = edit.at.path
    return path[:-1] if edit.op in (Op.ADD, Op.REMOVE) and path and isinstance(path[-1], int) else path


def _object(edit: Edit) -> tuple[str, int, int | None]:
    return _file(edit), edit.at.source.document if edit.at.source else 0, edit.at.item


def _value(edit: Edit) -> tuple[object, ...]:
    return (*_object(edit), *edit.at.path)


def _file(edit: Edit) -> str:
    return edit.at.source.file if edit.at.source else ""


def _why_not(edit: Edit) -> str:
    file = _file(edit)
    if not file or is_rendered(file) or file.startswith(PREFIX):
        return f"it does not stand in a file that can be edited: {file or 'no source'}"
    if file.endswith(".gz"):
        return "packed files are not edited"
    folders = Path(file).resolve().parents
    if any(folder.name == "templates" and (folder.parent / "Chart.yaml").is_file() for folder in folders):
        return "templates of a chart are not edited"
    return ""


def write_changes(changes: Sequence[Change]) -> None:
    """Writes the files, each whole or not at all.

    Raises UserError when one was changed meanwhile or can't be written.
    """
    for change in changes:
        if read_bytes(change.file) != change.before:
            raise UserError(f"{change.file} was changed while it was checked", fix="run the command again")
    for change in changes:
        try:
            replace_file(Path(change.file), change.after)
        except OSError as error:
            raise UserError(f"can't write {change.file}", why=error.strerror or str(error)) from error


def diff(changes: Sequence[Change]) -> Iterator[str]:
    """A unified diff, line by line without line ends, that `patch -p0` takes."""
    from difflib import unified_diff

    for change in changes:
        for line in unified_diff(_lines(change.before), _lines(change.after), change.file, change.file):
            yield line.removesuffix("\n")
            if not line.endswith("\n"):
                yield "\\ No newline at end of file"


def _lines(data: bytes) -> list[str]:
    # str.splitlines also splits at characters that are part of a line in YAML.
    return re.findall(r"[^\n]*\n|[^\n]+$", data.decode("utf-8", "replace"))
