"""The one interface to the icon, and the choice among its back ends. Only here is pystray imported.

On Linux our own StatusNotifierItem comes first, whenever the session bus answers. While it has no tray host and an
XEmbed tray is on the screen, pystray shows the icon in that one, and leaves it when a host comes. Without a bus,
pystray uses the XEmbed tray for good. macOS and Windows use pystray. Where nothing is left, the tray runs headless,
and `reason` explains it.
"""

from __future__ import annotations

import asyncio
import enum
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tray.desktop.artwork import IconState
from tray.desktop.fallback_icon import FallbackIcon
from tray.desktop.headless import HeadlessIcon
from tray.desktop.linux import XScreen, query_screen, session_bus
from tray.desktop.menu import Action, Item
from tray.desktop.pystray_icon import PystrayIcon

NO_DISPLAY = "no display and no D-Bus session: running headless"
NO_TRAY = "no tray on this display and no D-Bus session: running headless"


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


class IconBackend(enum.Enum):
    SNI = enum.auto()
    PYSTRAY = enum.auto()
    HEADLESS = enum.auto()


def choose_backend(*, bus: bool, screen: XScreen) -> IconBackend:
    """The choice on Linux while no tray host is on the bus."""
    if bus and not screen.xembed:
        return IconBackend.SNI
    return IconBackend.PYSTRAY if screen.xembed else IconBackend.HEADLESS


def choose_icon(
    loop: asyncio.AbstractEventLoop | None,
    act: Callable[[Action], None],
    opened: Callable[[], None],
    *,
    trusts: Callable[[int], bool],
    rejected: Callable[[int, bool, Sequence[Action]], None] = lambda pid, is_host, actions: None,
    headless: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Icon:
    """The icon for this desktop. `act` and `opened` are called on the thread that calls `run`.

    `loop` runs in another thread. `trusts` decides last whether the process of a tray host may click. It has
    no default, because any process of the user can call itself a tray host. `rejected` gets what it did not trust:
    the process, whether it calls itself a tray host, and what was clicked.
    """
    if headless:
        return HeadlessIcon("headless, as asked for")
    if sys.platform in {"darwin", "win32"}:
        return _pystray(act)
    return _on_linux(loop, act, opened, environment, trusts, rejected)


def _on_linux(
    loop: asyncio.AbstractEventLoop | None,
    act: Callable[[Action], None],
    opened: Callable[[], None],
    environment: Mapping[str, str],
    trusts: Callable[[int], bool],
    rejected: Callable[[int, bool, Sequence[Action]], None],
) -> Icon:
    from tray.desktop.sni import BUS_ERRORS, SniIcon

    sni, watcher = None, False
    if loop is not None and (address := session_bus(environment)):
        sni = SniIcon(loop, address, act, opened, trusts, rejected)
        try:
            watcher = sni.start()
        except BUS_ERRORS:
            sni.stop()
            sni = None
    if sni is not None and watcher:  # whatever the screen has: Xlib takes 2 MB and 30 ms
        return FallbackIcon(sni, lambda: _legacy(act, environment))
    screen = query_screen(environment)
    choice = choose_backend(bus=sni is not None, screen=screen)
    if sni is not None:
        icon = FallbackIcon(sni, lambda: _legacy(act, environment))
        if choice is IconBackend.PYSTRAY:
            icon.fall_back()
        return icon
    if choice is IconBackend.PYSTRAY:
        return _pystray(act)
    return HeadlessIcon(NO_TRAY if screen.display else NO_DISPLAY)


def show_balloon(icon: Icon, title: str, text: str) -> bool:
    """Show a text at the icon itself, where that is possible; whether it was."""
    if isinstance(icon, PystrayIcon):
        icon.notify(title, text)
        return True
    return False


def _legacy(act: Callable[[Action], None], environment: Mapping[str, str]) -> PystrayIcon | None:
    """The icon in the XEmbed tray that is there now."""
    icon = _pystray(act) if query_screen(environment).xembed else None
    return None if isinstance(icon, HeadlessIcon) else icon


def _pystray(act: Callable[[Action], None]) -> PystrayIcon | HeadlessIcon:
    try:
        import pystray
    except (ImportError, ValueError, OSError) as error:
        return HeadlessIcon(f"pystray finds no tray ({error}): running headless")

    return PystrayIcon(pystray, act)
