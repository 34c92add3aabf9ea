"""Manifests: reading YAML and JSON by Go's rules, positions, identity, writing; typed loading of plain data."""

from llmdctl.manifest.document import Document, object_ref
from llmdctl.manifest.duplicates import duplicate_objects
from llmdctl.manifest.positions import locate, with_positions
from llmdctl.manifest.reader import Reading, read_paths, read_text
from llmdctl.manifest.rules import YML_RULES

__all__ = [
    "YML_RULES",
    "Document",
    "Reading",
    "duplicate_objects",
    "locate",
    "object_ref",
    "read_paths",
    "read_text",
    "with_positions",
]
