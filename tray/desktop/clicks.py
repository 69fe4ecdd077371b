"""What icons call when the user clicks, and what a tray host's calls mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tray.desktop.menu.actions import Action, OpenPage

if TYPE_CHECKING:
    from dbus_fast import Message

# What a press on the icon does, with whatever button: nothing that loosens a gate. Hosts that honour ItemIsMenu open
# the menu with the left button instead of calling.
PRESSES: dict[str, Action] = {
    "Activate": OpenPage(),
    "SecondaryActivate": OpenPage(),
    "XAyatanaSecondaryActivate": OpenPage(),
}

Click = tuple[int, str]  # a row's number and what happened to it


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


def parse_clicks(message: Message) -> list[Click] | None:
    """The clicks in a call; None when it is another call, which the menu's own methods answer."""
    if message.member == "Event" and message.signature == "isvu":
        return [(message.body[0], message.body[1])]
    if message.member == "EventGroup" and message.signature == "a(isvu)":
        return [(event[0], event[1]) for event in message.body[0]]
    return None
