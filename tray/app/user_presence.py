"""Whether the user is at the desktop, and whether the user looks at a session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from tray.app.core import TrayCore
from tray.desktop.presence import attention
from tray.desktop.wayland_idle import IdleWatch
from tray.model.place import Place
from tray.notify.alert_gate import Attention
from tray.sessions.session_tracker import SessionTracker


class UserPresence:
    """Asks the desktop on a thread of its own, as that may take long."""

    def __init__(self, core: TrayCore, loop: asyncio.AbstractEventLoop, sessions: SessionTracker) -> None:
        self._catalog, self._work, self._workers = core.catalog, core.work, core.workers
        self._sessions = sessions
        self._idle_watch = IdleWatch(loop, os.environ)

    def start(self) -> None:
        """Watch from here on how long no key was pressed, where the desktop reports it."""
        self._idle_watch.start()

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        """Whether the user looks at a session; "" asks only whether the user is there. Answers on the work thread."""
        found = self._sessions.get(agent, session) if agent else None
        place = found.place if found else Place()
        seconds = self._catalog.settings_in_force.away_after * 60

        def work() -> None:
            seen = attention(place, seconds, watched=self._idle_watch.seconds)
            self._work.post(lambda: answer(seen))

        self._workers.spawn(work)

    def ask_away(self, answer: Callable[[bool], None]) -> None:
        """Whether the user is away. Answers on the work thread."""
        self.look("", "", lambda found: answer(found.is_away))
