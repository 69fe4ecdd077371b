"""The icon on the bus, and in an old XEmbed tray for as long as the bus has no tray host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.desktop.artwork import IconState
from tray.desktop.menu import Item

View = tuple[IconState, str, tuple[Item, ...]]


class BusIcon(Protocol):
    """What this needs of SniIcon; `on_host_change` is called on the main thread when a host comes or goes."""

    on_host_change: Callable[[bool], None]

    @property
    def reason(self) -> str: ...
    @property
    def present(self) -> bool: ...
    @property
    def visible(self) -> bool: ...
    def run(self) -> None: ...
    def post(self, fn: Callable[[], None]) -> None: ...
    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None: ...
    def stop(self) -> None: ...


class LegacyIcon(Protocol):
    """What this needs of the icon in the XEmbed tray."""

    @property
    def reason(self) -> str: ...
    @property
    def visible(self) -> bool: ...
    def begin(self) -> None: ...
    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None: ...
    def end(self) -> None: ...


class FallbackIcon:
    """Used like any other icon; chooses by itself which of the two is shown."""

    def __init__(self, bus: BusIcon, legacy: Callable[[], LegacyIcon | None]) -> None:
        self._bus, self._make_legacy = bus, legacy
        bus.on_host_change = self._on_host_change
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
        self._legacy = self._make_legacy()
        if self._legacy is None:
            return
        self._legacy.begin()
        if self._last is not None:
            self._legacy.show(*self._last)

    def run(self) -> None:
        self._bus.run()
        self._leave()

    def post(self, fn: Callable[[], None]) -> None:
        self._bus.post(fn)

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        self._last = state, tooltip, items
        self._bus.show(state, tooltip, items)
        if (legacy := self._legacy) is not None:
            legacy.show(state, tooltip, items)

    def stop(self) -> None:
        self._stopped = True
        self._bus.stop()

    def _on_host_change(self, present: bool) -> None:
        """The bus first; the XEmbed tray only while the bus has no host."""
        if self._bus.present:
            self._leave()
        elif self._legacy is None and not self._stopped:  # who leaves the bus has no host there either
            self.fall_back()

    def _leave(self) -> None:
        legacy, self._legacy = self._legacy, None
        if legacy is not None:
            legacy.end()
