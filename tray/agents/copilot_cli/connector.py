"""Connects Copilot CLI, and with it VS Code: a file of our own in its folder of hooks.

<COPILOT_HOME>/hooks/hooktray.json, in a project .github/hooks/hooktray.json:
{"version": 1, "hooks": {"PreToolUse": [{"type": "command", "command": "[ -x … ] && … || …", "timeout": 600}]}}
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tray.agents import relay_command
from tray.agents.claude_shape.connector import read_object
from tray.agents.claude_shape.settings_text import HandlerSpan, handlers, remove_handlers
from tray.agents.connection import PROBE_EVENT, Site, read_or_empty
from tray.agents.copilot_cli.events import AGENT, EVENTS, NAMES, UNCONNECTED_EVENTS
from tray.agents.own_file import ScopedFileConnector
from tray.agents.settings_connector import OwnEntry
from tray.edit.file_changes import File, FileState
from tray.edit.json_edit import JsonText, is_blank, new_document

SETTINGS = "settings.json"
CONFIG = "config.json"  # Copilot's own notes, among them the folders that the user trusts
OFF_SWITCH = "disableAllHooks"
TRUSTED = "trustedFolders"
PROBE_TIME = "2026-01-01T00:00:00.000Z"  # it only has to be there


class CopilotConnector(ScopedFileConnector, frozen=True, kw_only=True):
    """Copilot CLI always runs the user's hooks, and a project's hooks if the user trusts its folder."""

    def text(self, site: Site, present: frozenset[str]) -> bytes:
        hooks = {event: [one] for event, one in self.needed(site, self.desired(site.relay), present).items()}
        return new_document({"version": 1, "hooks": hooks})

    def desired(self, relay: tuple[str, ...]) -> dict[str, Any]:
        """Returns Hooktray's entry for each event. The engine's deadlines follow from these time-outs."""
        return {
            event: {"type": "command", **_command((*relay, AGENT, event)), "timeout": int(spec.timeout)}
            for event, spec in EVENTS.items()
            if event not in UNCONNECTED_EVENTS
        }

    def own_entries(self, text: bytes, path: Path) -> Iterator[OwnEntry]:
        for one in _handlers(JsonText(text, str(path))) if not is_blank(text) else ():
            event, words = one.event.key, entry_words(one.value)
            if command := relay_command.parse_for(AGENT, words):
                yield OwnEntry(
                    event=NAMES.get(event, event),
                    value=one.value if event in EVENTS else None,
                    command=command,
                    argv=relay_command.shell_argv(words) if isinstance(words, str) else tuple(words),
                    handler=one.value,
                )

    def rest(self, state: FileState, path: Path) -> FileState:
        if not isinstance(state, File) or is_blank(state.text):
            return state if isinstance(state, File) and state.text else None
        document = JsonText(state.text, str(path))
        found = [bool(relay_command.parse_for(AGENT, entry_words(one.value))) for one in _handlers(document)]
        if not any(found):
            return state
        settings: Any = document.value
        if all(found) and set(settings) <= {"version", "hooks"}:
            return None
        ours = {index for index, is_ours in enumerate(found) if is_ours}
        return File(text=remove_handlers(document, ours, is_flat=True), mode=state.mode)

    def notes(self, site: Site) -> tuple[str, ...]:
        return (self._trust_remedy(site) or self.restart_hint,)

    def trust(self, site: Site) -> str:
        for path in (self.home(site) / SETTINGS, self.settings_path(site), *_project_settings(site)):
            if read_object(path).get(OFF_SWITCH) is True:
                return f"off: Copilot CLI runs no hook: take `{OFF_SWITCH}` out of {path}"
        remedy = self._trust_remedy(site)
        return f"off: {remedy}" if remedy else "trusted"

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        home = self.home(site)
        return (home / SETTINGS, home / CONFIG, self.settings_path(site), *_project_settings(site))

    def _trust_remedy(self, site: Site) -> str:
        """What the user has to do before the project's hooks run; "" when there is nothing to do.

        With entries in the user's file too, nothing goes unguarded.
        """
        own = self.home(site) / self.file
        if site.scope == "project":
            folders = [site.cwd]
        elif site.scope or any(self.own_entries(read_or_empty(own), own)):
            folders = []
        else:
            folders = [path.parents[2] for path in self.settings_paths(site)[1:]]
        listed = read_object(self.home(site) / CONFIG).get(TRUSTED)
        trusted = {str(Path(one)) for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()
        untrusted = [str(one) for one in folders if trusted.isdisjoint(map(str, (one, *one.parents)))]
        if not untrusted:
            return ""
        where = ", ".join(untrusted)
        return f"start `copilot` in {where} and say that you trust it: until then no hook of the project runs"

    def probe_payload(self, session: str, cwd: str) -> Mapping[str, Any]:
        return {"hook_event_name": PROBE_EVENT, "session_id": session, "timestamp": PROBE_TIME, "cwd": cwd}


def _project_settings(site: Site) -> tuple[Path, ...]:
    folder = site.cwd / ".github" / "copilot"
    return (folder / "settings.json", folder / "settings.local.json")


def _handlers(document: JsonText) -> Iterator[HandlerSpan]:
    return handlers(document, is_flat=True)


def entry_words(entry: Mapping[str, Any]) -> str | Sequence[str]:
    """The entry's command: a line for a shell, or words."""
    program, args = entry.get("exec"), entry.get("args")
    if isinstance(program, str):
        return [program, *map(str, args if isinstance(args, list) else [])]
    line = entry.get("command")
    return line if isinstance(line, str) else ""


def _command(words: tuple[str, ...]) -> dict[str, Any]:
    if sys.platform == "win32":  # a line would run in PowerShell
        program, *rest = relay_command.cmd_argv(words)
        return {"exec": program, "args": rest}
    return {"command": relay_command.shell_line(words, replaces_shell=False)}


CONNECTOR = CopilotConnector(
    agent=AGENT,
    name="Copilot CLI",
    variable="COPILOT_HOME",
    usual=".copilot",
    project_folder=".github",
    file=Path("hooks", "hooktray.json"),
    restart_hint="Sessions of Copilot CLI and of VS Code take it up when they start.",
    others=(
        "holds hooks that are not Hooktray's",
        "move them to another file of this folder: Hooktray writes this one",
    ),
)
