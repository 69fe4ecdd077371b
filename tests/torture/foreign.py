"""A program of an agent on the session bus: `foreign.py ADDRESS HOW,… NUMBER [NAME]`; says what came of each.

HOW: `event`, `group` and `press` act on the item NAME as a tray host would; `host` and `watcher` take a host's name
first; `invoked` says that a button of the alert with this NUMBER was pressed, and of all before it.
"""

from __future__ import annotations

import asyncio
import os
import sys

from dbus_fast import Message, Variant
from dbus_fast.aio import MessageBus

MENU, ITEM = "com.canonical.dbusmenu", "org.kde.StatusNotifierItem"
ALERTS, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
NAMES = {"host": f"org.kde.StatusNotifierHost-{os.getpid()}", "watcher": "org.kde.StatusNotifierWatcher"}


async def main(address: str, how: str, number: int, name: str = "") -> None:
    bus = await MessageBus(bus_address=address).connect()
    if how in NAMES:
        await bus.request_name(NAMES[how])
    if how == "invoked":
        for one in range(1, number + 1):
            for button in ("allow", "default", "undo", "approve"):
                await bus.send(Message.new_signal(PATH, ALERTS, "ActionInvoked", "us", [one, button]))
        await bus.call(Message(destination="org.freedesktop.DBus", path="/", interface="org.freedesktop.DBus",
                               member="GetId"))  # fmt: skip
    else:
        reply = await asyncio.wait_for(bus.call(_message(how, number, name)), 20)
        print(reply.error_name)
    bus.disconnect()
    await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]


def _message(how: str, number: int, name: str) -> Message:
    event = [number, "clicked", Variant("i", 0), 0]
    if how == "press":
        return Message(destination=name, path="/StatusNotifierItem", interface=ITEM, member="SecondaryActivate",
                       signature="ii", body=[1, 1])  # fmt: skip
    if how == "group":
        return Message(destination=name, path="/MenuBar", interface=MENU, member="EventGroup",
                       signature="a(isvu)", body=[[event]])  # fmt: skip
    return Message(destination=name, path="/MenuBar", interface=MENU, member="Event", signature="isvu", body=event)


if __name__ == "__main__":
    for one in sys.argv[2].split(","):
        asyncio.run(main(sys.argv[1], one, int(sys.argv[3]), *sys.argv[4:]))
