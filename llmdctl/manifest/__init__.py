"""YAML reading with Go's scalar rules and positions, identity, pointers, writing."""

from llmdctl.manifest.document import Document, object_ref

__all__ = ["Document", "object_ref"]
