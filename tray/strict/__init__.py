"""Bounded YAML and JSON with positions: a file's values, each with its line and column."""

from tray.strict.document import Document, Mark, nearest, suggest
from tray.strict.json_reader import load_json, relax
from tray.strict.yaml_reader import load_yaml

__all__ = ["Document", "Mark", "load_json", "load_yaml", "nearest", "relax", "suggest"]
