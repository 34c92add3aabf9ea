"""Inference engines by version: flag tables, building and parsing command lines, default ports."""
