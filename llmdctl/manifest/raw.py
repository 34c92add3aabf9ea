"""What readers of text hand on: raw documents, and the plain scalars seen so far."""

from __future__ import annotations

import math
from typing import Any

from llmdctl.findings.frozen import frozen
from llmdctl.manifest.scalars import Scalar, ScalarError, resolve

MAX_DEPTH = 200
"""Nesting levels that are read. Kubernetes objects stay below 40."""

_CACHED_LENGTH = 128


@frozen
class RawDocument:
    """One YAML document: its value, the line and column (from 1) where its content begins, its index in the file.

    `repeats_keys` is True when a mapping may name a key twice; marks.py finds out which.
    """

    value: Any
    line: int
    column: int
    index: int
    repeats_keys: bool = False


class Scalars(dict[str, Scalar]):
    """Plain scalars seen so far; a manifest repeats the same few hundred."""

    def __missing__(self, text: str) -> Scalar:
        value = resolve(text)
        if isinstance(value, float) and not math.isfinite(value):
            raise ScalarError(f"{text} is not a number that JSON, and so Kubernetes, can carry")
        if len(text) <= _CACHED_LENGTH:
            self[text] = value
        return value
