"""Output formats that commands share, and writing plain data in them."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Any


class Format(StrEnum):
    """Forms of a command's result on stdout."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


def write_data(data: Any, output: Format) -> None:
    """Writes plain data to stdout as JSON or YAML."""
    if output is Format.YAML:
        from llmdctl.manifest.emit import emit_yaml

        sys.stdout.write(emit_yaml(data))
    else:
        sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
