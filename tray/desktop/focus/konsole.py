"""Konsole over D-Bus: the tab is the session that its window shows."""

from __future__ import annotations

from tray.desktop.focus import session_bus
from tray.desktop.focus.windows_of import FocusError
from tray.model.place import Place


def select(place: Place) -> Place | None:
    """Show the tab, if the service is really one of the processes above the agent."""
    if not (place.konsole and place.konsole_window and place.konsole_session):
        return None
    number = int(place.konsole_session.rpartition("/")[2])
    try:
        owner = session_bus.owner_pid(place.konsole)
        if place.processes and not any(one.pid == owner for one in place.processes):
            return None
        session_bus.call(
            place.konsole, place.konsole_window, "org.kde.konsole.Window", "setCurrentSession", "i", [number]
        )
    except session_bus.BusCallError as error:
        raise FocusError(f"Konsole: {error}") from error
    return place


def is_shown(place: Place) -> bool:
    """Whether its window shows this tab now."""
    try:
        found = session_bus.call(place.konsole, place.konsole_window, "org.kde.konsole.Window", "currentSession")
    except session_bus.BusCallError:
        return False
    return str(found[0]) == place.konsole_session.rpartition("/")[2]
