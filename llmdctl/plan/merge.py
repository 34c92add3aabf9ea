"""Merging layers of plain data, with the origin of every value that wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmdctl.findings import Path
from llmdctl.plan.origin import Ledger, Origin

LIST_KEYS: Mapping[str, tuple[str, ...]] = {
    "env": ("name",),
    "volumes": ("name",),
    "mounts": ("mountPath",),
    "tolerations": ("key", "operator", "effect"),
    "imagePullSecrets": ("name",),
    "plugins": ("name", "type"),
    "policies": ("kind",),
}
"""Lists that merge item by item, and the fields that identify an item."""

KEEPS_NULL = frozenset({"engineArgs", "requests", "limits"})
"""Maps in which null is a value: it removes what another layer, or a formula, puts there later."""

OriginOf = Callable[[Path], Origin]


def item_key(field: str, item: Any) -> tuple[Any, ...]:
    """The identity of an item of a keyed list."""
    return tuple(item.get(name) for name in LIST_KEYS[field]) if isinstance(item, Mapping) else (item,)


def merge(base: dict[str, Any], layer: Mapping[str, Any], origin_of: OriginOf, ledger: Ledger, path: Path = ()) -> None:
    """Merges `layer` over `base` in place.

    Maps merge deeply, keyed lists item by item, everything else is replaced; null removes (or stays, in maps where
    it means "without").
    """
    for key, value in layer.items():
        here = (*path, key)
        if value is None:
            _remove(base, key, here, origin_of, ledger, keep=bool(path) and path[-1] in KEEPS_NULL)
        elif isinstance(value, Mapping) and isinstance(base.get(key), dict):
            merge(base[key], value, origin_of, ledger, here)
        elif isinstance(value, Mapping):
            base[key] = {}
            ledger.note(here, origin_of(here))
            merge(base[key], value, origin_of, ledger, here)
        elif key in LIST_KEYS and isinstance(value, list):
            base[key] = _merge_list(key, base.get(key) or [], value, origin_of, ledger, here)
        else:
            base[key] = value
            ledger.forget(here)
            ledger.note(here, origin_of(here))


def _remove(base: dict[str, Any], key: str, here: Path, origin_of: OriginOf, ledger: Ledger, *, keep: bool) -> None:
    ledger.forget(here)
    if keep:
        base[key] = None
        ledger.note(here, origin_of(here))
    else:
        base.pop(key, None)


def _merge_list(
    field: str, old: list[Any], new: list[Any], origin_of: OriginOf, ledger: Ledger, path: Path
) -> list[Any]:
    items = {item_key(field, item): item for item in old}
    for index, item in enumerate(new):
        identity = item_key(field, item)
        items[identity] = item
        ledger.note((*path, list_step(field, item)), origin_of((*path, index)))
    ledger.note(path, origin_of(path))
    return list(items.values())


def list_step(field: str, item: Any) -> str:
    """The path step of an item in a keyed list: its identity, so that it stays when items move."""
    return "/".join(str(part) for part in item_key(field, item) if part is not None)
