"""Reads Codex's hooks: hooks.json, the table [hooks] of config.toml, a plugin's folder with hooks/hooks.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tray.agents.claude_shape.settings_hooks import ShapedReader
from tray.agents.codex.protocol import NAME, SETTINGS, SHAPE
from tray.agents.protocol import agent_events
from tray.edit import toml_edit
from tray.files import user_file
from tray.model.hook import Command
from tray.reading.entries import KeyPath, SourceHooks, SourceReader
from tray.strict.document import Document

CONFIG = "config.toml"
STATE = "state"  # of [hooks]: what its user trusts
VARIABLE = "PLUGIN_ROOT"  # of a plugin's hooks: its folder
PLUGIN_FILE = Path("hooks") / "hooks.json"


class CodexReader(ShapedReader):
    """A HookReader of three kinds of places."""

    def __init__(self) -> None:
        super().__init__(SHAPE, SETTINGS, NAME)
        self.EXPECTED = f"name ~/{SETTINGS.path}, ~/{SETTINGS.folder}/{CONFIG} or a plugin's folder ({PLUGIN_FILE})"

    def read(self, path: Path, agents: Sequence[str], environment: Mapping[str, str]) -> SourceHooks:
        """The hooks of one place. Raises OSError and ConfigError when it cannot be read at all."""
        if path.suffix == ".toml":
            return self._read_config(path, agents)
        file = path / PLUGIN_FILE if path.is_dir() else path
        is_plugin = file.parts[-2:] == PLUGIN_FILE.parts and file.parent.parent.name != SETTINGS.folder
        return self.parse(user_file(file), file, agents, file.parent.parent if is_plugin else None)

    def command(self, reader: SourceReader, at: KeyPath, fields: Mapping[str, Any]) -> Command:
        """A hook that names its plugin's folder is approved with all of it."""
        command = super().command(reader, at, fields)
        return replace(command, plugin=str(reader.plugin)) if reader.plugin and VARIABLE in str(fields) else command

    def _read_config(self, path: Path, agents: Sequence[str]) -> SourceHooks:
        config = read_config(path)
        hooks = config.get("hooks")
        events = {name: groups for name, groups in hooks.items() if name != STATE} if isinstance(hooks, dict) else {}
        reader = SourceReader(
            Document(value={"hooks": events}, path=str(path)),
            agent_events(self.shape.agent),
            agents=agents,
            project=self.project(path.with_name(SETTINGS.name)),
            inactive=switched_off(config, path),
        )
        with reader.entry():
            self.read_mapping(reader, (), {"hooks": events})
        return reader.result()


def read_config(path: Path) -> Mapping[str, Any]:
    """The settings in config.toml; empty without that file. Raises ConfigError when it is not TOML."""
    try:
        text = user_file(path)
    except FileNotFoundError:
        return {}
    return toml_edit.parse(text, str(path), "mend it; Codex does not start with it either")


def switched_off(config: Mapping[str, Any], path: Path) -> str:
    """Why Codex runs no hook at all; "" when it does."""
    features = config.get("features")
    is_off = isinstance(features, dict) and features.get("hooks") is False
    return f"`hooks = false` below [features] in {path}" if is_off else ""


READER = CodexReader()
