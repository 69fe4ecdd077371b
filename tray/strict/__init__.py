"""Bounded YAML and JSON with positions: what a file says, and the line and column where it says it."""

from tray.strict.document import Document, Mark, nearest, suggest
from tray.strict.json_reader import load_json, relax
from tray.strict.yaml_reader import load_yaml

__all__ = ["Document", "Mark", "load_json", "load_yaml", "nearest", "relax", "suggest"]
