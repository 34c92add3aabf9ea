"""Reads `guides/` and `images/` into typed entries: guides, engines, models, accelerators, providers, images."""
