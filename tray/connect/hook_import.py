"""Importing: the user's own hooks leave an agent's settings and go on below us; `--undo` puts them back."""

from __future__ import annotations

from tray.agents.agent import HookImporter
from tray.agents.connection import HookCheck, Plan, Site
from tray.agents.registry import AGENTS
from tray.errors import PACKAGE_ERRORS, HooktrayError


def import_hooks(site: Site, agent: str, check: HookCheck) -> Plan:
    """Move what can run below us; the rest stays where it is, and the notes say why."""
    return _importer(agent).import_hooks(site, check)


def undo_import(site: Site, agent: str) -> Plan:
    """Put them back: the old bytes if the file was not edited since, else each hook behind what is there now."""
    return _importer(agent).undo_import(site)


def import_reminder(site: Site, agent: str) -> str:
    """What a person who disconnects should know of imported hooks; "" when there are none."""
    importer = AGENTS[agent].importer
    try:
        if importer is None or not importer().has_imported(site):
            return ""
    except PACKAGE_ERRORS as error:
        AGENTS.failure(agent, "has_imported", error)
        return ""
    return f"Your imported hooks hear nothing then; `hooktray import-hooks {agent} --undo` puts them back."


def _importer(agent: str) -> HookImporter:
    importer = AGENTS[agent].importer
    if importer is None:
        known = AGENTS[agent]
        hint = known.import_hint or known.no_hook_files
        raise HooktrayError(f"hooks of {agent} are not moved by this command", hint=hint)
    return importer()
