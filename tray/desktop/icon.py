"""The one interface to the icon, and the choice among its back ends.

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
from collections.abc import Mapping
from typing import Protocol

from tray.desktop.artwork import IconState
from tray.desktop.clicks import IconClicks
from tray.desktop.fallback_icon import FallbackIcon
from tray.desktop.headless import HeadlessIcon
from tray.desktop.linux import XScreen, query_screen, session_bus
from tray.desktop.menu.items import Item
from tray.desktop.pystray_icon import PystrayIcon, pystray_icon

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
    clicks: IconClicks,
    *,
    headless: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Icon:
    """The icon for this desktop. `loop` runs in another thread than the icon."""
    if headless:
        return HeadlessIcon("headless, as asked for")
    if sys.platform in {"darwin", "win32"}:
        return pystray_icon(clicks)
    return _on_linux(loop, clicks, environment)


def _on_linux(loop: asyncio.AbstractEventLoop | None, clicks: IconClicks, environment: Mapping[str, str]) -> Icon:
    from tray.desktop.sni import BUS_ERRORS, SniIcon

    icon = None
    if loop is not None and (address := session_bus(environment)):
        sni = SniIcon(loop, address, clicks)
        try:
            has_host = sni.start()
        except BUS_ERRORS:
            sni.stop()
        else:
            icon = sni.host_observer = FallbackIcon(sni, clicks, environment)
            if has_host:  # whatever the screen has: Xlib takes 2 MB and 30 ms
                return icon
    screen = query_screen(environment)
    choice = choose_backend(bus=icon is not None, screen=screen)
    if icon is not None:
        if choice is IconBackend.PYSTRAY:
            icon.fall_back()
        return icon
    if choice is IconBackend.PYSTRAY:
        return pystray_icon(clicks)
    return HeadlessIcon(NO_TRAY if screen.display else NO_DISPLAY)


def show_balloon(icon: Icon, title: str, text: str) -> bool:
    """Show a text at the icon itself, where that is possible; whether it was."""
    if isinstance(icon, PystrayIcon):
        icon.notify(title, text)
        return True
    return False
