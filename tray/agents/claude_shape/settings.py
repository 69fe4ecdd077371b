"""Where a Claude-shaped agent declares its hooks, and in which form, as values.

{"hooks": {"PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "…", "timeout": 10}]}]}}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tray.agents.agent import ProtectedFiles

DEFAULT_TIMEOUT = 600.0  # seconds


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's settings file: the user's in `folder` below the home, a project's in `folder` below the project."""

    folder: str  # ".pine"
    name: str = "settings.json"
    variable: str = ""  # of the environment; names another folder for the user's file
    key: str = "hooks"  # the member that holds the events; "" = they are at the top of the file
    is_flat: bool = False  # an event's list holds the handlers themselves, not groups of them
    head: Mapping[str, Any] = {}  # the members of a new file before the events
    off_switch: str = ""  # the member that turns all hooks off, with dots between the names of nested ones
    off_value: bool = True  # with which it does
    takes_comments: bool = False  # whether the agent can read a file with comments
    timeout: float = DEFAULT_TIMEOUT  # seconds, for a hook without a time-out
    timeouts: Mapping[str, float] = {}  # seconds, by event, where it differs
    milliseconds_from: float = math.inf  # from this number on milliseconds, below it seconds; 0 = all milliseconds
    writes_milliseconds: bool = False  # whether `connect` writes them although the agent also reads seconds
    handler_types: tuple[str, ...] = ("command",)  # () = its handlers name no type, and all are commands
    timeout_key: str = "timeout"  # of a handler
    takes_args: bool = False  # a handler may have `args` beside `command`, and then runs without a shell
    unconnected_events: Mapping[str, str] = {}  # why `connect` leaves them out
    handler_fields: Mapping[str, str] = {}  # more fields of our own handlers
    restart_hint: str = "Running sessions may need a restart to take it up."

    def in_file_units(self, seconds: float) -> float:
        """A time-out in the file's unit, as an integer where possible."""
        number = seconds * 1000 if self.writes_milliseconds or not self.milliseconds_from else seconds
        return int(number) if number == int(number) else number

    def in_seconds(self, number: float) -> float:
        return number if number < self.milliseconds_from else number / 1000

    def is_off(self, settings: object) -> bool:
        """Whether these settings turn all hooks off."""
        for name in self.off_switch.split("."):
            settings = settings.get(name) if isinstance(settings, dict) else None
        return bool(self.off_switch) and settings is self.off_value

    @property
    def path(self) -> str:
        """The file's path below a home or a project."""
        return f"{self.folder}/{self.name}"

    def protected(self, agent: str) -> tuple[ProtectedFiles, ...]:
        """The file in any home or project; `agent` is what people call it."""
        return (ProtectedFiles(kind=self._kind(agent), pattern=re.compile(f".*/{re.escape(self.path.lower())}")),)

    def protected_in_home(self, agent: str) -> tuple[ProtectedFiles, ...]:
        """The file in the folder that the environment names."""
        if not self.variable:
            return ()
        return (ProtectedFiles(kind=self._kind(agent), pattern=re.compile(f"/+{re.escape(self.name)}")),)

    @property
    def path_words(self) -> tuple[str, ...]:
        return (self.folder.rpartition("/")[2].lower(), self.name.rpartition("/")[2].lower())

    def _kind(self, agent: str) -> str:
        return f"a hook setting of {agent}"
