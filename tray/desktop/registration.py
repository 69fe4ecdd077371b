"""Keeps the icon registered with the tray host of the session bus, and knows whether a host shows it.

The item registers under the unique name of its connection. For a well-known name GNOME's extension starts a watcher
of names, which can take the icon away while the extension still reads it (measured: 5 of 21 starts). A host may also
miss what the item signals while it reads the item for the first time, so the item repeats that afterwards. Xfce's
panel keeps the icon of a program that leaves the bus before the panel has answered its registration, until the panel
ends (its source, 4.18); so closing waits for that answer.

A tray host is a process that owns the watcher's name, or a name that begins with org.kde.StatusNotifierHost-. Hosts
are compared by process and not by connection, because some keep several connections (measured: xfce4-panel runs its
tray in a process of its own, which owns the watcher's name and no host name at all). The bus gives a host's name to
any process of the user that asks for it. So the icon makes a second check, `is_trusted_host`, which judges a
process by its origin.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from typing import Protocol

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusError

from tray.desktop.statusitem import StatusItem

BUS, BUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"
WATCHER, WATCHER_PATH = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"
HOST_PREFIX = "org.kde.StatusNotifierHost-"
CALL_TIMEOUT = 5.0  # seconds for one answer of the bus
PROPERTIES = "org.freedesktop.DBus.Properties"
REPEATS = (1.0, 2.0)  # seconds: the item repeats its state 1 s and 3 s after each registration
PAUSES = (1.0, 5.0, 30.0, 60.0)  # seconds before a lost icon is registered again; the last one for good
ANSWER_SECONDS = 2.0  # that closing waits for the answer to a registration
LOST = (DBusError, EOFError, OSError, TimeoutError)

log = logging.getLogger(__name__)


class RegisteredIcon(Protocol):
    """The icon of a Registration, which calls it when `watcher`, `host` or `listed` may have changed."""

    def registration_changed(self, registration: Registration) -> None: ...


class Registration:
    """The registration of an item on one connection."""

    def __init__(self, bus: MessageBus, item: StatusItem, icon: RegisteredIcon) -> None:
        self.watcher = False  # a program owns the watcher's name
        self.host = False  # the watcher has a host that draws icons
        self.listed = False  # the watcher lists our icon
        self._bus, self._item, self._icon = bus, item, icon
        self._wanted = False
        self._owner = 0  # counts the owners that the watcher's name has had
        self._news = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._registering: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Follow the watcher.

        The bus handles our calls in their order, and waits for none of our answers: the matches come before the
        query, so that no signal is missed that arrives in between.
        """
        owner = f"type='signal',sender='{BUS}',interface='{BUS}',member='NameOwnerChanged',arg0='{WATCHER}'"
        rules = (owner, f"type='signal',interface='{WATCHER}',path='{WATCHER_PATH}'")
        *_, present = await asyncio.gather(
            *(ask(self._bus, "AddMatch", "s", rule) for rule in rules),
            ask(self._bus, "NameHasOwner", "s", WATCHER),
        )
        await self._set_watcher(bool(present))

    def want(self) -> None:
        """There is something to show: a host never sees the menu empty."""
        self._wanted = True
        self._restart()

    async def close(self) -> None:
        self._wanted = False
        self._stop()
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._registering is not None and self._bus.connected:
            await asyncio.wait([self._registering], timeout=ANSWER_SECONDS)
            self._registering.cancel()

    async def on_signal(self, message: Message) -> None:
        """What the watcher signals is only a reason to look: anybody can send it."""
        if message.member == "NameOwnerChanged" and message.sender == BUS and message.body[0] == WATCHER:
            await self._set_watcher(bool(message.body[2]))
        elif message.interface == WATCHER:
            await self._look()
            self._news.set()

    async def _set_watcher(self, present: bool) -> None:
        """Another watcher knows nothing of us."""
        self._owner += 1
        self.watcher, self.host, self.listed = present, False, False
        self._restart()
        await self._look()

    def _restart(self) -> None:
        """At once, so that two causes at the same moment register once."""
        self._stop()
        if self.watcher and self._wanted:
            self._keeping = asyncio.get_running_loop().create_task(self._keep())

    def _stop(self) -> None:
        keeping, self._keeping = self._keeping, None
        if keeping is not None:
            self._ending.add(keeping)
            keeping.add_done_callback(self._ending.discard)
            keeping.cancel()

    async def _keep(self) -> None:
        """Register, and again when the host has lost the icon."""
        for pause in itertools.chain(PAUSES, itertools.repeat(PAUSES[-1])):
            self._registering = asyncio.get_running_loop().create_task(self._register())
            await asyncio.shield(self._registering)
            await self._look()
            for seconds in REPEATS:
                await asyncio.sleep(seconds)
                if self._bus.connected:
                    self._item.repeat()
                await self._look()
            while self.listed:
                self._news.clear()
                await self._news.wait()
            log.info("the tray host has no icon of ours; registering again in %g s", pause)
            await asyncio.sleep(pause)

    async def _register(self) -> None:
        try:
            unique = self._bus.unique_name
            await call(self._bus, WATCHER, WATCHER_PATH, WATCHER, "RegisterStatusNotifierItem", "s", unique)
        except LOST as error:
            log.warning("the tray host did not take the icon: %s", error)

    async def _look(self) -> None:
        """Ask the watcher for its host and its list; one that does not answer that is taken to have both."""
        owner = self._owner
        if self.watcher and self._bus.connected:
            host, items = await asyncio.gather(
                self._property("IsStatusNotifierHostRegistered"), self._property("RegisteredStatusNotifierItems")
            )
            if owner != self._owner:  # meanwhile another watcher came, or none is left
                return
            ours = re.compile(rf"{re.escape(str(self._bus.unique_name))}(?!\d)")
            self.host = host is not False
            self.listed = not isinstance(items, list) or any(map(ours.match, items))
        self._icon.registration_changed(self)

    async def _property(self, name: str) -> object:
        try:
            found = await call(self._bus, WATCHER, WATCHER_PATH, PROPERTIES, "Get", "ss", WATCHER, name)
        except LOST:
            return None
        return getattr(found, "value", found)


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
