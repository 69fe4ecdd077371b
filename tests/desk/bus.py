"""Plain questions to the desk's D-Bus session: names, tray items, and the menu that an item publishes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

DAEMON = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
WATCHER = ("org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher", "org.kde.StatusNotifierWatcher")
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"
TIMEOUT = 20.0  # seconds for a reply


class BusError(Exception):
    """A call was answered with an error, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrayItem:
    """A StatusNotifierItem as the watcher knows it."""

    bus: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuRow:
    """One row of a published menu; `checked` is None where there is nothing to check."""

    id: int
    label: str
    enabled: bool = True
    visible: bool = True
    separator: bool = False
    toggle: str = ""  # "checkmark" or "radio"
    checked: bool | None = None
    children: tuple[MenuRow, ...] = ()


class Bus:
    """One connection to the session bus, used synchronously."""

    def __init__(self, address: str) -> None:
        self._runner = asyncio.Runner()
        self._connection = self._runner.run(_connect(address))

    def close(self) -> None:
        self._runner.run(_disconnect(self._connection))
        self._runner.close()

    def call(
        self, destination: str, path: str, interface: str, member: str, signature: str = "", body: Sequence[Any] = ()
    ) -> list[Any]:
        """The reply's values."""
        message = Message(
            destination=destination,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
        )
        return self._runner.run(_reply(self._connection, message))

    def seconds_until(self, member: str, act: Callable[[], object], deadline: float = TIMEOUT) -> float:
        """Seconds from the call of `act` until any program sends this signal."""
        return self._runner.run(_seconds_until(self._connection, member, act, deadline))

    def has_name(self, name: str) -> bool:
        return bool(self.call(*DAEMON, "NameHasOwner", "s", [name])[0])

    def pid(self, name: str) -> int:
        """The process that owns a name; 0 when nobody does."""
        try:
            return int(self.call(*DAEMON, "GetConnectionUnixProcessID", "s", [name])[0])
        except BusError:
            return 0

    def property(self, item: TrayItem, name: str, interface: str = ITEM) -> Any:
        return plain(self.call(item.bus, item.path, PROPERTIES, "Get", "ss", [interface, name])[0])

    def items(self) -> list[TrayItem]:
        """What is registered with the watcher, in its order."""
        name, path, interface = WATCHER
        listed = self.call(name, path, PROPERTIES, "Get", "ss", [interface, "RegisteredStatusNotifierItems"])[0]
        return [_item(word) for word in plain(listed)]

    def rows(self, item: TrayItem) -> tuple[MenuRow, ...]:
        """The item's whole menu, as it publishes it now."""
        path = self.property(item, "Menu")
        _, root = self.call(item.bus, path, MENU, "GetLayout", "iias", [0, -1, []])
        return _row(plain(root)).children


def plain(value: Any) -> Any:
    """Variants taken off, all the way down."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _item(word: str) -> TrayItem:
    bus, slash, path = word.partition("/")
    bus = bus.removesuffix("@")  # GNOME's extension sets it between the two
    return TrayItem(bus=bus, path=slash + path if slash else "/StatusNotifierItem")


def _row(node: list[Any]) -> MenuRow:
    number, shown, children = node
    toggle = shown.get("toggle-type", "")
    return MenuRow(
        id=number,
        label=_without_mnemonic(shown.get("label", "")),
        enabled=shown.get("enabled", True),
        visible=shown.get("visible", True),
        separator=shown.get("type") == "separator",
        toggle=toggle,
        checked=shown.get("toggle-state") == 1 if toggle else None,
        children=tuple(_row(child) for child in children),
    )


def _without_mnemonic(label: str) -> str:
    """As it is shown: one underscore marks the access key, two are an underscore."""
    return "_".join(part.replace("_", "") for part in label.split("__"))


async def _connect(address: str) -> MessageBus:
    return await MessageBus(bus_address=address).connect()


async def _disconnect(connection: MessageBus) -> None:
    connection.disconnect()
    await connection.wait_for_disconnect()  # type: ignore[no-untyped-call]


async def _seconds_until(connection: MessageBus, member: str, act: Callable[[], object], deadline: float) -> float:
    sent, (daemon, path, interface) = asyncio.Event(), DAEMON
    rule = [f"type='signal',member='{member}'"]

    def on_message(message: Message) -> bool:
        if message.message_type is MessageType.SIGNAL and message.member == member:
            sent.set()
        return False

    def match(method: str) -> Message:
        return Message(
            destination=daemon, path=path, interface=interface, member=method, signature="s", body=list(rule)
        )

    connection.add_message_handler(on_message)
    await _reply(connection, match("AddMatch"))
    try:
        started = time.perf_counter()
        act()
        await asyncio.wait_for(sent.wait(), deadline)
        return time.perf_counter() - started
    finally:
        connection.remove_message_handler(on_message)
        await _reply(connection, match("RemoveMatch"))


async def _reply(connection: MessageBus, message: Message) -> list[Any]:
    try:
        reply = await asyncio.wait_for(connection.call(message), TIMEOUT)
    except TimeoutError as error:
        raise BusError(f"{message.destination} did not answer {message.member} in {TIMEOUT:g} s") from error
    if reply.message_type is MessageType.ERROR:
        raise BusError(f"{message.destination} {message.member}: {reply.error_name} {reply.body}")
    return list(reply.body)
