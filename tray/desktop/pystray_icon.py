"""pystray's icon: for macOS and Windows, and for an XEmbed tray on Linux. icon.py passes the library in."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tray.desktop import macos, windows
from tray.desktop.artwork import IconState, draw, on_tile
from tray.desktop.mainloop import MainLoop
from tray.desktop.menu import Action, Item, ItemKind, OpenPage
from tray.notify.alert import APP
from tray.text import sanitise
from tray.threads import run_logged

if TYPE_CHECKING:
    from PIL.Image import Image


class MenuIcon(Protocol):
    """What is private in pystray's icon for Windows."""

    _update_menu: Callable[[], None]
    _on_notify: Callable[[int, int], object]
    _message_handlers: dict[int, Callable[[int, int], object]]


class IconDisplay(Protocol):
    flush: Callable[[], object]

    def get_display_name(self) -> str: ...


class IconWindow(Protocol):
    id: int


class XorgIcon(Protocol):
    """What is private in pystray's Xorg icon."""

    _display: IconDisplay
    _window: IconWindow
    _thread: threading.Thread
    _send_message: Callable[..., object]


class LibraryIcon(MenuIcon, XorgIcon, Protocol):
    """What we use of pystray's icons; the private members differ from system to system."""

    HAS_MENU: bool
    visible: bool
    icon: Image
    title: str
    menu: object

    def run(self, setup: Callable[[LibraryIcon], None]) -> None: ...
    def stop(self) -> None: ...
    def notify(self, message: str, title: str) -> None: ...


class LibraryIcons(Protocol):
    HAS_MENU: bool

    def __call__(self, name: str, icon: Image, title: str) -> LibraryIcon: ...


class LibraryMenus(Protocol):
    SEPARATOR: object

    def __call__(self, *items: object) -> object: ...


class Pystray(Protocol):
    """The library, which has no types."""

    Icon: LibraryIcons
    Menu: LibraryMenus
    MenuItem: Callable[..., object]


TOOLTIP_LIMIT = 127  # UTF-16 units; Windows takes no more
PICTURE_SIZE = 64
START_TIMEOUT = 2.0  # seconds for pystray to come up, and to end
PYSTRAY_ERRORS = (OSError, RuntimeError)  # of Windows; of GLib, and of X11, whose other errors it logs itself
NO_MENU = (
    "this tray shows the icon without its menu: for the menu, run a StatusNotifier tray (Xfce, KDE Plasma or"
    " snixembed) on a D-Bus session"
)

log = logging.getLogger(__name__)

Post = Callable[[Callable[[], None]], None]


class PystrayIcon:
    """On macOS it has the main thread, and whatever touches the screen is posted there. Elsewhere it has threads of
    its own, so that `post` is ours: its calls wait for its loop, and for ever when that is stuck, so they are made
    in a thread that is joined only for a short time.
    """

    name = "pystray"

    def __init__(
        self, pystray: Pystray, act: Callable[[Action], None], platform: str = sys.platform, main: Post = macos.post
    ) -> None:
        if sys.platform == "win32":
            windows.set_app_id(APP)
        self._pystray, self._act, self._platform = pystray, act, platform
        self._owns_main, self._needs_menu = platform == "darwin", platform == "win32"
        complete = pystray.Icon.HAS_MENU  # its Xorg icon has neither menu nor transparency
        self.reason = "" if complete else NO_MENU
        self._picture = draw if complete else on_tile
        logging.getLogger("pystray._base").addFilter(_is_relevant)
        self._icon = pystray.Icon("hooktray", self._picture(IconState.ON, PICTURE_SIZE), "Hooktray")
        if platform == "win32":
            OpenMenu(self._icon)
        self._disconnect: Callable[[], None] = _nothing if complete else separate_connection(self._icon)
        self._main, self._calls = MainLoop(), MainLoop()
        self.post: Post = main if self._owns_main else self._main.post
        self._threads: list[threading.Thread] = []
        self._ready = threading.Event()  # its loop runs
        self._is_up = False
        self._early_balloons: list[tuple[str, str]] = []

    @property
    def visible(self) -> bool:
        """Whether it is up; its Xorg icon also knows whether a tray has it."""
        return self._is_up and getattr(self._icon, "_systray_manager", True) is not None

    def run(self) -> None:
        if self._owns_main:
            self._icon.run(setup=lambda icon: self.post(lambda: self._appear(icon)))
            return
        self.begin()
        self._main.run()
        self.end()

    def begin(self) -> None:
        """Come up in threads of its own."""
        words = ((self._loop,), "pystray's icon failed")
        loop = threading.Thread(target=run_logged, args=words, name="pystray", daemon=True)
        calls = threading.Thread(target=self._make_calls, name="pystray calls", daemon=True)
        self._icon._thread = loop  # it looks for this before its loop has set it
        self._threads = [calls, loop]
        loop.start()
        calls.start()

    def end(self) -> None:
        self._calls.post(self._icon.stop)
        self._calls.stop()
        for thread in self._threads:
            thread.join(START_TIMEOUT)
        self._disconnect()

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        post = self.post if self._owns_main else self._calls.post
        post(lambda: self._show(state, tooltip, items))

    def stop(self) -> None:
        if self._owns_main:
            self.post(self._icon.stop)
        else:
            self._main.stop()

    def _loop(self) -> None:
        if not self._icon.HAS_MENU:
            # Two threads on one Xlib connection can wait for each other for ever (measured: one start in ten), so its
            # Xorg icon docks here, before another thread uses the connection.
            self._icon.visible = True
        try:
            self._icon.run(self._appear)
        except PYSTRAY_ERRORS as error:  # its GTK icons call a notification server at their end, there or not
            log.info("pystray: %s", error)

    def _appear(self, icon: LibraryIcon) -> None:
        """Show the icon; on Windows it appears with its menu, because a click would do nothing before."""
        if not self._needs_menu:
            icon.visible = True
            self._stencil()
            self._is_up = True
        self._ready.set()

    def _make_calls(self) -> None:
        """Before its loop runs, pystray cannot be called."""
        self._ready.wait(None if self._needs_menu else START_TIMEOUT)
        self._calls.run()

    def _show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        self._icon.icon = self._picture(state, PICTURE_SIZE)
        self._stencil()
        self._icon.title = truncate(tooltip, TOOLTIP_LIMIT)
        self._icon.menu = self._pystray.Menu(*self._rows(items), *self._on_left_button())
        if self._needs_menu and not self._is_up:
            self._icon.visible = True
            self._is_up = True
            for title, text in self._early_balloons:
                self._icon.notify(text, title)

    def _stencil(self) -> None:
        """macOS draws a template in the colour of its menu bar, whichever that is."""
        image = getattr(self._icon, "_icon_image", None) if self._owns_main else None
        if image is not None:
            image.setTemplate_(True)

    def notify(self, title: str, text: str) -> None:
        """A balloon at this icon; another icon would stay empty in the tray for as long as the balloon."""
        self._calls.post(lambda: self._notify(title, text))

    def _notify(self, title: str, text: str) -> None:
        if self._needs_menu and not self._is_up:
            self._early_balloons.append((title, text))
        else:
            self._icon.notify(text, title)

    def _on_left_button(self) -> list[object]:
        """Windows reports the left button by itself: it does what the default row does, which no menu shows."""
        if self._platform != "win32":
            return []
        return [self._pystray.MenuItem(APP, self._click(OpenPage()), default=True, visible=False)]

    def _rows(self, items: tuple[Item, ...]) -> list[object]:
        return [self._row(item) for item in items]

    def _row(self, item: Item) -> object:
        if item.kind is ItemKind.SEPARATOR:
            return self._pystray.Menu.SEPARATOR
        label = item.label.replace("&", "&&") if self._platform == "win32" else item.label
        action = self._pystray.Menu(*self._rows(item.children)) if item.children else self._click(item.action)
        checked = (lambda _: item.checked) if item.kind is ItemKind.CHECK else None
        return self._pystray.MenuItem(label, action, checked=checked, enabled=item.enabled)

    def _click(self, action: Action | None) -> Callable[[object, object], None] | None:
        if action is None:
            return None
        return lambda icon, item: self.post(lambda: self._act(action))


