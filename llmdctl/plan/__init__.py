"""Spec and catalog -> Plan: every default resolved, every derived number computed once, with its provenance."""
