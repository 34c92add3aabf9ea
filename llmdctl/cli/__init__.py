"""Typer commands: parse, call, print. No logic lives here."""
