"""The functions of a Kubernetes minor."""

from __future__ import annotations

from functools import cache

from llmdctl.schema.cel import collections, kubernetes, standard, text, times
from llmdctl.schema.cel.registry import Functions


@cache
def functions() -> Functions:
    """Every function that Kubernetes' expressions may call; overloads tell since which minor."""
    found = Functions()
    for library in (standard, times, text, collections, kubernetes):
        library.register(found)
    return found
