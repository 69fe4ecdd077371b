"""The `${…}` of hook formats: where they point while a hook is reviewed, and where when it runs."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from tray.agents.agent import Placeholders
from tray.agents.registry import AGENTS, hook_rules
from tray.model.hook import Command, Hook


def declared_values(hook: Hook, command: Command) -> dict[str, str]:
    """What is known of them from the declaration alone. Files found through these are what gets approved."""
    if not command.format:
        return {}
    names = hook_rules(command.format).placeholders
    values = _common_values(command, command.plugin, names)
    if names.project and hook.match.project:
        values[names.project] = hook.match.project
    if command.shell:
        values["HOME"] = str(Path.home())
    return values


def runtime_values(command: Command, copy: str, cwd: str) -> dict[str, str]:
    """What they are for one event; a plugin's folder is its approved copy."""
    if not command.format:
        return {}
    names = hook_rules(command.format).placeholders
    values = _common_values(command, copy, names)
    return values | {names.cwd: cwd} if names.cwd else values


@cache
def project_placeholders() -> frozenset[str]:
    """The names that formats have for the folder of the event and of the project."""
    names = (known.rules.placeholders for known in AGENTS.values())
    return frozenset(name for each in names for name in (each.project, each.cwd) if name)


@cache
def plugin_placeholders() -> frozenset[str]:
    """The names that formats have for a plugin's folder."""
    return frozenset(filter(None, (known.rules.placeholders.plugin for known in AGENTS.values())))


def _common_values(command: Command, plugin: str, names: Placeholders) -> dict[str, str]:
    values = {
        names.plugin: plugin,
        names.storage: command.storage,
        names.home: str(Path.home()),
        names.separator: os.sep,
    }
    return {name: value for name, value in values.items() if name and value}
