"""A notification server that records what it is told; run as `recording_server.py FOLDER [CAPABILITY…]`.

Each call becomes one JSON line in FOLDER/calls, and Notify another one, `Asked`, as soon as it comes in.
FOLDER/mode says how it answers: nothing = as it should, `hang` = never, `refuse` = with an error,
`deaf` = it tells its capabilities, and hangs when it is to show something,
`late` = the same, until it has another mode, `unwilling` = it refuses to show anything more,
`no-repeats` = it refuses once what repeats its last notification, as Plasma does for a second,
`too-soon` = it refuses everything with that error,
`dropping` = it closes at once what it shows,
`eager` = the last button is pressed before anybody is told the number.
"""
# No `from __future__ import annotations`: dbus-fast reads the annotations as D-Bus signatures.
# mypy: ignore-errors
# ruff: noqa: F722, F821, N802

import asyncio
import json
import sys
import time
from pathlib import Path

from dbus_fast import DBusError, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.constants import PropertyAccess
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

REFUSED = DBusError("org.freedesktop.Notifications.Error.Failed", "too many")
TOO_SOON = DBusError("org.freedesktop.Notifications.Error.ExcessNotificationGeneration", "too soon")
FOLDER = Path(sys.argv[1])
CAPABILITIES = sys.argv[2:]


def told() -> str:
    return (FOLDER / "mode").read_text() if (FOLDER / "mode").exists() else ""


async def obey(*hanging: str) -> None:
    while told() == "late" in hanging:
        await asyncio.sleep(0.005)
    mode = told()
    if mode in hanging:
        await asyncio.Event().wait()
    if mode == "refuse":
        raise REFUSED


def record(**call: object) -> None:
    with (FOLDER / "calls").open("a") as file:
        file.write(json.dumps(call) + "\n")


class Server(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.freedesktop.Notifications")
        self.last = 0
        self.words = None  # of the last notification

    @dbus_method()
    async def GetCapabilities(self) -> "as":
        await obey("hang")
        return CAPABILITIES

    @dbus_method()
    async def GetServerInformation(self) -> "ssss":
        await obey("hang")
        name = (FOLDER / "name").read_text() if (FOLDER / "name").exists() else "recording"
        return [name, "tests", "1", "1.2"]

    @dbus_method()
    async def Notify(
        self, app: "s", replaces: "u", icon: "s", title: "s", body: "s", actions: "as", hints: "a{sv}", timeout: "i"
    ) -> "u":
        arrived = time.monotonic()
        record(call="Asked")
        await obey("hang", "deaf", "late")
        if told() == "unwilling":
            raise REFUSED
        words = (app, title, body, actions)
        if told() == "too-soon" or (told() == "no-repeats" and words == self.words):
            self.words = None
            raise TOO_SOON
        self.words = words
        self.last = replaces or self.last + 1
        plain = {key: value.value if isinstance(value, Variant) else value for key, value in hints.items()}
        record(
            call="Notify", id=self.last, app=app, icon=icon, replaces=replaces, title=title, body=body,
            urgency=plain.get("urgency"), actions=actions, hints=plain, at=arrived,
        )  # fmt: skip
        if told() == "dropping":
            asyncio.get_running_loop().call_soon(self.NotificationClosed, self.last, 1)
        if told() == "eager":
            self.ActionInvoked(self.last, actions[-2])
        return self.last

    @dbus_method()
    def CloseNotification(self, number: "u"):
        record(call="Close", id=number)
        self.NotificationClosed(number, 3)

    @dbus_method()
    def Drop(self, number: "u", reason: "u"):
        self.NotificationClosed(number, reason)

    @dbus_method()
    def Reset(self):
        self.last, self.words = 0, None

    @dbus_method()
    def Press(self, number: "u", key: "s"):
        self.ActionInvoked(number, key)

    @dbus_property(access=PropertyAccess.READ)
    def Inhibited(self) -> "b":
        return told() == "inhibited"

    @dbus_signal()
    def NotificationClosed(self, number: "u", reason: "u") -> "uu":
        return [number, reason]

    @dbus_signal()
    def ActionInvoked(self, number: "u", key: "s") -> "us":
        return [number, key]


async def main() -> None:
    bus = await MessageBus().connect()
    bus.export("/org/freedesktop/Notifications", Server())
    await bus.request_name("org.freedesktop.Notifications")
    print("ready", flush=True)
    await bus.wait_for_disconnect()


asyncio.run(main())
