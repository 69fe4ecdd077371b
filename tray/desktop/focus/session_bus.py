"""Single calls on the session bus, and on the system's, from a thread that waits for the answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Sequence
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
    return run(_call((destination, path, interface, member, signature, list(body))))


def call_system(
    destination: str, path: str, interface: str, member: str, signature: str = "", body: Sequence[object] = ()
) -> list[object]:
    """The same on the system's bus."""
    return run(_call((destination, path, interface, member, signature, list(body)), is_system=True))


def first(values: Sequence[object], kind: type[T]) -> T:
    """The first value of a reply; BusCallError when it is of another kind."""
    try:
        return server.first(values, kind)
    except NotifierError as error:
        raise BusCallError(str(error)) from error


def owner_pid(name: str) -> int:
    """The process behind a name; 0 when there is none."""
    return run(_owner_pid(name))


def run(work: Coroutine[object, object, T]) -> T:
    """Returns what `work` returns. Raises BusCallError if a call fails or `work` takes longer than TIMEOUT."""
    try:
        return asyncio.run(asyncio.wait_for(work, TIMEOUT))
    except server.call_errors() as error:
        raise BusCallError(str(error) or "no answer") from error


@contextlib.asynccontextmanager
async def connected_bus(*, is_system: bool = False) -> AsyncIterator[MessageBus]:
    """A connection of its own to the session bus, or to the system's."""
    from dbus_fast import BusType
    from dbus_fast.aio import MessageBus

    bus = MessageBus(bus_type=BusType.SYSTEM if is_system else BusType.SESSION)
    try:
        yield wait_when_full(await bus.connect())
    finally:
        bus.disconnect()


async def _call(words: server.Call, *, is_system: bool = False) -> list[object]:
    async with connected_bus(is_system=is_system) as bus:
        return (await server.call(bus, words))[1]


async def _owner_pid(name: str) -> int:
    async with connected_bus() as bus:
        return await server.pid(bus, name)
