"""Collectors -> facts -> checks -> findings, for a live cluster or a saved bundle."""
