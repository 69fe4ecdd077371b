"""The icon as a StatusNotifierItem with a dbusmenu, spoken on the session bus without any toolkit.

Hosts come and go, and registration.py registers the item with each. The menu's rows keep their numbers, so an open
menu is updated in place and stays open. When the bus itself dies, the next `show` looks for a new one at the same
address.

Any program on the session bus can call Event, so a click counts only when it comes from the process of a tray host
(registration.py). dbus-fast does not give a method the sender of the call, so SniIcon takes the messages before
dbus-fast passes them to the menu's methods.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Sequence
from functools import partial
from typing import Protocol

from dbus_fast import ErrorType, Message, MessageFlag, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.errors import AuthError, DBusError, InvalidAddressError

from tray.dbus_socket import wait_when_full
from tray.desktop.artwork import IconState
from tray.desktop.dbusmenu import ROOT, Menu
from tray.desktop.mainloop import MainLoop
from tray.desktop.menu.actions import Action, IconClicks, OpenPage
from tray.desktop.menu.items import Item
from tray.desktop.registration import Registration, hosts, process
from tray.desktop.statusitem import MENU_PATH, StatusItem

ITEM_PATH = "/StatusNotifierItem"
START_TIMEOUT = 10.0  # seconds for getting onto the bus, and off it
REPEAT_SECONDS = 1.0  # GNOME's extension drops a new picture while it still loads the one before
RETRY_SECONDS = 10.0  # seconds from one attempt to get back onto the bus to the next
BUS_ERRORS = (AuthError, DBusError, EOFError, InvalidAddressError, OSError, TimeoutError)
# Calls for a press on the icon, with whatever button: it opens the page, which loosens no gate. Hosts that honour
# ItemIsMenu open the menu with the left button instead of calling.
PRESSES = ("Activate", "SecondaryActivate", "XAyatanaSecondaryActivate")
Click = tuple[int, str]  # a row's number and what happened to it

log = logging.getLogger(__name__)


class HostObserver(Protocol):
    """What SniIcon calls on the main thread when a tray host has come or gone."""

    def host_changed(self) -> None: ...


class SniIcon:
    """The icon. Its D-Bus side lives on the given loop.

    Clicks that count are handed to `clicks` on the main thread, and those that do not, on the loop.
    """

    name = "sni"

    def __init__(self, loop: asyncio.AbstractEventLoop, address: str, clicks: IconClicks) -> None:
        self.reason = ""
        self.rejected = 0  # clicks that did not come from a tray host
        self.host_observer: HostObserver | None = None
        self._loop, self._address, self._clicks = loop, address, clicks
        self.main = MainLoop()
        self._item = StatusItem()
        self._menu = Menu(self.main, clicks)
        self._bus: MessageBus | None = None
        self._registration: Registration | None = None
        self._present = False  # what host_observer was last called for
        self._shown = False  # there is something to show; a host never sees the menu empty
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._lost = False  # the bus died under us
        self._reconnecting: asyncio.Task[None] | None = None
        self._next = 0.0  # when, on the loop's clock, the next attempt to return may begin
        self._is_reported = False  # that the bus does not come back
        self._repeating: asyncio.TimerHandle | None = None

    @property
    def present(self) -> bool:
        """Whether a tray host is there."""
        return self._present

    @property
    def visible(self) -> bool:
        """Whether a host has the icon now."""
        registration = self._registration
        return self._present and self._shown and registration is not None and registration.listed

    def start(self) -> bool:
        """Get onto the bus; whether a host is there already. Raises one of BUS_ERRORS."""
        present = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(START_TIMEOUT)
        self.reason = "" if present else "no tray host yet: the icon appears when one starts"
        return present

    def run(self) -> None:
        self.main.run()

    def show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the icon with it
            self._loop.call_soon_threadsafe(self._show, state, tooltip, items)

    def stop(self) -> None:
        """Leave the bus, then let `run` return."""
        if not self._loop.is_closed():
            leaving = asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
            if not _is_running_in(self._loop):
                leaving.result(START_TIMEOUT)
        self.main.stop()

    async def _start(self) -> bool:
        """Put the icon onto a new connection; whether a host is there."""
        connecting = MessageBus(bus_address=self._address, auth_timeout=START_TIMEOUT).connect()
        bus = self._bus = wait_when_full(await connecting)
        self._watching = self._loop.create_task(self._watch(bus))
        try:
            bus.export(ITEM_PATH, self._item)
            bus.export(MENU_PATH, self._menu)
            registration = self._registration = Registration(bus, self._item, self)
            bus.add_message_handler(self._on_message)
            await registration.start()
            if self._shown:
                registration.want()
            return self._present
        except BaseException:
            if self._bus is bus:
                self._bus = None
                bus.disconnect()
            raise

    def registration_changed(self, registration: Registration) -> None:
        """Called on the loop when a registration has asked the watcher."""
        if registration is self._registration:
            self._set_present(registration.watcher and registration.host)

    def _set_present(self, present: bool) -> None:
        """Remember whether a host is there, and call `host_observer` when that is new."""
        if present is not self._present:
            self._present = present
            self.main.post(self._tell_observer)

    def _tell_observer(self) -> None:
        if self.host_observer is not None:  # it is set once `start` has returned
            self.host_observer.host_changed()

    async def _stop(self) -> None:
        bus, self._bus, self._lost = self._bus, None, False
        if self._repeating is not None:
            self._repeating.cancel()
        await self._unregister()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if bus is not None:
            bus.disconnect()
        if self._watching is not None:
            await self._watching

    async def _watch(self, bus: MessageBus) -> None:
        """Log it once when the bus is gone: the icon has vanished, the tray goes on."""
        cause = "closed"
        try:
            await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
        except BUS_ERRORS as error:
            cause = str(error) or type(error).__name__
        if self._bus is bus:
            self._bus, self._lost, self._is_reported = None, True, False
            await self._unregister()
            log.warning("the D-Bus session is gone, and the icon with it: %s", cause)

    async def _reconnect(self) -> None:
        try:
            await self._start()
            self._lost = False
            log.info("the D-Bus session is back, and the icon with it")
        except BUS_ERRORS as error:
            if not self._is_reported:
                log.warning(
                    "%s: %s; when the session is at another address, start Hooktray again", self._address, error
                )
            self._is_reported = True
        finally:
            self._reconnecting = None

    async def _unregister(self) -> None:
        registration, self._registration = self._registration, None
        self._set_present(False)
        if registration is not None:
            await registration.close()

    def _show(self, state: IconState, tooltip: str, items: tuple[Item, ...]) -> None:
        change = self._menu.table.update(items)
        if state is not self._item.state:
            if self._repeating is not None:
                self._repeating.cancel()
            self._repeating = self._loop.call_later(REPEAT_SECONDS, self._item.repeat)
        self._item.update(state, tooltip)
        self._menu.publish(change)
        if self._bus is None:
            # Only when there is something to show, so that nothing has to wake up by itself.
            if self._lost and self._reconnecting is None and self._loop.time() >= self._next:
                self._next = self._loop.time() + RETRY_SECONDS
                self._reconnecting = self._spawn(self._reconnect())
        elif not self._shown and self._registration is not None:
            self._registration.want()
        self._shown = True

    def _on_message(self, message: Message) -> bool:
        """Every message on its way in; true when it goes no further."""
        bus, registration = self._bus, self._registration
        if bus is None:
            return False
        if message.message_type is MessageType.SIGNAL:
            if registration is not None:
                self._spawn(registration.on_signal(message))
            return False
        if message.message_type is not MessageType.METHOD_CALL:
            return False
        if message.path == ITEM_PATH and message.member in PRESSES:
            self._spawn(self._press(bus, message))
            return True
        # By member and not by interface: a call may leave the interface out.
        clicks = parse_clicks(message) if message.path == MENU_PATH else None
        if clicks is None:
            return False
        self._spawn(self._handle_clicks(bus, message, clicks))
        return True

    async def _handle_clicks(self, bus: MessageBus, message: Message, events: list[Click]) -> None:
        """Do what was clicked, if a host sent it, and answer."""
        clicked = [number for number, kind in events if kind == "clicked"]
        unknown = [number for number, _ in events if number not in self._menu.table.rows]
        if clicked and not await self._is_from_host(bus, message, self._actions(clicked)):
            return
        for action in self._actions(clicked):
            self._do(action)
        if any(number == ROOT and kind == "opened" for number, kind in events):
            self._menu.opened()
        group = message.member == "EventGroup"
        self._reply(
            bus, message, Message.new_method_return(message, "ai" if group else "", [unknown] if group else [])
        )

    async def _press(self, bus: MessageBus, message: Message) -> None:
        """A press on the icon itself counts like a click on a row: only from a host."""
        if await self._is_from_host(bus, message, (OpenPage(),)):
            self._do(OpenPage())
            self._reply(bus, message, Message.new_method_return(message))

    def _actions(self, numbers: Iterable[int]) -> tuple[Action, ...]:
        rows = (self._menu.table.rows.get(number) for number in numbers)
        return tuple(row.action for row in rows if row is not None and row.action is not None)

    def _do(self, action: Action) -> None:
        self.main.post(partial(self._clicks.act, action))

    async def _is_from_host(self, bus: MessageBus, message: Message, actions: Sequence[Action]) -> bool:
        """True if a trusted tray host sent this; any other sender gets an error."""
        pid = await process(bus, message.sender or "")
        known = bool(pid) and pid in await hosts(bus)
        if known and self._clicks.is_trusted_host(pid):
            return True
        self.rejected += 1
        why = "which calls itself a tray host and is not trusted" if known else "which is not a tray host"
        log.warning("refused a click on the menu from process %d, %s", pid, why)
        self._clicks.menu_rejected(pid, known, actions)
        self._reply(bus, message, Message.new_error(message, ErrorType.ACCESS_DENIED.value, "not a tray host"))
        return False

    def _reply(self, bus: MessageBus, message: Message, reply: Message) -> None:
        if MessageFlag.NO_REPLY_EXPECTED not in message.flags and bus.connected:
            bus.send(reply)

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _is_running_in(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def parse_clicks(message: Message) -> list[Click] | None:
    """The clicks in a call; None when it is another call, which the menu's own methods answer."""
    if message.member == "Event" and message.signature == "isvu":
        return [(message.body[0], message.body[1])]
    if message.member == "EventGroup" and message.signature == "a(isvu)":
        return [(event[0], event[1]) for event in message.body[0]]
    return None
