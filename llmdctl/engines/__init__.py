"""Inference engines by version: flag tables, building and parsing command lines, default ports."""

from llmdctl.engines.command import Opaque, Option, ParsedArgs, Word, build, parse
from llmdctl.engines.invocation import Invocation, Source, find_engine
from llmdctl.engines.tables import Flag, FlagTable, known_versions, load_table, table_for

__all__ = [
    "Flag",
    "FlagTable",
    "Invocation",
    "Opaque",
    "Option",
    "ParsedArgs",
    "Source",
    "Word",
    "build",
    "find_engine",
    "known_versions",
    "load_table",
    "parse",
    "table_for",
]
