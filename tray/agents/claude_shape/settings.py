"""Where a Claude-shaped agent has its hooks, and how its settings file says them, as values.

{"hooks": {"PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "…", "timeout": 10}]}]}}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tray.agents.agent import ProtectedFiles

DEFAULT_TIMEOUT = 600.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """One agent's file: the user's is below the home, a project's below the project, in a folder of the same name."""

    folder: str  # ".pine"
    name: str = "settings.json"
    variable: str = ""  # of the environment, names the user's folder in place of that one
    key: str = "hooks"  # the member that holds the events; "" = they are at the top of the file
    off_switch: str = ""  # the member that turns all hooks off when it is true
    takes_comments: bool = False  # else the agent cannot read a file that has one
    timeout: float = DEFAULT_TIMEOUT  # seconds, of a hook that names none
    timeouts: Mapping[str, float] = field(default_factory=dict)  # by event, where it is another one
    milliseconds_from: float = math.inf  # a number from this on is milliseconds, a smaller one seconds; 0 = each is
    handler_types: tuple[str, ...] = ("command",)
    takes_args: bool = False  # a handler's words may be apart, as `command` and `args`, without a shell
    unconnected_events: Mapping[str, str] = field(default_factory=dict)  # that `connect` leaves out, and why
    restart_hint: str = "Running sessions may need a restart to take it up."

    def in_file_units(self, seconds: float) -> float:
        """A time-out as the file says it, without a fraction where it needs none."""
        number = seconds if self.milliseconds_from else seconds * 1000
        return int(number) if number == int(number) else number

    def in_seconds(self, number: float) -> float:
        return number if number < self.milliseconds_from else number / 1000

    @property
    def path(self) -> str:
        """Below a home or a project."""
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
