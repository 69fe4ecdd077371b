"""Single calls on the session bus, and on the system's, from a thread that waits for the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from tray.dbus_socket import wait_when_full
from tray.desktop.focus.windows_of import TIMEOUT
from tray.notify import server
from tray.notify.notifier import NotifierError

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus

T = TypeVar("T")


class BusCallError(Exception):
    """The bus or the service did not do it, and why."""


def call(
    destination: str, path: str, interface: str, member: str, signature: str = "", body: Sequence[object] = ()
) -> list[object]:
    """The reply's values; no service is started for it."""

    async def ask(bus: MessageBus) -> list[object]:
        return (await server.call(bus, (destination, path, interface, member, signature, list(body))))[1]

    return with_bus(ask)


def call_system(
    destination: str, path: str, interface: str, member: str, signature: str = "", body: Sequence[object] = ()
) -> list[object]:
    """The same on the system's bus."""

    async def ask(bus: MessageBus) -> list[object]:
        return (await server.call(bus, (destination, path, interface, member, signature, list(body))))[1]

    return with_bus(ask, is_system=True)


def first(values: Sequence[object], kind: type[T]) -> T:
    """The first value of a reply; BusCallError when it is of another kind."""
    try:
        return server.first(values, kind)
    except NotifierError as error:
        raise BusCallError(str(error)) from error


def owner_pid(name: str) -> int:
    """The process behind a name; 0 when there is none."""
    return with_bus(lambda bus: server.pid(bus, name))


def with_bus(work: Callable[[MessageBus], Awaitable[T]], *, is_system: bool = False) -> T:
    """What `work` returns, on a connection of its own."""
    try:
        return asyncio.run(asyncio.wait_for(_connected(work, is_system), TIMEOUT))
    except server.call_errors() as error:
        raise BusCallError(str(error) or "no answer") from error


async def _connected(work: Callable[[MessageBus], Awaitable[T]], is_system: bool) -> T:
    from dbus_fast import BusType
    from dbus_fast.aio import MessageBus

    bus = MessageBus(bus_type=BusType.SYSTEM if is_system else BusType.SESSION)
    try:
        wait_when_full(await bus.connect())
        return await work(bus)
    finally:
        bus.disconnect()
