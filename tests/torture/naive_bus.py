"""A tray as careless ones are, on the bus: `naive_bus.py ADDRESS FOLDER NAME…`. Whoever says `clicked` has clicked.

It looks at names alone: a call that is spelled right counts, and so does a signal with the right interface, whoever
sent it. Called by a NAME with `host` in it, it wants a sender with a tray host's name, which anybody may have. What
it granted is a file in FOLDER: the name that was called, and how.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

BUS = "org.freedesktop.DBus"
HOSTS = ("org.kde.StatusNotifierHost-", "org.kde.StatusNotifierWatcher")
CLICKS = ("Event", "EventGroup", "SecondaryActivate")


async def main(address: str, folder: Path, *names: str) -> None:
    bus = await MessageBus(bus_address=address).connect()

    async def take(message: Message) -> None:
        name = message.destination or ""
        if "host" not in name or await _is_host(bus, message.sender or ""):
            (folder / f"{name}-{message.member}").touch()
        bus.send(Message.new_method_return(message))

    def hear(message: Message) -> bool:
        if message.message_type is MessageType.SIGNAL and message.member == "ActionInvoked":
            (folder / "ActionInvoked").touch()
        if message.message_type is MessageType.METHOD_CALL and message.member in CLICKS:
            tasks.add(asyncio.get_running_loop().create_task(take(message)))
            return True
        return False

    tasks: set[asyncio.Task[None]] = set()
    bus.add_message_handler(hear)
    await _ask(bus, "AddMatch", "type='signal',interface='org.freedesktop.Notifications'")
    for name in names:
        await bus.request_name(name)
    print("ready", flush=True)
    await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]


async def _is_host(bus: MessageBus, sender: str) -> bool:
    names = (await bus.call(Message(destination=BUS, path="/", interface=BUS, member="ListNames"))).body[0]
    hosts = [name for name in names if name.startswith(HOSTS)]
    return sender in [await _ask(bus, "GetNameOwner", name) for name in hosts]


async def _ask(bus: MessageBus, member: str, word: str) -> object:
    reply = await bus.call(
        Message(destination=BUS, path="/", interface=BUS, member=member, signature="s", body=[word])
    )
    return reply.body[0] if reply.body else None


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]))
