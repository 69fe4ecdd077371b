"""The icon on the bus, and in an old XEmbed tray for as long as the bus has no tray host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tray.desktop.artwork import IconState
from tray.desktop.clicks import IconClicks
from tray.desktop.headless import HeadlessIcon
from tray.desktop.linux import query_screen
from tray.desktop.menu.items import Item
from tray.desktop.pystray_icon import pystray_icon

View = tuple[IconState, str, tuple[Item, ...]]


class BusIcon(Protocol):
    """The part of SniIcon that is used here."""

    @property
    def reason(self) -> str: ...
    @property
    def present(self) -> bool: ...
    @property
    def visible(self) -> bool: ...
    def run(self) -> None: ...
    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None: ...
    def stop(self) -> None: ...


class LegacyIcon(Protocol):
    """The part of the icon in the XEmbed tray that is used here."""

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
        self._last: View | None = None
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
