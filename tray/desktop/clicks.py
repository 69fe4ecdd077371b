"""What icons call when the user clicks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tray.desktop.menu.actions import Action


class IconClicks(Protocol):
    """Takes the clicks on an icon and its menu, from any thread."""

    def act(self, action: Action) -> None:
        """Do what was clicked."""
        ...

    def opened(self) -> None:
        """The menu is about to be shown."""
        ...

    def is_trusted_host(self, pid: int) -> bool:
        """True if a click through this tray host counts: any process of the user can call itself a tray host."""
        ...

    def menu_rejected(self, pid: int, is_host: bool, actions: Sequence[Action]) -> None:
        """Handle a click that did not count: its process, whether that is a tray host, and what was clicked."""
        ...
