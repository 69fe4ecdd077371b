"""The one interface to the icon, and the choice among its back ends.

On Linux our own StatusNotifierItem comes first, whenever the session bus answers. While it has no tray host and an
XEmbed tray is on the screen, pystray shows the icon in that one, and leaves it when a host comes. Without a bus,
pystray uses the XEmbed tray for good. macOS and Windows use pystray. Where nothing is left, the tray runs headless,
and `reason` explains it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Protocol

from tray.desktop.artwork import IconState
from tray.desktop.linux import query_screen, session_bus
from tray.desktop.mainloop import HeadlessIcon
from tray.desktop.menu.actions import IconClicks
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


class BusIcon(Icon, Protocol):
    """The part of SniIcon that FallbackIcon uses: `present` is whether a tray host is there."""

    @property
    def present(self) -> bool: ...


class LegacyIcon(Protocol):
    """The part of the icon in the XEmbed tray that FallbackIcon uses."""

    @property
    def reason(self) -> str: ...
    @property
    def visible(self) -> bool: ...
    def begin(self) -> None: ...
    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None: ...
    def end(self) -> None: ...


class FallbackIcon:
    """Shows the SniIcon while the bus has a tray host, else an icon in the XEmbed tray if there is one."""

    def __init__(self, bus: BusIcon, clicks: IconClicks, environment: Mapping[str, str]) -> None:
        self._bus, self._clicks, self._environment = bus, clicks, environment
        self._legacy: LegacyIcon | None = None
        self._last: tuple[IconState, str, tuple[Item, ...]] | None = None
        self._stopped = False

    @property
    def name(self) -> str:
        return "pystray" if self._legacy else "sni"

    @property
    def reason(self) -> str:
        return self._legacy.reason if self._legacy else self._bus.reason

    @property
    def visible(self) -> bool:
        return self._bus.visible or (self._legacy is not None and self._legacy.visible)

    def fall_back(self) -> None:
        """Show the icon in the XEmbed tray, where there is one."""
        self._legacy = self.make_legacy()
        if self._legacy is None:
            return
        self._legacy.begin()
        if self._last is not None:
            self._legacy.show(*self._last)

    def make_legacy(self) -> LegacyIcon | None:
        """Returns an icon in the XEmbed tray that is there now; None without such a tray."""
        icon = pystray_icon(self._clicks) if query_screen(self._environment).xembed else None
        return None if isinstance(icon, HeadlessIcon) else icon

    def run(self) -> None:
        self._bus.run()
        self._leave()

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        self._last = state, tooltip, items
        self._bus.show(state, tooltip, items)
        if (legacy := self._legacy) is not None:
            legacy.show(state, tooltip, items)

    def stop(self) -> None:
        self._stopped = True
        self._bus.stop()

    def host_changed(self) -> None:
        """The bus first; the XEmbed tray only while the bus has no host."""
        if self._bus.present:
            self._leave()
        elif self._legacy is None and not self._stopped:  # who leaves the bus has no host there either
            self.fall_back()

    def _leave(self) -> None:
        legacy, self._legacy = self._legacy, None
        if legacy is not None:
            legacy.end()


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
    if loop is not None and (icon := _on_bus(loop, clicks, environment)):
        return icon
    screen = query_screen(environment)
    if screen.xembed:
        return pystray_icon(clicks)
    return HeadlessIcon(NO_TRAY if screen.display else NO_DISPLAY)


def _on_bus(loop: asyncio.AbstractEventLoop, clicks: IconClicks, environment: Mapping[str, str]) -> Icon | None:
    """Returns the icon on the session bus; None if no bus answers."""
    from tray.desktop.sni import BUS_ERRORS, SniIcon

    address = session_bus(environment)
    if not address:
        return None
    sni = SniIcon(loop, address, clicks)
    try:
        has_host = sni.start()
    except BUS_ERRORS:
        sni.stop()
        return None
    icon = sni.host_observer = FallbackIcon(sni, clicks, environment)
    if not has_host:  # otherwise skip the search on the screen: Xlib takes 2 MB and 30 ms
        icon.fall_back()
    return icon


def show_balloon(icon: Icon, title: str, text: str) -> bool:
    """Show a text at the icon itself, where that is possible; whether it was."""
    if isinstance(icon, PystrayIcon):
        icon.notify(title, text)
        return True
    return False
