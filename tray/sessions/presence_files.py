"""Files that agents ask for by a variable: one is there as long as its user is at the desktop.

The variable is the agent's, so it could name any file: only a file that we made ourselves, empty and still the same,
is removed, and none is made over another or through a link.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from tray.event_loop import Timer
from tray.model.event import Event, EventKind
from tray.notify.alert_gate import Attention, Presence

INTERVAL = 30.0  # seconds between two looks, while any agent wants to know
MAX_FILES = 64

Key = tuple[str, str]


class PresenceFiles:
    """Used by one thread, on which `presence` answers and `timer` runs work."""

    def __init__(self, presence: Presence, timer: Timer) -> None:
        self._presence, self._timer = presence, timer
        self._wanted: dict[Key, Path] = {}
        self._made: dict[Path, tuple[int, int]] = {}  # device and number of each file that we made

    def observe(self, event: Event) -> None:
        """An event may come from an agent that wants such a file."""
        variable = event.sender.presence_variable if event.sender else ""
        if not variable or not event.session or event.test:
            return
        key = (event.agent, event.session)
        if event.kind is EventKind.SESSION_END:
            self._forget(key)
            return
        name = event.environment.get(variable, "") if key not in self._wanted else ""
        if name and Path(name).is_absolute() and len(self._wanted) < MAX_FILES:
            self._wanted[key] = Path(name)
            if len(self._wanted) == 1:
                self._look()

    def close(self) -> None:
        """They are no longer kept up to date."""
        self._wanted.clear()
        for path in list(self._made):
            self._remove(path)

    def _look(self) -> None:
        if self._wanted:
            self._presence.look("", "", self._update)
            self._timer.after(INTERVAL, self._look)

    def _update(self, found: Attention) -> None:
        for path in set(self._wanted.values()):
            if found.is_away:
                self._remove(path)
            elif path not in self._made:
                self._make(path)

    def _make(self, path: Path) -> None:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        with contextlib.suppress(OSError, ValueError):
            opened = os.open(path, flags, 0o600)
            found = os.fstat(opened)
            os.close(opened)
            self._made[path] = (found.st_dev, found.st_ino)

    def _remove(self, path: Path) -> None:
        mark = self._made.pop(path, None)
        if mark is None:
            return
        with contextlib.suppress(OSError):
            found = path.lstat()
            if (found.st_dev, found.st_ino) == mark and stat.S_ISREG(found.st_mode) and not found.st_size:
                path.unlink()

    def _forget(self, key: Key) -> None:
        path = self._wanted.pop(key, None)
        if path is not None and path not in self._wanted.values():
            self._remove(path)
