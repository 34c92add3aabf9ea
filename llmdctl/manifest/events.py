"""The stream of parser events: libyaml where PyYAML was built with it, else PyYAML's own parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

GetEvent = Callable[[], Any]


class _PurePythonParser(Reader, Scanner, Parser):
    def __init__(self, data: bytes) -> None:
        Reader.__init__(self, data)
        Scanner.__init__(self)
        Parser.__init__(self)


def open_events(data: bytes) -> GetEvent:
    """A function that returns the next event of `data` (UTF-8) and None after the last; it raises yaml.YAMLError."""
    if yaml.__with_libyaml__:
        from yaml._yaml import CParser

        get_event: GetEvent = CParser(data).get_event
        return get_event
    parser: Any = _PurePythonParser(data)
    pure: GetEvent = parser.get_event
    return pure
