"""Whether the user is at the desktop, and whether the user looks at a session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from tray.approvals.catalog import HookCatalog
from tray.desktop.presence import attention
from tray.desktop.wayland_idle import IdleWatch
from tray.model.place import Place
from tray.notify.alert_gate import Attention
from tray.sessions.session_tracker import SessionTracker
from tray.threads import Queue, Workers


class UserPresence:
    """Asks the desktop on a thread of its own, as that may take long."""

    def __init__(
        self,
        catalog: HookCatalog,
        sessions: SessionTracker,
        loop: asyncio.AbstractEventLoop,
        queue: Queue,
        workers: Workers,
    ) -> None:
        self._catalog, self._sessions = catalog, sessions
        self._queue, self._workers = queue, workers
        self._idle_watch = IdleWatch(loop, os.environ)

    def start(self) -> None:
        """Watch from here on how long no key was pressed, where the desktop reports it."""
        self._idle_watch.start()

    def look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        """Calls `answer` on the queue: whether the user looks at the session or, with an agent of "", is there."""
        found = self._sessions.get(agent, session) if agent else None
        place = found.place if found else Place()
        seconds = self._catalog.settings_in_force.away_after * 60

        def work() -> None:
            seen = attention(place, seconds, idle_watch=self._idle_watch)
            self._queue.post(lambda: answer(seen))

        self._workers.spawn(work)
