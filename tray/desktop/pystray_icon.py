"""pystray's icon: for macOS and Windows, and for an XEmbed tray on Linux. Only here is pystray imported."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from tray.desktop import macos, windows
from tray.desktop.artwork import IconState, draw, on_tile
from tray.desktop.mainloop import HeadlessIcon, MainLoop
from tray.desktop.menu.actions import Action, IconClicks, OpenPage
from tray.desktop.menu.items import Item, ItemKind
from tray.notify.alert import APP
from tray.text import sanitise
from tray.threads import Queue, run_logged

if TYPE_CHECKING:
    from PIL.Image import Image


class IconDisplay(Protocol):
    flush: Callable[[], object]

    def get_display_name(self) -> str: ...


class IconWindow(Protocol):
    id: int


class LibraryIcon(Protocol):
    """The members of pystray's icons that Hooktray uses. The private ones differ from system to system."""

    HAS_MENU: bool
    visible: bool
    icon: Image
    title: str
    menu: object
    # On Windows.
    _update_menu: Callable[[], None]
    _message_handlers: dict[int, Callable[[int, int], object]]
    # Of the Xorg icon.
    _display: IconDisplay
    _window: IconWindow
    _thread: threading.Thread
    _send_message: Callable[..., object]

    def run(self, setup: Callable[[LibraryIcon], None]) -> None: ...
    def stop(self) -> None: ...
    def notify(self, message: str, title: str) -> None: ...
    def _on_notify(self, wparam: int, lparam: int) -> object: ...


TOOLTIP_LIMIT = 127  # UTF-16 units; Windows takes no more
PICTURE_SIZE = 64
START_TIMEOUT = 2.0  # seconds for pystray to come up, and to end
PYSTRAY_ERRORS = (OSError, RuntimeError)  # of Windows; of GLib, and of X11, whose other errors it logs itself
NO_MENU = (
    "this tray shows the icon without its menu: for the menu, run a StatusNotifier tray (Xfce, KDE Plasma or"
    " snixembed) on a D-Bus session"
)

log = logging.getLogger(__name__)


class PystrayIcon:
    """On macOS it has the main thread, and whatever touches the screen is posted there. Elsewhere it has threads of
    its own: its calls wait for its loop, and for ever when that is stuck, so they are made in a thread that is joined
    only for a short time.
    """

    name = "pystray"

    def __init__(
        self, pystray: ModuleType, clicks: IconClicks, platform: str = sys.platform, main: Queue = macos
    ) -> None:
        """`main` is that of the main thread where pystray owns it."""
        if sys.platform == "win32":
            windows.set_app_id(APP)
        self._pystray, self._clicks = pystray, clicks
        self._owns_main, self._is_windows = platform == "darwin", platform == "win32"
        complete = pystray.Icon.HAS_MENU  # its Xorg icon has neither menu nor transparency
        self.reason = "" if complete else NO_MENU
        self._picture = draw if complete else on_tile
        logging.getLogger("pystray._base").addFilter(_is_relevant)
        self._icon: LibraryIcon = pystray.Icon("hooktray", self._picture(IconState.ON, PICTURE_SIZE), "Hooktray")
        if self._is_windows:
            OpenMenu(self._icon)
        self._connection = None if complete else SeparateConnection(self._icon)
        self._loop, self._calls = MainLoop(), MainLoop()
        self.main: Queue = main if self._owns_main else self._loop
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
            self._icon.run(self._set_up)
            return
        self.begin()
        self._loop.run()
        self.end()

    def begin(self) -> None:
        """Come up in threads of its own."""
        words = ((self._run_icon,), "pystray's icon failed")
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
        if self._connection is not None:
            self._connection.close()

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        calls = self.main if self._owns_main else self._calls
        calls.post(partial(self._show, state, tooltip, items))

    def stop(self) -> None:
        if self._owns_main:
            self.main.post(self._icon.stop)
        else:
            self._loop.stop()

    def _run_icon(self) -> None:
        if not self._icon.HAS_MENU:
            # Two threads on one Xlib connection can wait for each other for ever (measured: one start in ten), so its
            # Xorg icon docks here, before another thread uses the connection.
            self._icon.visible = True
        try:
            self._icon.run(self._set_up)
        except PYSTRAY_ERRORS as error:  # its GTK icons call a notification server at their end, there or not
            log.info("pystray: %s", error)

    def _set_up(self, icon: LibraryIcon) -> None:
        """pystray calls this in a thread of its own when its loop runs."""
        if self._owns_main:
            self.main.post(self._appear)
        else:
            self._appear()

    def _appear(self) -> None:
        """Show the icon; on Windows it appears with its menu, because a click would do nothing before."""
        if not self._is_windows:
            self._icon.visible = True
            self._stencil()
            self._is_up = True
        self._ready.set()

    def _make_calls(self) -> None:
        """Before its loop runs, pystray cannot be called."""
        self._ready.wait(None if self._is_windows else START_TIMEOUT)
        self._calls.run()

    def _show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        self._icon.icon = self._picture(state, PICTURE_SIZE)
        self._stencil()
        self._icon.title = truncate(tooltip, TOOLTIP_LIMIT)
        rows = [self._row(item) for item in items]
        if self._is_windows:
            # It reports the left button by itself, which does what the default row does; no menu shows that row.
            rows.append(self._pystray.MenuItem(APP, self._click(OpenPage()), default=True, visible=False))
        self._icon.menu = self._pystray.Menu(*rows)
        if self._is_windows and not self._is_up:
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
        self._calls.post(partial(self._notify, title, text))

    def _notify(self, title: str, text: str) -> None:
        if self._is_windows and not self._is_up:
            self._early_balloons.append((title, text))
        else:
            self._icon.notify(text, title)

    def _row(self, item: Item) -> object:
        if item.kind is ItemKind.SEPARATOR:
            return self._pystray.Menu.SEPARATOR
        label = item.label.replace("&", "&&") if self._is_windows else item.label
        action: object = self._click(item.action)
        if item.children:
            action = self._pystray.Menu(*map(self._row, item.children))
        checked = (lambda _: item.checked) if item.kind is ItemKind.CHECK else None
        return self._pystray.MenuItem(label, action, checked=checked, enabled=item.enabled)

    def _click(self, action: Action | None) -> Callable[[object, object], None] | None:
        if action is None:
            return None
        return lambda icon, item: self._clicks.act(action)


