"""Editing YAML and JSON text so that everything that is not edited stays as it is written.

A document is read and written by ruamel.yaml once as it is and once edited; the difference of the two is laid over the
text. What comes out is read again by our own reader, and must be exactly the old data with the edits made: anything
else (anchors that share a value, templates, layouts that can't be kept) is refused, never guessed.
"""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Sequence
from typing import Any

from llmdctl.findings import Edit, Path
from llmdctl.manifest.edit_data import NotEditableError, apply_edit
from llmdctl.manifest.edit_layout import indents, merge
from llmdctl.manifest.jsontext import read_json
from llmdctl.manifest.reader import read_text

MAX_LINES = 20_000
"""Documents with more lines are not edited: comparing them line by line takes too long."""

_MARKER = re.compile(rb"^---(?=[ \t\r\n]|$)[ \t]*(#[^\n]*)?\r?(\n|$)", re.MULTILINE)
_ANY_MARKER = re.compile(rb"^(---|\.\.\.)(?=[ \t\r\n]|$)", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"


def edit_text(data: bytes, file: str, edits: Sequence[Edit]) -> bytes:
    """The text with the edits made, in order. Raises NotEditableError, and then nothing of it may be used."""
    before = read_text(data, file)
    if before.errors:
        raise NotEditableError(before.errors[0].what)
    if any(finding.code == "YML001" for finding in before.findings):
        raise NotEditableError("it names a key twice, so that what stands there is not certain")
    wanted = {(item.source.document, item.item): copy.deepcopy(item.object) for item in before.documents}
    for edit in edits:
        key = (edit.at.source.document if edit.at.source else 0, edit.at.item)
        if key not in wanted:
            raise NotEditableError("the object is not where it was")
        apply_edit(wanted[key], edit)
    edited = _edit_json(data, edits) if read_json(data) is not None else _edit_yaml(data, edits)
    after = read_text(edited, file)
    found = {(item.source.document, item.item): item.object for item in after.documents}
    if after.errors or found != wanted or not _same_types(found, wanted):
        raise NotEditableError("its layout, or an anchor that shares the value, allows no safe edit")
    lost = _comments(data) - _comments(edited)
    if lost:
        raise NotEditableError("a comment would be lost")
    return edited


def _same_types(left: Any, right: Any) -> bool:
    """Equality that tells 1 from True and from 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return all(_same_types(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return all(map(_same_types, left, right))
    return bool(left == right)


def _comments(data: bytes) -> set[bytes]:
    return {line.strip() for line in data.splitlines() if line.lstrip().startswith(b"#")}


def _prefix(edit: Edit) -> Path:
    return () if edit.at.item is None else ("items", edit.at.item)


def _edit_json(data: bytes, edits: Sequence[Edit]) -> bytes:
    import json

    text = data.removeprefix(_BOM).decode()
    value = json.loads(text)
    indent = re.search(r"\n([ \t]+)\S", text)
    form: dict[str, Any] = {"ensure_ascii": False, "indent": indent[1] if indent else None}
    base = json.dumps(value, **form)
    for edit in edits:
        apply_edit(value, edit, _prefix(edit))
    merged = merge(base.splitlines(), text.splitlines(), json.dumps(value, **form).splitlines())
    end = "\r\n" if "\r\n" in text else "\n"
    out = end.join(merged) + (end if text.endswith("\n") else "")
    try:
        good = json.loads(out) == value
    except ValueError:
        good = False
    if not good:
        out = json.dumps(value, **form) + "\n"
    return out.encode()


def _edit_yaml(data: bytes, edits: Sequence[Edit]) -> bytes:
    head = _BOM if data.startswith(_BOM) else b""
    chunks = _chunks(data.removeprefix(_BOM))
    by_document: dict[int, list[Edit]] = {}
    for edit in edits:
        by_document.setdefault(edit.at.source.document if edit.at.source else 0, []).append(edit)
    documents = [index for index, (_, is_document) in enumerate(chunks) if is_document]
    for number, own in by_document.items():
        if number >= len(documents):
            raise NotEditableError("its documents are separated in an unusual way")
        index = documents[number]
        chunks[index] = (_edit_document(chunks[index][0], own), True)
    return head + b"".join(chunk for chunk, _ in chunks)


def _chunks(data: bytes) -> list[tuple[bytes, bool]]:
    """The text cut at `---` lines: markers, and what stands between them, with whether that is a document."""
    markers = list(_MARKER.finditer(data))
    if len(markers) != len(_ANY_MARKER.findall(data)):
        raise NotEditableError("its documents are separated in an unusual way")
    out: list[tuple[bytes, bool]] = []
    start = 0
    for number, marker in enumerate([*markers, None]):
        end = marker.start() if marker else len(data)
        text = data[start:end]
        is_document = number > 0 or any(line.strip() and line.lstrip()[:1] not in b"#%" for line in text.splitlines())
        out.append((text, is_document))
        if marker:
            out.append((marker[0], False))
            start = marker.end()
    return out


def _edit_document(data: bytes, edits: Sequence[Edit]) -> bytes:
    text = data.decode()
    endings = [line[len(line.rstrip("\r\n")) :] for line in text.splitlines(keepends=True)]
    mine = [line.rstrip("\r\n") for line in text.splitlines(keepends=True)]
    if len(mine) > MAX_LINES:
        raise NotEditableError(f"it has more than {MAX_LINES} lines")
    if text.count("\n") != sum(1 for ending in endings if ending):
        raise NotEditableError("it has line breaks other than LF and CRLF")
    plain = "\n".join(mine) + "\n"
    _check_written(plain, edits)
    base, edited = _written(plain, edits, mine)
    merged = merge(base, mine, edited)
    if not _holds(merged, edited):
        merged = edited
    end = max(endings, key=endings.count) if endings else "\n"
    ends = not text or text.endswith("\n")
    return ((end or "\n").join(merged) + ((end or "\n") if ends else "")).encode()


def _holds(merged: Sequence[str], edited: Sequence[str]) -> bool:
    """True when both texts hold the same data."""
    left, right = (read_text("\n".join(lines) + "\n", "-") for lines in (merged, edited))
    same = [item.object for item in left.documents] == [item.object for item in right.documents]
    return not left.errors and not left.findings and same


def _check_written(text: str, edits: Sequence[Edit]) -> None:
    if not any(edit.written for edit in edits):
        return
    import yaml

    root = yaml.compose(text, Loader=yaml.BaseLoader)
    for edit in edits:
        if edit.written and _scalar(root, (*_prefix(edit), *edit.at.path)) != edit.written:
            raise NotEditableError(f"{edit.at.pointer} is written in another form than {edit.written}")


def _scalar(node: Any, path: Path) -> str | None:
    for step in path:
        if isinstance(step, int):
            items = node.value if isinstance(node.value, list) else []
            node = items[step] if step < len(items) and not isinstance(items[step], tuple) else None
        else:
            pairs = node.value if isinstance(node.value, list) else []
            node = next((pair[1] for pair in pairs if isinstance(pair, tuple) and pair[0].value == str(step)), None)
        if node is None:
            return None
    return node.value if isinstance(node.value, str) else None


def _written(text: str, edits: Sequence[Edit], lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The document as ruamel writes it, as it is and edited."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = 1 << 20
    mapping, offset = indents(lines)
    yaml.indent(mapping=mapping, sequence=offset + 2, offset=offset)
    try:
        data = yaml.load(text)
        base = _dumped(yaml, data)
        for edit in edits:
            apply_edit(data, edit, _prefix(edit), styled=True)
        return base, _dumped(yaml, data)
    # Forms that ruamel reads and can't write make it end in any of these; the file is then left as it is.
    except (YAMLError, ValueError, TypeError, AttributeError, NotImplementedError) as error:
        raise NotEditableError(f"it can't be written back: {str(error).splitlines()[0]}") from error


def _dumped(yaml: Any, data: Any) -> list[str]:
    out = io.StringIO()
    yaml.dump(data, out)
    return out.getvalue().splitlines()
