"""What a tray host's calls mean: clicks on rows of the menu, and presses on the icon itself. Pure."""

from __future__ import annotations

from dbus_fast import Message

from tray.desktop.menu import Action, OpenPage

# What a press on the icon does, with whatever button: nothing that loosens a gate. Hosts that honour ItemIsMenu open
# the menu with the left button instead of calling.
PRESSES: dict[str, Action] = {
    "Activate": OpenPage(),
    "SecondaryActivate": OpenPage(),
    "XAyatanaSecondaryActivate": OpenPage(),
}

Click = tuple[int, str]  # a row's number and what happened to it


def parse_clicks(message: Message) -> list[Click] | None:
    """The clicks in a call; None when it is another call, which the menu's own methods answer."""
    if message.member == "Event" and message.signature == "isvu":
        return [(message.body[0], message.body[1])]
    if message.member == "EventGroup" and message.signature == "a(isvu)":
        return [(event[0], event[1]) for event in message.body[0]]
    return None
