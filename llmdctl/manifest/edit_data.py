"""Making edits in data: plain data, or what ruamel.yaml reads, whose quotes and comments are kept."""

from __future__ import annotations

import copy
from typing import Any

from llmdctl.findings import Edit, Op, Path
from llmdctl.manifest.emit import is_plain


class NotEditableError(Exception):
    """A text that can't be edited safely, with the reason."""


def apply_edit(root: Any, edit: Edit, prefix: Path = (), *, styled: bool = False) -> None:
    """Makes one edit in data: plain, or (`styled`) ruamel's, which keeps quotes.

    Raises NotEditableError when its place is not there.
    """
    path: Path = (*prefix, *edit.at.path)
    if not path:
        raise NotEditableError("an object as a whole can't be edited")
    parent = root
    for step in path[:-1]:
        parent = parent[_key(parent, step)]
    last = path[-1]
    if edit.op is Op.ADD:
        if not isinstance(parent, list | dict):
            raise NotEditableError(f"{last} can't be added there")
        _add(parent, last, _like_its_siblings(parent, edit.value) if styled else copy.deepcopy(edit.value))
        return
    key = _key(parent, last)
    if edit.op is Op.REPLACE:
        parent[key] = _styled(parent[key], edit.value) if styled else copy.deepcopy(edit.value)
    elif edit.op is Op.REMOVE:
        del parent[key]
    else:
        _rename(parent, key, _safe(str(edit.value)) if styled else str(edit.value))


def _key(parent: Any, step: str | int) -> Any:
    """The key of a map or the index of a list that a step names; ruamel reads some keys as numbers."""
    if isinstance(parent, list):
        if isinstance(step, int) and 0 <= step < len(parent):
            return step
    elif isinstance(parent, dict):
        if step in parent:
            return str(step) if isinstance(step, str) else step
        for key in parent:
            if str(key) == str(step):
                return key
    raise NotEditableError(f"there is no {step} where it should be")


def _add(parent: Any, last: str | int, value: Any) -> None:
    if isinstance(parent, list) and isinstance(last, int):
        parent.insert(last, value)
    elif isinstance(parent, dict) and isinstance(last, str) and last not in parent:
        parent[str(last)] = value
    else:
        raise NotEditableError(f"{last} can't be added there")


def _rename(parent: Any, key: Any, name: str) -> None:
    if not isinstance(parent, dict) or name in parent:
        raise NotEditableError(f"{name} is there already")
    comments = getattr(parent, "ca", None)
    saved = comments.items.pop(key, None) if comments is not None else None
    items = list(parent.items())
    for old, _ in items:
        del parent[old]
    kept = dict(comments.items) if comments is not None else {}
    for old, value in items:
        parent[name if old == key else old] = value
    if comments is not None:
        comments.items.update(kept)
        if saved is not None:
            comments.items[name] = saved


def _styled(old: Any, new: Any) -> Any:
    """The new value in the quotes of the old one, and a text that takes the place of a number in quotes."""
    if isinstance(new, str) and _is_quoted(old):
        return type(old)(new)
    return _quoted(new) if isinstance(new, str) and not isinstance(old, str) else _safe(new)


def _like_its_siblings(parent: Any, value: Any) -> Any:
    """A new text in the quotes that all texts beside it have."""
    beside: list[Any] = list(parent if isinstance(parent, list) else parent.values())
    if isinstance(value, str) and beside and len({type(item) for item in beside}) == 1 and _is_quoted(beside[0]):
        return type(beside[0])(value)
    return _safe(value)


def _is_quoted(value: Any) -> bool:
    return type(value).__name__ in ("SingleQuotedScalarString", "DoubleQuotedScalarString")


def _safe(value: Any) -> Any:
    """A copy in which texts that another YAML version takes for something else (`y`, `1:30`) are quoted."""
    if isinstance(value, dict):
        return {_safe(key): _safe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_safe(item) for item in value]
    return _quoted(value) if isinstance(value, str) and not is_plain(value) else value


def _quoted(text: str) -> Any:
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    return DoubleQuotedScalarString(text)
