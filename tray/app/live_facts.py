"""Facts of the running tray that decide about requests of commands: known agents, a desktop, lost approvals."""

from __future__ import annotations

import os
import sys

from tray.app.core import TrayCore
from tray.doctor.agent_sites import connected_agents
from tray.ipc.requests import TrayStatus
from tray.store.lost_guards import LostGuards

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


class LiveFacts:
    """Read anew each time, from any thread."""

    def __init__(self, core: TrayCore, tray: TrayStatus) -> None:
        self._core = core
        self._tray = tray

    @property
    def heard_from_agents(self) -> bool:
        """Whether an agent was ever connected or sent an event: such an agent may type into a terminal, too."""
        core = self._core
        return bool(core.agents.count or core.stores.journal.count() or connected_agents(core.paths))

    @property
    def has_desktop(self) -> bool:
        """True if the user can see the icon, or a browser that the tray opens."""
        return bool(self._tray.icon_name) or sys.platform != "linux" or any(os.environ.get(name) for name in DISPLAYS)

    @property
    def is_state_lost(self) -> bool:
        """True if approvals were lost and the user has not reviewed the loss."""
        database = self._core.stores.database
        return LostGuards(database).is_unreviewed or database.damage() is not None