def truncate(text: str, units: int) -> str:
    """Clean, and no longer than so many UTF-16 units."""
    return sanitise(text, units).encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore")


def _is_relevant(record: logging.LogRecord) -> bool:
    """pystray logs a traceback whenever its tray is not there; `visible` reports the same."""
    return record.msg != "Failed to dock icon"


class OpenMenu:
    """Has pystray replace its menu only while that is closed.

    pystray destroys the old menu at once, in whatever thread: what is still drawn then takes no click.
    """

    def __init__(self, icon: LibraryIcon) -> None:
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


class SeparateConnection:
    """Makes other threads talk to pystray's Xorg icon over a second connection.

    python-xlib loses a reply when two threads use one connection: each may read what the other waits for (measured:
    one start in six never drew its icon). pystray's loop reads its connection; other threads only send to its window.
    """

    def __init__(self, icon: LibraryIcon) -> None:
        from Xlib import display  # type: ignore[import-untyped]

        self._icon = icon
        self._display = display.Display(icon._display.get_display_name())
        self._window = self._display.create_resource_object("window", icon._window.id)
        self._send_on_loop, self._flush_on_loop = icon._send_message, icon._display.flush
        icon._send_message = self._send
        icon._display.flush = self._flush

    def close(self) -> None:
        from Xlib import error

        with contextlib.suppress(error.ConnectionClosedError):  # the X server may have ended before
            self._display.close()

    def _is_on_loop(self) -> bool:
        return threading.current_thread() is self._icon._thread

    def _send(self, target: object, kind: int, *words: int) -> None:
        from Xlib import X
        from Xlib.protocol import event  # type: ignore[import-untyped]

        if self._is_on_loop():
            self._send_on_loop(target, kind, *words)
            return
        data = (32, [X.CurrentTime, *words, *([0] * (4 - len(words)))])
        message = event.ClientMessage(client_type=kind, window=self._window, data=data)
        self._window.send_event(message, event_mask=X.NoEventMask)
        self._display.flush()

    def _flush(self) -> None:
        if self._is_on_loop():
            self._flush_on_loop()


def pystray_icon(clicks: IconClicks) -> PystrayIcon | HeadlessIcon:
    """Returns pystray's icon, or a headless one where pystray finds no tray."""
    try:
        import pystray
    except (ImportError, ValueError, OSError) as error:
        return HeadlessIcon(f"pystray finds no tray ({error}): running headless")

    return PystrayIcon(pystray, clicks)
