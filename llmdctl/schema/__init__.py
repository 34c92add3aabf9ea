"""Bundled kinds and CRDs: structural walker, defaulting, list types."""
