"""Konsole: windows with tabs, of which its own D-Bus interface tells the numbers."""

from __future__ import annotations

from dataclasses import dataclass

from desk import Desk, wait

from desktop.focus.compositors import Compositor
from desktop.focus.terminals import Pane
from tray.desktop.focus import session_bus

WINDOW, SESSION = "org.kde.konsole.Window", "org.kde.konsole.Session"


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab of a window, by the number that Konsole gives it."""

    service: str
    number: int
    pid: int

    @property
    def pane(self) -> Pane:
        return Pane(self.pid)

    @property
    def is_shown(self) -> bool:
        return bool(session_bus.call(self.service, "/Windows/1", WINDOW, "currentSession")[0] == self.number)


class Konsole:
    """A Konsole process of its own, with one window of so many tabs."""

    def __init__(self, desk: Desk | Compositor, count: int) -> None:
        process = desk.start(["konsole", "--separate", "--nofork", "-e", "cat"])
        self.pid = process.pid
        self.service = f"org.kde.konsole-{process.pid}"
        wait(self._answers, what="Konsole on the bus")
        for _ in range(count - 1):
            session_bus.call(self.service, "/Windows/1", WINDOW, "newSession")
        numbers = session_bus.first(session_bus.call(self.service, "/Windows/1", WINDOW, "sessionList"), list)
        self.tabs = [Tab(self.service, int(number), self._program(number)) for number in numbers]

    def _answers(self) -> bool:
        try:
            return bool(session_bus.call(self.service, "/Windows/1", WINDOW, "sessionList")[0])
        except session_bus.BusCallError:
            return False

    def _program(self, number: str) -> int:
        def pid() -> int:
            """Between fork and exec it still has the variables of Konsole itself."""
            found = session_bus.first(
                session_bus.call(self.service, f"/Sessions/{number}", SESSION, "processId"), int
            )
            return found if Pane(found).place.konsole_session else 0

        return wait(pid, what="a program in the tab")
