"""Connects Kimi Code: a table for each event at the end of config.toml, whose other bytes stay.

[[hooks]]
event = 'PreToolUse'
command = '[ -x … ] && exec … kimi-code PreToolUse || …'
timeout = 600
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray.agents.connection import Site, read_or_empty
from tray.agents.kimi_code.protocol import CLIENT, CLIENTS, EVENTS, ID, NAME, SETTINGS
from tray.agents.list_entries import KEY, ListConnector
from tray.edit import toml_edit
from tray.errors import ConfigError

# Its events that Hooktray has no word for.
OTHER_EVENTS = frozenset({"PermissionResult", "SessionHeartbeat", "TaskStarted", "TurnStarted", "UserPromptQueued"})
FIELDS = ("event", "matcher", "command", "timeout")
LONGEST = 600  # seconds


class KimiConnector(ListConnector, frozen=True, kw_only=True):
    """Kimi Code asks for no trust. One hook that it cannot read switches all hooks off, without a word."""

    def settings_path(self, site: Site) -> Path:
        return site.folder(SETTINGS.variable, SETTINGS.folder) / SETTINGS.name

    def notes(self, site: Site) -> tuple[str, ...]:
        off = self.trust(site).removeprefix("off: ")
        return (SETTINGS.restart_hint,) if off == "trusted" else (off,)

    def trust(self, site: Site) -> str:
        path = self.settings_path(site)
        try:
            hooks = toml_edit.items(read_or_empty(path), str(path), KEY)
        except ConfigError as error:
            return f"off: {NAME} runs no hook: {error.message}"
        for index, hook in enumerate(hooks):
            if problem := table_problem(hook):
                return (
                    f"off: {NAME} runs no hook because of one that it cannot read: {KEY}[{index}] in {path} {problem}"
                )
        return "trusted"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {**super().probe_payload(session, cwd), CLIENT: CLIENTS[0]}


def table_problem(hook: Mapping[str, Any]) -> str:
    """What keeps Kimi Code from reading this hook, and with it all others; "" when nothing does."""
    if unknown := [key for key in hook if key not in FIELDS]:
        return f"has the key `{unknown[0]}`: take it out, only {', '.join(FIELDS)} may be there"
    event, timeout = hook.get("event"), hook.get("timeout", 1)
    if event not in EVENTS and event not in OTHER_EVENTS:
        return f"has the event `{event}`, which there is not"
    if not isinstance(hook.get("command"), str) or not hook["command"]:
        return "has no command"
    if not isinstance(hook.get("matcher", ""), str):
        return "has a matcher that is not text"
    if isinstance(timeout, bool) or not isinstance(timeout, int) or not 1 <= timeout <= LONGEST:
        return f"has the timeout {timeout}: write whole seconds from 1 to {LONGEST}"
    return ""


CONNECTOR = KimiConnector(agent=ID, editor=toml_edit, events=EVENTS)
