"""The values of the placeholders (`${…}`) in hook formats, for a review and for a run."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from tray.agents.agent import Placeholders
from tray.agents.registry import AGENTS, hook_rules
from tray.model.hook import Command, Hook


def declared_values(hook: Hook, command: Command) -> dict[str, str]:
    """The values that follow from the declaration only. An approval covers the files that they lead to."""
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
    """The values for one event of a hook that another format declares. A plugin's folder is its approved copy."""
    names = hook_rules(command.format).placeholders
    values = _common_values(command, copy, names)
    return values | {names.cwd: cwd} if names.cwd else values


@cache
def project_placeholders() -> frozenset[str]:
    """The formats' names for the folder of the event and of the project."""
    names = (known.rules.placeholders for known in AGENTS.values())
    return frozenset(name for each in names for name in (each.project, each.cwd) if name)


@cache
def folder_variables() -> frozenset[str]:
    """Variables of hooks that name a folder which is the same for a script and for its approved copy."""
    return frozenset().union(*(known.rules.folder_variables for known in AGENTS.values()))


def _common_values(command: Command, plugin: str, names: Placeholders) -> dict[str, str]:
    values = {
        names.plugin: plugin,
        names.storage: command.storage,
        names.home: str(Path.home()),
        names.separator: os.sep,
    }
    return {name: value for name, value in values.items() if name and value}
