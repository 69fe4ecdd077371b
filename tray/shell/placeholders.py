"""The `${…}` of other formats: where they point while a hook is reviewed, and where when it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from tray.model.hook import Command, Hook

PLUGIN = {"claude-code": "CLAUDE_PLUGIN_ROOT", "x-code": "pluginDir"}
STORAGE = {"claude-code": "CLAUDE_PLUGIN_DATA", "x-code": "pluginDataDir"}
VARIABLE = re.compile(r"\$\{(env:)?(\w+)\}")


def declared_values(hook: Hook, command: Command) -> dict[str, str]:
    """What is known of them from the declaration alone. Files found through these are what gets approved."""
    if not command.format:
        return {}
    values = _common_values(command, command.plugin)
    if command.format == "claude-code" and hook.match.project:
        values["CLAUDE_PROJECT_DIR"] = hook.match.project
    if command.shell:
        values["HOME"] = str(Path.home())
    return values


def runtime_values(command: Command, copy: str, cwd: str) -> dict[str, str]:
    """What they are for one event; a plugin's folder is its approved copy."""
    if not command.format:
        return {}
    values = _common_values(command, copy)
    return values | {"cwd": cwd} if command.format == "x-code" else values


def _common_values(command: Command, plugin: str) -> dict[str, str]:
    values = {PLUGIN[command.format]: plugin, STORAGE[command.format]: command.storage}
    if command.format == "x-code":
        values |= {"homedir": str(Path.home()), "sep": os.sep}
    return {name: value for name, value in values.items() if value}


def fill(text: str, placeholders: Mapping[str, str]) -> str:
    """The text with the known values put in unquoted; anything else stays as it is."""
    return VARIABLE.sub(lambda found: placeholders.get(found[2], found[0]) if not found[1] else found[0], text)
