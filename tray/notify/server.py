"""Queries the notification server on D-Bus: which one it is, and what it can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from tray.dbus_socket import bus_errors
from tray.notify.notifier import NotifierError

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
PROPERTIES = "org.freedesktop.DBus.Properties"
BUS = "org.freedesktop.DBus"

Call = tuple[str, str, str, str, str, list[object]]  # destination, path, interface, member, signature, body

Value = TypeVar("Value")

DRAWS_DEFAULT = frozenset({"Xfce Notify Daemon"})  # these draw a button for a click on the alert itself, too
# It keeps this many notifications of one program, and an urgent one without an answer holds back all that follow.
GNOME, GNOME_LIMIT = "gnome-shell", 3
# Plasma's error for a notification that repeats its last one, buttons included, within a second; other servers' for
# too many in a short time.
TOO_SOON = "org.freedesktop.Notifications.Error.ExcessNotificationGeneration"


class TooSoonError(NotifierError):
    """The server refuses this alert for now."""


class NotificationServer(msgspec.Struct, frozen=True):
    owner: str  # its unique name on the bus; another one after a restart
    markup: bool
    actions: bool = False
    sounds: bool = False
    name: str = ""  # as it calls itself

    @property
    def draws_default(self) -> bool:
        return self.name in DRAWS_DEFAULT

    @property
    def limit(self) -> int | None:
        """How many notifications of ours it keeps; None = all."""
        return GNOME_LIMIT if self.name == GNOME else None

    @property
    def urgent_holds_back(self) -> bool:
        """Whether an urgent notification that is not a question delays the questions behind it."""
        return self.name == GNOME


async def query_server(bus: MessageBus, known: NotificationServer | None = None) -> NotificationServer:
    """The server on the bus, queried for its name only when it is another one; NotifierError when there is none."""
    sender, body = await call(bus, (NAME, PATH, NAME, "GetCapabilities", "", []))
    if known is not None and known.owner == sender:
        return known
    can = first(body, list)
    return NotificationServer(sender, "body-markup" in can, "actions" in can, "sound" in can, await _name(bus))


async def _name(bus: MessageBus) -> str:
    try:
        _, body = await call(bus, (NAME, PATH, NAME, "GetServerInformation", "", []))
    except NotifierError:
        return ""
    return str(body[0])


async def pid(bus: MessageBus, owner: str) -> int:
    """The process behind a unique name; 0 when the bus does not know."""
    try:
        _, body = await call(bus, (BUS, "/org/freedesktop/DBus", BUS, "GetConnectionUnixProcessID", "s", [owner]))
        return first(body, int)
    except NotifierError:
        return 0


async def probe_server() -> NotificationServer:
    """The same over a connection of its own."""
    from dbus_fast.aio import MessageBus

    bus = MessageBus()
    try:
        await bus.connect()
        return await query_server(bus)
    finally:
        bus.disconnect()


def call_errors() -> tuple[type[Exception], ...]:
    """What `call` raises, and a connection for it."""
    return (NotifierError, *bus_errors())


async def call(bus: MessageBus, request: Call) -> tuple[str, list[object]]:
    """The sender and the body of the reply; NotifierError (or TooSoonError) with the server's message."""
    from dbus_fast import Message, MessageFlag, MessageType

    destination, path, interface, member, signature, body = request
    message = Message(
        destination=destination, path=path, interface=interface, member=member, signature=signature, body=body
    )
    if destination not in (NAME, BUS):
        message.flags = MessageFlag.NO_AUTOSTART  # no service is started only for a query
    reply = await bus.call(message)
    if reply is None:
        raise NotifierError(f"no reply to {member}")
    if reply.message_type is MessageType.ERROR:
        refusal = TooSoonError if reply.error_name == TOO_SOON else NotifierError
        raise refusal(str(reply.body[0]) if reply.body else str(reply.error_name))
    return str(reply.sender), reply.body


def first(body: Sequence[object], kind: type[Value]) -> Value:
    """The first value of a reply; NotifierError when it is of another kind."""
    value = body[0] if body else None
    if not isinstance(value, kind):
        raise NotifierError(f"expected {kind.__name__}, got {str(value)[:80]!r}")
    return value
