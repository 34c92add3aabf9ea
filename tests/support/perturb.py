"""Small random faults in objects, to compare what we say of them with what a real API server says."""

from __future__ import annotations

import copy
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    "", "a", "A_b", "-x", "x-", "a.b", "a..b", "a/b", "x" * 64, "x" * 254, "8GB", "1.5Gi", "100m", "-1", "0", "8000",
    "50%", "101%", "true", "None", "Always", "default", "*", "$(VAR)", "http", "été", "a b", " a", "0x10",
    0, 1, -1, 2, 63, 65535, 65536, 70000, 2**31, 2**63 - 1, 1.5, True, False, None, [], {}, [""], {"a": "b"}, {"a": 1},
    ["a", "a"], [{}], [None],
)  # fmt: skip


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside, but not of what names the object."""
    found: list[tuple[Any, ...]] = [prefix] if prefix else []
    if isinstance(value, dict):
        for key, item in value.items():
            if (*prefix, key) not in (("apiVersion",), ("kind",), ("metadata",), ("metadata", "namespace")):
                found += paths(item, (*prefix, key))
            elif key == "metadata":
                found += [path for path in paths(item, ("metadata",)) if len(path) > 1]
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += paths(item, (*prefix, index))
    return found


def perturbed(original: dict[str, Any], chance: random.Random) -> tuple[dict[str, Any], str]:
    """A copy with one fault (which may be none), and what was done."""
    obj = copy.deepcopy(original)
    path = chance.choice(paths(obj))
    parent: Any = obj
    for step in path[:-1]:
        parent = parent[step]
    where = ".".join(map(str, path))
    action = chance.choice(("set", "set", "set", "set", "delete", "add", "repeat", "rename"))
    value = parent[path[-1]]
    if action == "delete":
        del parent[path[-1]]
    elif action == "add" and isinstance(value, dict):
        value["surprise"] = chance.choice(VALUES)
    elif action == "repeat" and isinstance(parent, list):
        parent.append(copy.deepcopy(value))
    elif action == "rename" and isinstance(parent, dict):
        parent[path[-1] + chance.choice(("x", "X", "_", " "))] = parent.pop(path[-1])
    else:
        action = "set"
        parent[path[-1]] = copy.deepcopy(chance.choice(VALUES))
        where += f"={parent[path[-1]]!r:.60}"
    return obj, f"{action} {where}"
