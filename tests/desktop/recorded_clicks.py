"""Stand-ins for an icon, and for the objects that it calls at a click."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

import msgspec

from tray.desktop.artwork import IconState
from tray.desktop.mainloop import HeadlessIcon
from tray.desktop.menu.actions import Action
from tray.desktop.menu.items import Items


class IconView(msgspec.Struct, frozen=True):
    """What an icon was given to show."""

    state: IconState
    tooltip: str
    items: Items


class RecordedIcon(HeadlessIcon):
    """Remembers in `shown` what it shows, and only that."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.shown: list[IconView] = []

    def show(self, state: IconState, tooltip: str, items: Items) -> None:
        self.shown[:] = [IconView(state, tooltip, items)]


class RecordedClicks:
    """Remembers what was clicked, and on which thread that came. `trusted`: the hosts that may click; None = all."""

    def __init__(self) -> None:
        self.acted: list[Action] = []
        self.threads: list[int] = []
        self.openings = 0
        self.trusted: Collection[int] | None = None
        self.judged: list[int] = []
        self.rejected: list[tuple[int, bool, tuple[Action, ...]]] = []

    def act(self, action: Action) -> None:
        self.acted.append(action)
        self.threads.append(threading.get_ident())

    def opened(self) -> None:
        self.openings += 1

    def is_trusted_host(self, pid: int) -> bool:
        self.judged.append(pid)
        return self.trusted is None or pid in self.trusted

    def menu_rejected(self, pid: int, is_host: bool, actions: Sequence[Action]) -> None:
        self.rejected.append((pid, is_host, tuple(actions)))


class NoClicks(RecordedClicks):
    """Of an icon that nobody clicks."""

    def act(self, action: Action) -> None:
        raise AssertionError(action)
