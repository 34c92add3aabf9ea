"""Bundled kinds and CRDs: structural walker, defaulting, list types."""

from llmdctl.schema.builtin import SUPPORTED_MINORS
from llmdctl.schema.fault import Violation
from llmdctl.schema.store import CheckResult, KindSchema, SchemaStore, Unserved

__all__ = ["SUPPORTED_MINORS", "CheckResult", "KindSchema", "SchemaStore", "Unserved", "Violation"]
