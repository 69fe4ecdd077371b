"""Which processes on the session bus are tray hosts: only their clicks count.

A host is a process that owns the watcher's name, or a name that begins with org.kde.StatusNotifierHost-. Hosts are
compared by process and not by connection, because some keep several connections (measured: xfce4-panel runs its tray
in a process of its own, which owns the watcher's name and no host name at all).

The bus gives a host's name to any process of the user that asks for it. So the icon makes a second check, `trusts`,
which knows where a process comes from.
"""

from __future__ import annotations

import asyncio

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusError

BUS, BUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"
WATCHER = "org.kde.StatusNotifierWatcher"
HOST_PREFIX = "org.kde.StatusNotifierHost-"
CALL_TIMEOUT = 5.0  # seconds for one answer of the bus


async def ask(bus: MessageBus, member: str, signature: str = "", *body: object) -> object:
    """Call a method of the bus itself; returns its first value."""
    return await call(bus, BUS, BUS_PATH, BUS, member, signature, *body)


async def call(
    bus: MessageBus, name: str, path: str, interface: str, member: str, signature: str = "", *body: object
) -> object:
    """The first value of the answer, or None; raises on an error, and without an answer."""
    message = Message(
        destination=name, path=path, interface=interface, member=member, signature=signature, body=list(body)
    )
    async with asyncio.timeout(CALL_TIMEOUT):
        reply = await bus.call(message)
    if reply is None:
        return None
    if reply.message_type is MessageType.ERROR:
        raise DBusError(reply.error_name or "", str(reply.body[0]) if reply.body else member, reply)
    return reply.body[0] if reply.body else None


async def process(bus: MessageBus, name: str) -> int:
    """The process behind a name as the bus saw it connect; 0 when there is none."""
    try:
        found = await ask(bus, "GetConnectionUnixProcessID", "s", name)
    except DBusError:
        return 0
    return found if isinstance(found, int) else 0


async def hosts(bus: MessageBus) -> set[int]:
    """The processes of all tray hosts that are there now."""
    listed = await ask(bus, "ListNames")
    names = [str(name) for name in listed] if isinstance(listed, list) else []
    hosting = [name for name in names if name == WATCHER or name.startswith(HOST_PREFIX)]
    return {await process(bus, name) for name in hosting} - {0}
