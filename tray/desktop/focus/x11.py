"""X11 by EWMH, the wrapper of python-xlib: which windows there are, whose they are, and raising one."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from Xlib import X, Xatom, Xutil, display, error, protocol  # type: ignore[import-untyped]
from Xlib.ext import screensaver  # type: ignore[import-untyped]
from Xlib.protocol import rq  # type: ignore[import-untyped]

from tray.desktop.focus.windows_of import FocusError, Raised, Window, choose
from tray.model.place import Place


class XProperty(Protocol):
    value: Sequence[int]


class XTree(Protocol):
    parent: XWindow | int  # 0 for none


class XState(Protocol):
    state: int


class XWindow(Protocol):
    id: int

    def get_full_property(self, property: int, kind: int) -> XProperty | None: ...
    def get_wm_name(self) -> str | bytes | None: ...
    def get_wm_state(self) -> XState | None: ...
    def map(self) -> object: ...
    def query_tree(self) -> XTree: ...
    def send_event(self, event: object, event_mask: int) -> object: ...


class XScreenInfo(Protocol):
    root: XWindow


class XDisplay(Protocol):
    """What is used of a connection of python-xlib, which has no types."""

    def create_resource_object(self, kind: str, number: int) -> XWindow: ...
    def has_extension(self, name: str) -> bool: ...
    def intern_atom(self, name: str) -> int: ...
    def screen(self) -> XScreenInfo: ...
    def sync(self) -> object: ...


PAGER = 2  # the source of a request that a person made: window managers refuse the focus to others
DEPTH = 32  # windows between a terminal's inner one and the one that the window manager knows
X_ERRORS = (
    error.XError, error.DisplayError, error.ConnectionClosedError, error.ResourceIDError, error.XauthError,
    error.XNoAuthError, rq.BadDataError, struct.error, OSError, RuntimeError, ValueError,
)  # fmt: skip


def raise_window(place: Place, title: str, environment: Mapping[str, str]) -> Raised | None:
    name = environment.get("DISPLAY", "")
    if not name or (place.display and not _is_same(place.display, name)):
        return None
    with _connected(name) as connection:
        found = _find(connection, place, title)
        if found is None:
            return None
        _activate(connection, int(found[0].id))
        return found[1]


def focused_window(environment: Mapping[str, str]) -> tuple[int, int] | None:
    """The active window and its process, 0 for none; None when X11 is not there, or is not the whole desktop."""
    name = environment.get("DISPLAY", "")
    if not name or environment.get("WAYLAND_DISPLAY"):
        return None
    with _connected(name) as connection:
        root = connection.screen().root
        window = _number(root, connection.intern_atom("_NET_ACTIVE_WINDOW"), Xatom.WINDOW)
        if not window:
            return 0, 0
        pid = connection.intern_atom("_NET_WM_PID")
        return window, _number(connection.create_resource_object("window", window), pid, Xatom.CARDINAL)


def has_window(place: Place, window: int, environment: Mapping[str, str]) -> bool:
    """Whether this window is certainly the one that has the session."""
    with _connected(environment.get("DISPLAY", "")) as connection:
        found = _find(connection, place, "")
        return found is not None and found[1].is_certain and found[0].id == str(window)


def idle_seconds(environment: Mapping[str, str]) -> float | None:
    """Seconds since the last use of keyboard or pointer; None when the server does not report it."""
    name = environment.get("DISPLAY", "")
    if not name or environment.get("WAYLAND_DISPLAY"):
        return None
    with _connected(name) as connection:
        if not connection.has_extension("MIT-SCREEN-SAVER"):
            return None
        return float(screensaver.query_info(connection.screen().root).idle) / 1000


@contextmanager
def _connected(name: str) -> Iterator[XDisplay]:
    try:
        connection = display.Display(name)
    except (*X_ERRORS, AttributeError) as problem:
        raise FocusError(f"X11: {problem}") from problem
    try:
        yield connection
    except X_ERRORS as problem:
        raise FocusError(f"X11: {problem}") from problem
    finally:
        connection.close()


def _is_same(one: str, other: str) -> bool:
    """Whether these are one display, whatever its screen."""
    return one.removeprefix("unix").partition(".")[0] == other.removeprefix("unix").partition(".")[0]


def _find(connection: XDisplay, place: Place, title: str) -> tuple[Window, Raised] | None:
    """By the number in the agent's environment if its processes confirm it, else by the processes.

    `WINDOWID` is inherited: a program that was started from a terminal has that terminal's.
    """
    windows = list(_windows(connection))
    outer = _managed(connection, int(place.window or 0), {int(one.id) for one in windows})
    named = next((one for one in windows if int(one.id) == outer), None)
    if named is not None:
        ours = {one.pid for one in place.processes}
        if not ours or named.pid in ours or not named.pid:
            return named, Raised()
    return choose(windows, place, title)


def _windows(connection: XDisplay) -> Iterator[Window]:
    """Those that the window manager knows, the topmost first."""
    root = connection.screen().root
    atoms = [connection.intern_atom(name) for name in ("_NET_CLIENT_LIST_STACKING", "_NET_CLIENT_LIST")]
    listed = next((found.value for atom in atoms if (found := root.get_full_property(atom, Xatom.WINDOW))), ())
    pid, name = connection.intern_atom("_NET_WM_PID"), connection.intern_atom("_NET_WM_NAME")
    for number in reversed(list(listed)):
        window = connection.create_resource_object("window", number)
        try:
            title = window.get_full_property(name, X.AnyPropertyType)
            text: object = title.value if title else window.get_wm_name() or ""
            shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            yield Window(str(number), _number(window, pid, Xatom.CARDINAL), shown)
        except error.XError:  # closed meanwhile
            continue


def _managed(connection: XDisplay, number: int, known: set[int]) -> int:
    """The window that the window manager knows, around a terminal's inner one; 0 for none."""
    for _ in range(DEPTH):
        if not number or number in known:
            return number
        try:
            parent = connection.create_resource_object("window", number).query_tree().parent
        except error.XError:  # closed meanwhile
            return 0
        number = parent if isinstance(parent, int) else parent.id
    return 0


def _activate(connection: XDisplay, number: int) -> None:
    screen = connection.screen()
    window = connection.create_resource_object("window", number)
    state = window.get_wm_state()
    if state and state.state == Xutil.IconicState:
        window.map()
    message = protocol.event.ClientMessage(
        window=window,
        client_type=connection.intern_atom("_NET_ACTIVE_WINDOW"),
        data=(32, [PAGER, X.CurrentTime, 0, 0, 0]),
    )
    mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
    screen.root.send_event(message, event_mask=mask)
    connection.sync()


def _number(window: XWindow, atom: int, kind: int) -> int:
    try:
        found = window.get_full_property(atom, kind)
    except error.XError:  # closed meanwhile
        return 0
    return int(found.value[0]) if found is not None and len(found.value) else 0
