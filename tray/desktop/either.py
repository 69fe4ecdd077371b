"""The icon on the bus, and in an old XEmbed tray for as long as the bus has no tray host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tray.desktop.artwork import IconState
from tray.desktop.menu import Item

Shown = tuple[IconState, str, tuple[Item, ...]]


class Bus(Protocol):
    """What this needs of the StatusNotifierItem; `hosted` is told on the main thread when a host comes or goes."""

    hosted: Callable[[bool], None]

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


class Old(Protocol):
    """And of the icon in the old tray."""

    @property
    def reason(self) -> str: ...
    @property
    def visible(self) -> bool: ...
    def begin(self) -> None: ...
    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None: ...
    def end(self) -> None: ...


class Either:
    """Used like any other icon; whether it stands here or there is its own affair."""

    def __init__(self, bus: Bus, old: Callable[[], Old | None]) -> None:
        self._bus, self._make = bus, old
        bus.hosted = self._hosted
        self._old: Old | None = None
        self._last: Shown | None = None

    @property
    def name(self) -> str:
        return "pystray" if self._old else "sni"

    @property
    def reason(self) -> str:
        return self._old.reason if self._old else self._bus.reason

    @property
    def visible(self) -> bool:
        return self._bus.visible or (self._old is not None and self._old.visible)

    def settle(self) -> None:
        """Go to the old tray, where there is one."""
        self._old = self._make()
        if self._old is None:
            return
        self._old.begin()
        if self._last is not None:
            self._old.show(*self._last)

    def run(self) -> None:
        self._bus.run()
        self._leave()

    def post(self, fn: Callable[[], None]) -> None:
        self._bus.post(fn)

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        self._last = state, tooltip, items
        self._bus.show(state, tooltip, items)
        if (old := self._old) is not None:
            old.show(state, tooltip, items)

    def stop(self) -> None:
        self._bus.stop()

    def _hosted(self, present: bool) -> None:
        """The bus first; the old tray only while that has nobody."""
        if self._bus.present:
            self._leave()
        elif self._old is None:
            self.settle()

    def _leave(self) -> None:
        old, self._old = self._old, None
        if old is not None:
            old.end()
