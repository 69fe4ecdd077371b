"""Connects an agent whose hooks are executables: writes one for each event into the agent's folder of hooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tray.agents import relay_command
from tray.agents.connection import EntryContent, RelayEntry, Site
from tray.edit.file_changes import File, FileState, read_state

MODE = 0o755
LENGTH_LIMIT = 4096  # bytes of Hooktray's executable


class ExecutablesConnector(msgspec.Struct, frozen=True, kw_only=True):
    """The common part of these connectors. The agent runs every file of the folder."""

    agent: str
    starter: tuple[str, ...] = ()  # the command with which the agent starts the file

    def folder(self, site: Site) -> Path:
        """Returns the agent's folder of hooks."""
        raise NotImplementedError

    def events(self, site: Site) -> Iterable[str]:
        """Returns the events that have, or can have, an executable of Hooktray's."""
        raise NotImplementedError

    def path(self, site: Site, event: str) -> Path:
        return self.folder(site) / event

    def executable(self, site: Site, event: str) -> File:
        """Returns Hooktray's executable for this event."""
        text = relay_command.shim((*site.relay, self.agent, event), otherwise="cat >/dev/null")
        return File(text=text, mode=MODE)

    def is_installed(self, site: Site) -> bool:
        return self.folder(site).parent.is_dir()

    def parse(self, state: FileState) -> relay_command.RelayCommand | None:
        """Returns the relay command of Hooktray's executable; None for any other file."""
        if not isinstance(state, File) or len(state.text) > LENGTH_LIMIT or not state.text.startswith(b"#!/bin/sh\n"):
            return None
        return relay_command.parse_for(self.agent, state.text.decode("utf-8", "replace").strip().splitlines()[-1])

    def own_files(self, site: Site) -> Iterator[tuple[Path, FileState, str, relay_command.RelayCommand]]:
        """Yields each executable of Hooktray's: its path and state, the event, and the relay command."""
        for event in self.events(site):
            state = read_state(path := self.path(site, event))
            if command := self.parse(state):
                yield path, state, event, command

    def relay_entries(self, site: Site) -> tuple[RelayEntry, ...]:
        return tuple(
            RelayEntry(
                event=event,
                argv=(*self.starter, str(path)),
                path=str(path),
                state_folder=command.state_folder,
                required_files=command.required_files,
                up_to_date=bool(site.relay) and state == self.executable(site, event),
            )
            for path, state, event, command in self.own_files(site)
        )

    def contents(self, path: Path, state: FileState) -> tuple[EntryContent, ...]:
        command = self.parse(state)
        if command is None or not isinstance(state, File):
            return ()
        handler: dict[str, Any] = {"command": state.text.decode("utf-8", "replace")}
        if not self.starter:
            handler["executable"] = bool(state.mode & 0o111)
        return (EntryContent(event=command.event, handler=handler),)

    def trust(self, site: Site) -> str:
        return "trusted"

    def switch_files(self, site: Site) -> tuple[Path, ...]:
        return ()
