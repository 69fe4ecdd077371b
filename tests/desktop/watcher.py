"""A small real StatusNotifierWatcher and host, so that the icon can be tested without a panel."""

import asyncio
import contextlib
import sys
from typing import Annotated, Any

import pytest

if sys.platform != "linux":
    pytest.skip("D-Bus", allow_module_level=True)

from dbus_fast import Message, MessageType, PropertyAccess, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.annotations import DBusBool, DBusInt32, DBusSignature, DBusStr
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

WATCHER = "org.kde.StatusNotifierWatcher"
MENU, MENU_PATH = "com.canonical.dbusmenu", "/MenuBar"


class WatcherInterface(ServiceInterface):
    """The watcher's interface."""

    def __init__(self, registered: list[str]) -> None:
        super().__init__(WATCHER)
        self._registered = registered
        self.lost: set[str] = set()  # what it has registered and shows no longer
        self.has_host = True
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    @dbus_method()
    async def RegisterStatusNotifierItem(self, service: DBusStr) -> None:  # noqa: N802
        self._registered.append(service)
        self.lost.discard(service)
        await self.may_answer.wait()

    @dbus_method()
    def RegisterStatusNotifierHost(self, service: DBusStr) -> None:  # noqa: N802
        """This watcher is its only host."""

    @dbus_property(PropertyAccess.READ)
    def RegisteredStatusNotifierItems(self) -> Annotated[list[str], DBusSignature("as")]:  # noqa: N802
        return [f"{one}/StatusNotifierItem" for one in self._registered if one not in self.lost]

    @dbus_property(PropertyAccess.READ)
    def IsStatusNotifierHostRegistered(self) -> DBusBool:  # noqa: N802
        return self.has_host

    @dbus_signal()
    def StatusNotifierItemUnregistered(self, service: str) -> DBusStr:  # noqa: N802
        return service

    @dbus_signal()
    def StatusNotifierHostRegistered(self) -> None:  # noqa: N802
        """There is a host."""

    @dbus_signal()
    def StatusNotifierHostUnregistered(self) -> None:  # noqa: N802
        """There is none any more."""

    @dbus_property(PropertyAccess.READ)
    def ProtocolVersion(self) -> DBusInt32:  # noqa: N802
        return 0


class Watcher:
    """Owns the watcher's name; reads menus, clicks, and remembers every signal of items."""

    def __init__(self, bus: MessageBus) -> None:
        self.bus = bus
        self.registered: list[str] = []
        self.interface = WatcherInterface(self.registered)
        self.signals: list[tuple[str, Any]] = []

    @classmethod
    async def start(cls, address: str, *names: str) -> "Watcher":
        bus = await MessageBus(bus_address=address).connect()
        watcher = cls(bus)
        bus.export("/StatusNotifierWatcher", watcher.interface)
        bus.add_message_handler(watcher._hear)
        for interface in (MENU, "org.kde.StatusNotifierItem"):
            rule = f"type='signal',interface='{interface}'"
            await watcher.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s", rule
            )
        for name in names or (WATCHER,):
            await bus.request_name(name)
        return watcher

    async def lose(self, item: str) -> None:
        """As a host does that could not read an item."""
        self.interface.lost.add(item)
        self.interface.StatusNotifierItemUnregistered(f"{item}/StatusNotifierItem")

    async def set_answering(self, answering: bool) -> None:
        """Whether a registration is answered at once; those before are answered when this is set."""
        (self.interface.may_answer.set if answering else self.interface.may_answer.clear)()

    async def has_owner(self, name: str) -> bool:
        bus = "org.freedesktop.DBus"
        (owned,) = await self.call(bus, "/org/freedesktop/DBus", bus, "NameHasOwner", "s", name)
        return bool(owned)

    async def set_host(self, present: bool) -> None:
        """A watcher can be there without a host that draws anything."""
        self.interface.has_host = present
        signal = "StatusNotifierHostRegistered" if present else "StatusNotifierHostUnregistered"
        getattr(self.interface, signal)()

    async def stop(self) -> None:
        self.bus.disconnect()
        with contextlib.suppress(EOFError, OSError):
            await self.bus.wait_for_disconnect()  # type: ignore[no-untyped-call]

    async def rename(self, old: str, new: str) -> None:
        await self.bus.release_name(old)
        if new:
            await self.bus.request_name(new)

    async def call(
        self, name: str, path: str, interface: str, member: str, signature: str = "", *body: Any
    ) -> list[Any]:
        reply = await self._ask(name, path, interface, member, signature, *body)
        assert reply.message_type is not MessageType.ERROR, (member, reply.error_name, reply.body)
        return [plain(value) for value in reply.body]

    async def properties(self, name: str, path: str, interface: str) -> dict[str, Any]:
        (shown,) = await self.call(name, path, "org.freedesktop.DBus.Properties", "GetAll", "s", interface)
        return dict(shown)

    async def rows(self, name: str) -> list[Any]:
        """The first level: number, properties and children of each row."""
        _, root = await self.call(name, MENU_PATH, MENU, "GetLayout", "iias", 0, -1, [])
        return list(root[2])

    async def level(self, name: str, number: int) -> list[int]:
        """The numbers of the rows below this one, read as Plasma does: one level at a time."""
        _, row = await self.call(name, MENU_PATH, MENU, "GetLayout", "iias", number, 1, [])
        return [child[0] for child in row[2]]

    async def click(self, name: str, number: int) -> str:
        """The error's name, "" when it was taken."""
        return await self.event(name, number, "clicked")

    async def event(self, name: str, number: int, kind: str) -> str:
        body = (number, kind, Variant("i", 0), 0)
        reply = await self._ask(name, MENU_PATH, MENU, "Event", "isvu", *body)
        return reply.error_name or ""

    async def click_all(self, name: str, numbers: list[int]) -> list[int]:
        events = [[number, "clicked", Variant("i", 0), 0] for number in numbers]
        (unknown,) = await self.call(name, MENU_PATH, MENU, "EventGroup", "a(isvu)", events)
        return list(unknown)

    async def about_to_show(self, name: str) -> None:
        await self.call(name, MENU_PATH, MENU, "AboutToShow", "i", 0)

    async def _ask(self, name: str, path: str, interface: str, member: str, signature: str, *body: Any) -> Message:
        message = Message(
            destination=name, path=path, interface=interface, member=member, signature=signature, body=list(body)
        )
        async with asyncio.timeout(60):
            return await self.bus.call(message)

    def _hear(self, message: Message) -> None:
        if message.message_type is MessageType.SIGNAL and message.sender != "org.freedesktop.DBus":
            self.signals.append((message.member or "", plain(message.body)))


def plain(value: Any) -> Any:
    """Variants taken off, all the way down."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
