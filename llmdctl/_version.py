"""The version of llmdctl, kept in a module of its own so that reading it imports nothing."""

__version__ = "0.1.0.dev0"
