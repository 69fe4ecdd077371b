"""Asks the notification server on D-Bus who it is at this moment, and whether it reads markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tray.alerts.notifier import NotifierError

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"


@dataclass(frozen=True, slots=True)
class Server:
    owner: str  # its unique name on the bus; another one after a restart
    markup: bool


async def survey(bus: MessageBus) -> Server:
    """The server behind the bus; NotifierError when there is none."""
    from dbus_fast import Message, MessageType

    reply = await bus.call(Message(destination=NAME, path=PATH, interface=NAME, member="GetCapabilities"))
    if reply.message_type is MessageType.ERROR:
        raise NotifierError(_error(reply.body, reply.error_name))
    return Server(str(reply.sender), "body-markup" in reply.body[0])


async def glance() -> Server:
    """The same over a connection of its own."""
    from dbus_fast.aio import MessageBus

    bus = MessageBus()
    try:
        await bus.connect()
        return await survey(bus)
    finally:
        bus.disconnect()


def _error(body: list[object], name: str | None) -> str:
    return str(body[0]) if body else str(name)
