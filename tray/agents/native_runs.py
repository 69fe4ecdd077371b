"""Which hooks of a source the source's own agent runs by itself, so that Hooktray asks them for other agents only.

Each function gets the agent's files that have our entries: none while the agent is not connected. In doubt it returns
False: a hook that runs twice is better than a guard that does not run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tray.agents.connection import Site
from tray.edit.file_changes import resolve_links
from tray.model.hook import Hook

RunsOwn = Callable[[Site, Hook, Sequence[Path]], bool]


def declared_in(hook: Hook) -> Path:
    return resolve_links(Path(hook.source.path))


def in_file(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    """True if one of these files declares the hook."""
    return declared_in(hook) in connected


def in_folder(site: Site, hook: Hook, connected: Sequence[Path]) -> bool:
    """True if the hook is declared beside one of these files, or in the settings file beside their folder."""
    folders = {folder for file in connected for folder in (file.parent, file.parent.parent)}
    return declared_in(hook).parent in folders


def in_project(hook: Hook, connected: Sequence[Path], names: Sequence[str]) -> bool:
    """True if one of these files of the hook's project declares it, and a connected agent reads that file there."""
    project = hook.match.project
    return bool(connected and project) and declared_in(hook) in [resolve_links(Path(project, name)) for name in names]
