"""Layers and rules over objects: reading, structure, admission, cross-resource rules."""
