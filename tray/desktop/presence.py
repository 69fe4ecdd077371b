"""Whether the user certainly looks at a session, and whether anybody is at the desktop. Proof, or nothing.

A pane is watched when its terminal shows it, that terminal has the keyboard, and it was used within `ACTIVE`
seconds. Terminals with tabs count only where they say which tab they show.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import ctypes.util
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from tray.approvals.catalog import HookCatalog
from tray.desktop.focus import hyprland, kitty, konsole, kwin, niri, session_bus, sway, tmux
from tray.desktop.focus.windows_of import DESKTOP_ERRORS, FocusError
from tray.desktop.wayland_idle import IdleWatch
from tray.execution.process_table import program_name
from tray.model.place import Place
from tray.notify.alert_gate import Attention
from tray.sessions.session_tracker import SessionTracker
from tray.threads import Queue, Workers

ACTIVE = 60.0  # seconds since the last use of keyboard or pointer
# Terminals that have one session in a window: of others it is not known which tab is shown.
WITHOUT_TABS = frozenset({"alacritty", "foot", "rxvt", "st", "urxvt", "xterm"})
FOCUSED_PIDS: tuple[Callable[[Mapping[str, str]], int | None], ...] = (
    sway.focused_pid,
    hyprland.focused_pid,
    niri.focused_pid,
    kwin.focused_pid,
)
LOGIND = "org.freedesktop.login1"
MUTTER = "org.gnome.Mutter.IdleMonitor"
SCREEN_SAVERS = (
    ("org.freedesktop.ScreenSaver", "/ScreenSaver"),
    ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
)

log = logging.getLogger(__name__)


class UserPresence:
    """Reports the user's attention. A thread of its own asks the desktop, as the answer may take long."""

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


def attention(
    place: Place,
    away_after: float,
    environment: Mapping[str, str] = os.environ,
    idle_watch: IdleWatch | None = None,
) -> Attention:
    """`away_after`: seconds without a key after which the user is away; 0 = never.

    It does not raise the errors that desktops are known to raise.
    """
    try:
        idle = idle_seconds(environment, idle_watch)
        locked = is_locked(environment)
        is_away = locked or (0 < away_after <= (idle if idle is not None else 0.0))
        if is_away or place == Place() or (idle is not None and idle >= ACTIVE):
            return Attention(is_away=is_away)
        return Attention(is_looking=is_watched(place, idle, environment))
    except (FocusError, session_bus.BusCallError, *DESKTOP_ERRORS):  # then nothing is proved
        log.exception("whether the user looks is not known")
        return Attention()


def is_watched(place: Place, idle: float | None, environment: Mapping[str, str]) -> bool:
    """`idle` is the desktop's own; None = it does not say."""
    try:
        if place.tmux and place.tmux_pane:
            for client in tmux.watchers(place):
                if idle is not None or client.idle < ACTIVE:
                    # What the desktop reports of its window; if it does not, what its terminal reported to tmux.
                    outer = has_keyboard(client.place, environment)
                    if client.is_focused if outer is None else outer:
                        return True
            return False
        return idle is not None and bool(has_keyboard(place, environment))
    except FocusError:
        return False


def has_keyboard(place: Place, environment: Mapping[str, str]) -> bool | None:
    """Whether the session's pane is visible in the window with the keyboard; None when that cannot be known."""
    if place.kitty_window and place.kitty:
        found = kitty.find(place)
        return None if found is None else found.is_focused
    if place.konsole_session and not konsole.is_shown(place):
        return False
    for focused in FOCUSED_PIDS:
        pid = focused(environment)
        if pid is not None:
            return _is_ours(place, pid)
    if sys.platform != "linux":
        return None
    from tray.desktop.focus import x11

    shown = x11.focused_window(environment)
    if shown is None:
        return None
    window, pid = shown
    ours = _is_ours(place, pid)
    return x11.has_window(replace(place, display=""), window, environment) if ours else ours


def _is_ours(place: Place, pid: int) -> bool | None:
    if not any(one.pid == pid for one in place.processes):
        return False
    return True if place.konsole_session or program_name(pid) in WITHOUT_TABS else None


