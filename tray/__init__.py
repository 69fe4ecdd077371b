"""Hooktray: one tray for every coding agent's hooks."""

__version__ = "0.1.0"