def truncate(text: str, units: int) -> str:
    """Clean, and no longer than so many UTF-16 units."""
    return sanitise(text, units).encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore")


def _is_relevant(record: logging.LogRecord) -> bool:
    """pystray logs a traceback whenever its tray is not there; `visible` reports the same."""
    return record.msg != "Failed to dock icon"


def _nothing() -> None:
    """Nothing: it has no connection."""


class OpenMenu:
    """Has pystray replace its menu only while that is closed.

    pystray destroys the old menu at once, in whatever thread: what is still drawn then takes no click.
    """

    def __init__(self, icon: MenuIcon) -> None:
        self._replace, self._on_notify = icon._update_menu, icon._on_notify
        self._lock = threading.Lock()
        self._depth = 0  # an open menu goes on dispatching messages, so that they nest
        self._is_late = False
        icon._update_menu = self._update
        icon._message_handlers.update(
            {code: self._notify for code, handler in icon._message_handlers.items() if handler == self._on_notify}
        )

    def _update(self) -> None:
        with self._lock:
            self._is_late = self._depth > 0
            if not self._is_late:
                self._replace()

    def _notify(self, wparam: int, lparam: int) -> object:
        """A message about the icon; for a press of the right button pystray returns when its menu is closed."""
        with self._lock:
            self._depth += 1
        try:
            return self._on_notify(wparam, lparam)
        finally:
            with self._lock:
                self._depth -= 1
                if self._is_late and not self._depth:
                    self._is_late = False
                    self._replace()


def separate_connection(icon: XorgIcon) -> Callable[[], None]:
    """Make other threads talk to pystray's Xorg icon over a second connection; returns what closes that.

    python-xlib loses a reply when two threads use one connection: each may read what the other waits for (measured:
    one start in six never drew its icon). pystray's loop reads its connection; other threads only send to its window.
    """
    from Xlib import X, display, error  # type: ignore[import-untyped]
    from Xlib.protocol import event  # type: ignore[import-untyped]

    ours = display.Display(icon._display.get_display_name())
    window = ours.create_resource_object("window", icon._window.id)
    direct, flush = icon._send_message, icon._display.flush

    def on_loop() -> bool:
        return threading.current_thread() is icon._thread

    def send(target: object, kind: int, *words: int) -> None:
        if on_loop():
            direct(target, kind, *words)
            return
        data = (32, [X.CurrentTime, *words, *([0] * (4 - len(words)))])
        window.send_event(event.ClientMessage(client_type=kind, window=window, data=data), event_mask=X.NoEventMask)
        ours.flush()

    icon._send_message = send
    icon._display.flush = lambda: flush() if on_loop() else None

    def close() -> None:
        with contextlib.suppress(error.ConnectionClosedError):  # the X server may have ended before
            ours.close()

    return close
