"""Bounded YAML and JSON with positions: a file's values, each with its line and column."""
