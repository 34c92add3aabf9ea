"""What the server does to a custom resource before it validates: nulls are dropped, defaults are filled in."""

from __future__ import annotations

import copy
from typing import Any

from llmdctl.schema.node import ListForm, MapForm, Node, ObjectForm


def complete(node: Node, value: Any) -> Any:
    """The value with defaults. Parts without any are shared with the input; the input itself never changes."""
    form = node.form
    if isinstance(value, dict):
        if isinstance(form, ObjectForm):
            return _complete_object(form, value)
        if isinstance(form, MapForm):
            return _complete_map(form.values, value)
    elif isinstance(value, list) and isinstance(form, ListForm) and form.items is not None:
        return _complete_list(form.items, value)
    return value


def _complete_object(form: ObjectForm, value: dict[str, Any]) -> dict[str, Any]:
    if form.lenient:
        return value  # Metadata and other built-in parts have no defaults of this kind.
    changed: dict[str, Any] = {}
    dropped: list[str] = []
    for key, item in value.items():
        node = form.child(key)
        if node is None or type(item) is node.fast:
            continue
        if item is None and not node.nullable:
            dropped.append(key)
            continue
        better = complete(node, item)
        if better is not item:
            changed[key] = better
    missing = [key for key in form.defaults if key not in value or key in dropped]
    if not changed and not dropped and not missing:
        return value
    out = {key: changed.get(key, item) for key, item in value.items() if key not in dropped}
    for key in missing:
        child = form.child(key)
        default = copy.deepcopy(form.defaults[key])
        out[key] = complete(child, default) if child else default
    return out


def _complete_map(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    changed = {}
    for key, item in value.items():
        if type(item) is not node.fast:
            better = complete(node, item)
            if better is not item:
                changed[key] = better
    dropped = [key for key, item in value.items() if item is None and not node.nullable]
    if not changed and not dropped:
        return value
    return {key: changed.get(key, item) for key, item in value.items() if key not in dropped}


def _complete_list(node: Node, value: list[Any]) -> list[Any]:
    if node.fast is not None or node.form is None:
        return value
    out = [complete(node, item) for item in value]
    return value if all(new is old for new, old in zip(out, value, strict=True)) else out