def idle_seconds(environment: Mapping[str, str], idle_watch: IdleWatch | None = None) -> float | None:
    """Seconds since the last use of keyboard or pointer; None when it is not known."""
    if sys.platform == "win32":
        return _windows_idle()
    if sys.platform == "darwin":
        return _apple_idle()
    return next((seconds for seconds in _linux_idle(environment, idle_watch) if seconds is not None), None)


def _linux_idle(environment: Mapping[str, str], idle_watch: IdleWatch | None) -> Iterator[float | None]:
    """Yields what each source reports, in the order in which they are asked; nothing for one that cannot answer."""
    if sys.platform != "linux":
        return
    from tray.desktop.focus import x11

    with contextlib.suppress(FocusError, session_bus.BusCallError):
        yield x11.idle_seconds(environment)
    with contextlib.suppress(FocusError, session_bus.BusCallError):
        if environment.get("DBUS_SESSION_BUS_ADDRESS"):
            found = session_bus.call(MUTTER, "/org/gnome/Mutter/IdleMonitor/Core", MUTTER, "GetIdletime")
            yield session_bus.first(found, int) / 1000
    yield idle_watch.seconds() if idle_watch else None
    with contextlib.suppress(FocusError, session_bus.BusCallError):
        yield _logind_idle(os.getuid())


def _logind_idle(user: int) -> float | None:
    """Seconds idle, by the session's own idle daemon; None until it reports to logind that the user is away."""
    found = _graphical_sessions(user)
    if not found or not all(one.get("IdleHint") is True for one in found):
        return None
    since = [at for one in found if isinstance(at := one.get("IdleSinceHint"), int)]
    return max(0.0, time.time() - max(since, default=0) / 1e6)


def _windows_idle() -> float | None:
    if sys.platform != "win32":
        return None

    class LastInput(ctypes.Structure):
        """LASTINPUTINFO of the Windows API."""

        _fields_ = [("size", ctypes.c_uint), ("at", ctypes.c_uint)]

    found = LastInput(size=ctypes.sizeof(LastInput))
    if not ctypes.windll.user32.GetLastInputInfo(ctypes.byref(found)):
        return None
    return float((ctypes.windll.kernel32.GetTickCount() - found.at) % 2**32) / 1000


def _apple_idle() -> float | None:
    path = ctypes.util.find_library("ApplicationServices")
    if not path:
        return None
    library = ctypes.CDLL(path)
    library.CGEventSourceSecondsSinceLastEventType.restype = ctypes.c_double
    return float(library.CGEventSourceSecondsSinceLastEventType(ctypes.c_int(0), ctypes.c_uint(0xFFFFFFFF)))


def is_locked(environment: Mapping[str, str]) -> bool:
    """Whether the screen is certainly locked: from its screen saver, or from logind."""
    if sys.platform != "linux":
        return False
    for name, path in SCREEN_SAVERS if environment.get("DBUS_SESSION_BUS_ADDRESS") else ():
        with contextlib.suppress(session_bus.BusCallError):
            if session_bus.call(name, path, name, "GetActive")[0] is True:
                return True
    # Every graphical session of the user's; a tray that systemd started is in none itself. Only `LockedHint` is a
    # proof: the signal `Lock` asks for a lock, and its end need not be reported.
    found = _graphical_sessions(os.getuid())
    return bool(found) and all(one.get("LockedHint") is True for one in found)


def _graphical_sessions(user: int) -> list[dict[str, object]]:
    with contextlib.suppress(session_bus.BusCallError):
        reply = session_bus.call_system(LOGIND, "/org/freedesktop/login1", f"{LOGIND}.Manager", "ListSessions")
        found: list[dict[str, object]] = []
        for _, uid, _, _, path in session_bus.first(reply, list):
            if uid == user:
                words = path, "org.freedesktop.DBus.Properties", "GetAll", "s", [f"{LOGIND}.Session"]
                values = session_bus.first(session_bus.call_system(LOGIND, *words), dict)
                found.append({name: one.value for name, one in values.items()})
        return [one for one in found if one.get("Type") in ("x11", "wayland")]
    return []
