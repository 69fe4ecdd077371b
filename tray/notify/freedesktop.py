"""The first back end on Linux: the notification server on D-Bus, with buttons that only it can press.

An alert replaces the earlier one with its key in place. A button counts only when it comes from the server that has
the name at that moment, for a number that it gave to us, and once (R9): anybody on the bus can send a signal.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tray.dbus_socket import bus_errors, wait_when_full
from tray.notify.alert import ALARM, APP, CHOICES, GRANTS, Alert, Button, Urgency
from tray.notify.do_not_disturb import SERVER_TIMEOUT, may_interrupt
from tray.notify.notifier import AlertButtons, NotifierError, ServerState
from tray.notify.server import BUS, NAME, PATH, NotificationServer, TooSoonError, call, first, pid, query_server
from tray.recent import Recent
from tray.text import escape_markup

if TYPE_CHECKING:
    from dbus_fast import Message, Variant
    from dbus_fast.aio import MessageBus

EARLY_SIGNALS = 16  # signals that may come before the reply with their number
ANSWERS = frozenset({Button.ALLOW, Button.DENY, *CHOICES})
KEY_LIMIT = 512  # of alerts on the screen that can still be replaced and pressed
TOO_SOON_TRIES, TOO_SOON_PAUSE = 3, 1.1  # how often an alert is sent that is refused so, and the seconds between
TIMES_LIMIT = 100  # how often a question that the server drops is shown
PUSHED_AWAY = frozenset({1, 4})  # reasons of NotificationClosed that are neither the user's doing nor ours
ALARM_ICON = "dialog-error"  # of the desktop's own set: what may have taken guards away looks as grave as it is
ICON = Path(__file__).with_name("icon.png")
MATCHES = (
    f"type='signal',sender='{NAME}',interface='{NAME}',path='{PATH}'",
    f"type='signal',sender='{BUS}',interface='{BUS}',member='NameOwnerChanged',arg0='{NAME}'",
)

log = logging.getLogger(__name__)


class ShownNotification(msgspec.Struct):
    """An alert on the screen, and which of its buttons have been pressed."""

    alert: Alert
    number: int = 0  # the server's; 0 until it has answered
    pressed: set[Button] = set()
    times: int = 1  # how often it was put onto the screen


class FreedesktopBackend:
    """Keeps one connection."""

    name = "D-Bus"

    def __init__(self, buttons: AlertButtons | None = None) -> None:
        """Without `buttons` it shows none."""
        self._buttons = buttons
        self._bus: MessageBus | None = None
        self._connecting = asyncio.Lock()
        self._server: NotificationServer | None = None  # the last one; a new one knows nothing of our earlier alerts
        self._shown: Recent[str, ShownNotification] = Recent(KEY_LIMIT)
        self._pushed_away: dict[str, ShownNotification] = {}  # open questions that the server dropped, oldest first
        self._refused: dict[str, Alert] = {}  # what the server refused as too soon, and what is to be sent again
        self._early: deque[Message] = deque(maxlen=EARLY_SIGNALS)  # signals about a number that we may not know yet
        self._tasks: set[asyncio.Task[object]] = set()

    async def send(self, alert: Alert) -> None:
        """A caller that gives up waiting cancels nothing: signals about an alert that is shown later still count."""
        bus, server = await self._ready()
        self._pushed_away.pop(alert.key, None)
        await asyncio.shield(self._track(self._show_in_time(bus, server, alert, TOO_SOON_TRIES)))

    async def withdraw(self, key: str) -> None:
        self._pushed_away.pop(key, None)
        self._refused.pop(key, None)
        shown = self._shown.pop(key, None)
        if shown is not None and shown.number and self._bus is not None:
            await self._close_notification(self._bus, shown.number)
        self._show_again()

    async def server_state(self) -> ServerState:
        async with asyncio.timeout(SERVER_TIMEOUT):
            bus, server = await self._ready()
        return ServerState(may_interrupt=await may_interrupt(bus, server), sounds=server.sounds)

    async def close(self) -> None:
        bus, self._bus = self._bus, None
        self._server = None
        self._shown.clear()
        self._pushed_away.clear()
        self._refused.clear()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if bus is not None:
            bus.disconnect()

    async def _ready(self) -> tuple[MessageBus, NotificationServer]:
        async with self._connecting:  # an alert and its sound ask at the same moment
            if self._bus is None or not self._bus.connected:
                try:
                    self._bus = await self._connect()
                except bus_errors() as error:
                    raise NotifierError(f"no session bus: {error}") from error
            bus = self._bus
        server = await query_server(bus, self._server)
        if server.owner != self._owner:
            for shown in self._shown.values():
                self._remember_question(shown)
            self._shown.clear()
            self._server = server
            self._show_again()
        return bus, server

    @property
    def _owner(self) -> str:
        """Of the server's name."""
        return self._server.owner if self._server else ""

    async def _connect(self) -> MessageBus:
        from dbus_fast.aio import MessageBus

        bus = MessageBus()
        try:
            wait_when_full(await bus.connect())
            bus.add_message_handler(self._on_signal)
            for match in MATCHES:
                await call(bus, (BUS, "/org/freedesktop/DBus", BUS, "AddMatch", "s", [match]))
        except BaseException:  # also when the time is up: nothing stays half open
            bus.disconnect()
            raise
        return bus

    async def _show_in_time(
        self, bus: MessageBus, server: NotificationServer, alert: Alert, tries: int, times: int = 1
    ) -> None:
        """Once more after a pause if the server finds it too soon, unless it is withdrawn or replaced meanwhile."""
        self._refused.pop(alert.key, None)
        for _ in range(tries - 1):
            with contextlib.suppress(TooSoonError):
                return await self._show(bus, server, alert, times)
            self._refused[alert.key] = alert
            await asyncio.sleep(TOO_SOON_PAUSE)
            bus, server = await self._ready()  # it may be another one now
            if self._refused.get(alert.key) is not alert:
                return None
            del self._refused[alert.key]
        return await self._show(bus, server, alert, times)

    async def _show(self, bus: MessageBus, server: NotificationServer, alert: Alert, times: int = 1) -> None:
        """Replaces the earlier one, which stays as it was when the server refuses."""
        earlier, shown = self._shown.pop(alert.key, None), ShownNotification(alert, times=times)
        self._shown[alert.key] = shown
        try:
            number = await self._notify(bus, server, alert, earlier.number if earlier else 0)
        except BaseException:
            if self._shown.get(alert.key) is shown:
                del self._shown[alert.key]
                if earlier is not None:
                    self._shown[alert.key] = earlier
            raise
        shown.number = number
        early, self._early = self._early, deque(maxlen=EARLY_SIGNALS)
        for message in early:
            self._on_signal(message)
        if self._shown.get(alert.key) is not shown:  # withdrawn, or replaced, before it was there
            await self._close_notification(bus, number)

    async def _close_notification(self, bus: MessageBus, number: int) -> None:
        with contextlib.suppress(NotifierError):  # it is closed already
            await call(bus, (self._owner, PATH, NAME, "CloseNotification", "u", [number]))

    async def _notify(self, bus: MessageBus, server: NotificationServer, alert: Alert, replaces: int) -> int:
        body = escape_markup(alert.body) if server.markup else alert.body
        actions = _actions(server, alert) if server.actions and self._buttons else []
        icon = ALARM_ICON if alert.sound == ALARM and alert.urgency is Urgency.CRITICAL else ICON.as_uri()
        words = [APP, replaces, icon, alert.title or APP, body, actions, _hints(server, alert), -1]
        _, reply = await call(bus, (NAME, PATH, NAME, "Notify", "susssasa{sv}i", words))
        return first(reply, int)

    def _track(self, work: Coroutine[None, None, object]) -> asyncio.Task[object]:
        """Runs `work` in a task and reads its result, as the caller may have stopped waiting."""

        def ended(task: asyncio.Task[object]) -> None:
            self._tasks.discard(task)
            if not task.cancelled():
                task.exception()

        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(ended)
        return task

    def _on_signal(self, message: Message) -> None:
        """Signals of the server; what another program sends under its name is ignored."""
        if message.member == "NameOwnerChanged" and message.sender == BUS and message.body[2]:
            self._track(self._ready())  # a new server gets the questions of the one before
        if message.interface != NAME or message.sender != self._owner or len(message.body) != 2:
            return
        number, word = message.body
        shown = next((one for one in self._shown.values() if one.number == number), None)
        if shown is None:
            if any(not one.number for one in self._shown.values()):
                self._early.append(message)
            return
        if message.member == "NotificationClosed":
            del self._shown[shown.alert.key]
            if word in PUSHED_AWAY:
                self._remember_question(shown)
            self._show_again()
        elif message.member == "ActionInvoked" and word in set(Button):
            self._press(shown, Button(word))

    def _remember_question(self, shown: ShownNotification) -> None:
        if shown.alert.is_question and not shown.pressed & ANSWERS and shown.times < TIMES_LIMIT:
            self._pushed_away[shown.alert.key] = shown

    def _show_again(self) -> None:
        """Questions that the server dropped, as far as it keeps them beside those that are still on the screen."""
        server, bus = self._server, self._bus
        if server is None or bus is None:
            return
        open_now = sum(one.alert.is_question for one in self._shown.values())
        room = len(self._pushed_away) if server.limit is None else server.limit - open_now
        for key in list(self._pushed_away)[: max(room, 0)]:
            one = self._pushed_away.pop(key)
            # Of equal ones Plasma takes one each time.
            self._track(self._show_in_time(bus, server, one.alert, TOO_SOON_TRIES + room, one.times + 1))

    def _press(self, shown: ShownNotification, button: Button) -> None:
        buttons = self._buttons
        if buttons is None or button not in _offered(shown.alert) or button in shown.pressed:
            return
        shown.pressed.add(button)
        if button in GRANTS:
            self._track(self._press_if_trusted(buttons, shown.alert, button))
        else:
            buttons.pressed(shown.alert, button)

    async def _press_if_trusted(self, buttons: AlertButtons, alert: Alert, button: Button) -> None:
        """What allows something counts only from a server that no agent and no hook has started."""
        bus, owner = self._bus, self._owner
        process = await pid(bus, owner) if bus is not None else 0
        if process == 0 or not buttons.trusts(process):
            log.warning("a button of process %d does not count by itself", process)
            buttons.rejected(process, alert, button)
        else:
            buttons.pressed(alert, button)


def _offered(alert: Alert) -> tuple[Button, ...]:
    return (Button.DEFAULT, *alert.buttons) if alert.url or alert.about else alert.buttons


def _actions(server: NotificationServer, alert: Alert) -> list[str]:
    """Where a server draws a click on the alert as a button, it is left out beside the other buttons."""
    offered = alert.buttons if server.draws_default and alert.buttons else _offered(alert)
    return [word for button in offered for word in (button.value, alert.label(button))]


def _hints(server: NotificationServer, alert: Alert) -> dict[str, Variant]:
    """No sound plays twice: the server plays the one that is named, or none, since we play ours."""
    from dbus_fast import Variant

    urgency = alert.urgency
    if server.urgent_holds_back and not alert.is_question:
        urgency = min(urgency, Urgency.NORMAL)
    hints: dict[str, Variant] = {"urgency": Variant("y", int(urgency)), "desktop-entry": Variant("s", "hooktray")}
    if server.sounds and alert.sound_name:
        hints["sound-name"] = Variant("s", alert.sound_name)
    elif server.sounds:
        hints["suppress-sound"] = Variant("b", True)
    if alert.is_question:
        hints["resident"] = Variant("b", True)  # Details must not take the answer away
    return hints
