"""The one interface to the icon, and the choice among its back ends. Only here is pystray imported.

On Linux our own StatusNotifierItem comes first. It is taken whenever the session bus answers, also when no tray host
is there yet, with one exception: when nobody is the watcher but an XEmbed tray is on the screen, the desktop has only
that, and pystray is what can stand in it. Without a bus, pystray takes the XEmbed tray. macOS and Windows have
pystray. Where nothing is left, the tray runs headless and `reason` says why.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tray.desktop.artwork import IconState, draw, on_tile
from tray.desktop.headless import Headless
from tray.desktop.linux import Screen, screen, session_bus
from tray.desktop.mainloop import MainLoop
from tray.desktop.menu import Action, Item, Kind
from tray.text import sanitise

TOOLTIP_LIMIT = 127  # characters; Windows takes no more
PICTURE_SIZE = 64
PATIENCE = 2.0  # seconds for pystray to come up, and to end
NOTHING = "no display and no D-Bus session: running headless"
NO_TRAY = "no tray on this display and no D-Bus session: running headless"
NO_MENU = (
    "this tray shows the icon without its menu: for the menu, run a StatusNotifier tray (Xfce, KDE Plasma or"
    " snixembed) on a D-Bus session, then start Hooktray again"
)


class Icon(Protocol):
    """What the rest of the tray knows of the icon. `run` owns the main thread; all else may come from any thread.

    `reason` is one line for the user when no icon is on the screen at start, `visible` whether one is now.
    """

    @property
    def name(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def visible(self) -> bool: ...
    def run(self) -> None: ...
    def post(self, fn: Callable[[], None]) -> None: ...
    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None: ...
    def stop(self) -> None: ...


class Backend(enum.Enum):
    SNI = enum.auto()
    PYSTRAY = enum.auto()
    HEADLESS = enum.auto()


def backend(*, bus: bool, watcher: bool, look: Screen) -> Backend:
    """The choice on Linux."""
    if bus and (watcher or not look.xembed):
        return Backend.SNI
    return Backend.PYSTRAY if look.xembed else Backend.HEADLESS


def choose(
    loop: asyncio.AbstractEventLoop | None,
    act: Callable[[Action], None],
    opened: Callable[[], None],
    *,
    trusts: Callable[[int], bool],
    headless: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Icon:
    """The icon for this desktop. `act` and `opened` are called on the thread that calls `run`.

    `loop` runs in another thread. `trusts` has the last word on the process of a tray host whose click came in. It
    has no default, because any process of the user can call itself a tray host.
    """
    if headless:
        return Headless("headless, as asked for")
    if sys.platform in {"darwin", "win32"}:
        return _pystray(act)
    return _on_linux(loop, act, opened, environment, trusts)


def _on_linux(
    loop: asyncio.AbstractEventLoop | None,
    act: Callable[[Action], None],
    opened: Callable[[], None],
    environment: Mapping[str, str],
    trusts: Callable[[int], bool],
) -> Icon:
    from tray.desktop.sni import BUS_ERRORS, Sni

    sni, watcher = None, False
    if loop is not None and (address := session_bus(environment)):
        sni = Sni(loop, address, act, opened, trusts)
        try:
            watcher = sni.start()
        except BUS_ERRORS:
            sni.stop()
            sni = None
    look = screen(environment)
    choice = backend(bus=sni is not None, watcher=watcher, look=look)
    if sni is not None and choice is Backend.SNI:
        return sni
    if sni is not None:
        sni.stop()
    if choice is Backend.PYSTRAY:
        return _pystray(act)
    return Headless(NO_TRAY if look.display else NOTHING)


def _pystray(act: Callable[[Action], None]) -> Icon:
    try:
        import pystray
    except (ImportError, ValueError, OSError) as error:
        return Headless(f"pystray finds no tray ({error}): running headless")
    return Pystray(pystray, act)


class Pystray:
    """pystray's icon. On macOS it has the main thread; elsewhere it has threads of its own, so that `post` is ours.

    Its calls wait for its loop, and for ever when that is stuck: a thread makes them that nobody waits for long.
    """

    name = "pystray"

    def __init__(self, pystray: Any, act: Callable[[Action], None]) -> None:
        if sys.platform == "win32":
            from tray.alerts.policy import APP
            from tray.desktop import windows

            windows.identify(APP)
        self._pystray, self._act = pystray, act
        complete = pystray.Icon.HAS_MENU  # its Xorg icon has neither menu nor transparency
        self.reason = "" if complete else NO_MENU
        self._picture = draw if complete else on_tile
        logging.getLogger("pystray._base").addFilter(_worth_saying)
        self._icon = pystray.Icon("hooktray", self._picture(IconState.ON, PICTURE_SIZE), "Hooktray")
        self._main, self._calls = MainLoop(), MainLoop()
        self._ready = threading.Event()

    @property
    def visible(self) -> bool:
        """Whether it is up; its Xorg icon also knows whether a tray has it."""
        return self._ready.is_set() and getattr(self._icon, "_systray_manager", True) is not None

    def run(self) -> None:
        if sys.platform == "darwin":
            self._icon.run(setup=self._appear)
            return
        loop = threading.Thread(target=self._loop, name="pystray", daemon=True)
        calls = threading.Thread(target=self._make_calls, name="pystray calls", daemon=True)
        self._icon._thread = loop  # it looks for this before its loop has set it
        loop.start()
        calls.start()
        self._main.run()
        self._calls.post(self._icon.stop)
        self._calls.stop()
        calls.join(PATIENCE)

    def post(self, fn: Callable[[], None]) -> None:
        if sys.platform == "darwin":
            from tray.desktop import macos

            macos.post(fn)
        else:
            self._main.post(fn)

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        post = self.post if sys.platform == "darwin" else self._calls.post
        post(lambda: self._show(state, tooltip, items))

    def stop(self) -> None:
        if sys.platform == "darwin":
            self.post(self._icon.stop)
        else:
            self._main.stop()

    def _loop(self) -> None:
        if not self._icon.HAS_MENU:
            # Two threads on one Xlib connection can wait for each other for ever (measured: one start in ten), so its
            # Xorg icon docks here, before anybody else uses the connection.
            self._icon.visible = True
        self._icon.run(self._appear)

    def _appear(self, icon: Any) -> None:
        icon.visible = True
        self._ready.set()

    def _make_calls(self) -> None:
        """Before its loop runs, pystray cannot be called."""
        self._ready.wait(PATIENCE)
        self._calls.run()

    def _show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        self._icon.icon = self._picture(state, PICTURE_SIZE)
        if sys.platform == "darwin":
            from tray.desktop import macos

            macos.template(self._icon)
        self._icon.title = sanitise(tooltip, TOOLTIP_LIMIT)
        self._icon.menu = self._rows(items)

    def _rows(self, items: tuple[Item, ...]) -> Any:
        return self._pystray.Menu(*(self._row(item) for item in items))

    def _row(self, item: Item) -> Any:
        if item.kind is Kind.SEPARATOR:
            return self._pystray.Menu.SEPARATOR
        label = item.label.replace("&", "&&") if sys.platform == "win32" else item.label
        action = self._rows(item.children) if item.children else self._click(item.action)
        checked = (lambda _: item.checked) if item.kind is Kind.CHECK else None
        return self._pystray.MenuItem(label, action, checked=checked, enabled=item.enabled)

    def _click(self, action: Action | None) -> Callable[[Any, Any], None] | None:
        if action is None:
            return None
        return lambda icon, item: self.post(lambda: self._act(action))


def _worth_saying(record: logging.LogRecord) -> bool:
    """pystray shows a traceback whenever its tray is not there; `visible` says the same without alarm."""
    return record.msg != "Failed to dock icon"
