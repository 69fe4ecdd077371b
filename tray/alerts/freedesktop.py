"""The first way to the desktop on Linux: the notification server on D-Bus, with buttons that only it can press.

An alert replaces the earlier one with its key in place. A button counts only when it comes from the server that has
the name at that moment, for a number that it gave to us, and once (R9): anybody on the bus can send a signal.
"""

from __future__ import annotations

import asyncio
import html
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tray.alerts.alert import APP, LABELS, Alert, Button
from tray.alerts.notifier import Manner, NotifierError
from tray.alerts.server import BUS, NAME, PATH, Server, call, disturbing, pid, survey
from tray.bus import patient
from tray.language import say

if TYPE_CHECKING:
    from dbus_fast import Message
    from dbus_fast.aio import MessageBus

KEYS = 512  # of alerts on the screen that can still be replaced and pressed
MATCH = f"type='signal',sender='{NAME}',interface='{NAME}',path='{PATH}'"

log = logging.getLogger(__name__)

Pressed = Callable[[Alert, Button], None]


@dataclass(slots=True)
class Shown:
    """An alert on the screen, and which of its buttons have been pressed."""

    number: int
    alert: Alert
    pressed: set[Button] = field(default_factory=set)


class FreedesktopBackend:
    """Keeps one connection. `trusts(pid)` says whether the server's process may grant something at all."""

    name = "D-Bus"

    def __init__(self, pressed: Pressed | None = None, trusts: Callable[[int], bool] = lambda _: True) -> None:
        self._pressed = pressed
        self._trusts = trusts
        self._bus: MessageBus | None = None
        self._owner = ""  # of the server's name; a new server knows nothing of our earlier alerts
        self._shown: dict[str, Shown] = {}
        self._checks: set[asyncio.Task[None]] = set()

    async def send(self, alert: Alert) -> None:
        try:
            bus, server = await self._ready()
            earlier = self._shown.pop(alert.key, None)
            number = await self._notify(bus, server, alert, earlier.number if earlier else 0)
        except BaseException:  # also when the time is up: the next attempt starts with a new connection
            await self.close()
            raise
        self._shown[alert.key] = Shown(number, alert)
        if len(self._shown) > KEYS:
            self._shown.pop(next(iter(self._shown)))

    async def withdraw(self, key: str) -> None:
        shown = self._shown.pop(key, None)
        if shown is not None and self._bus is not None:
            await call(self._bus, (self._owner, PATH, NAME, "CloseNotification", "u", [shown.number]))

    async def manner(self) -> Manner:
        bus, server = await self._ready()
        return Manner(disturbing=await disturbing(bus), sounds=server.sounds)

    async def close(self) -> None:
        bus, self._bus = self._bus, None
        self._owner = ""
        self._shown.clear()
        for check in self._checks:
            check.cancel()
        if bus is not None:
            bus.disconnect()

    async def _ready(self) -> tuple[MessageBus, Server]:
        if self._bus is None or not self._bus.connected:
            self._bus = await self._connect()
        server = await survey(self._bus)
        if server.owner != self._owner:
            self._shown.clear()
            self._owner = server.owner
        return self._bus, server

    async def _connect(self) -> MessageBus:
        from dbus_fast.aio import MessageBus

        try:
            bus = patient(await MessageBus().connect())
        except (OSError, ValueError, EOFError) as error:
            raise NotifierError(f"no session bus: {error}") from error
        bus.add_message_handler(self._heard)
        await call(bus, (BUS, "/org/freedesktop/DBus", BUS, "AddMatch", "s", [MATCH]))
        return bus

    async def _notify(self, bus: MessageBus, server: Server, alert: Alert, replaces: int) -> int:
        body = html.escape(alert.body, quote=False) if server.markup else alert.body
        actions = _actions(alert) if server.actions and self._pressed else []
        words = [APP, replaces, "", alert.title or APP, body, actions, _hints(server, alert), -1]
        _, reply = await call(bus, (NAME, PATH, NAME, "Notify", "susssasa{sv}i", words))
        return int(reply[0])

    def _heard(self, message: Message) -> None:
        """Signals of the server; what anybody else sends under its name is not even looked at."""
        if message.interface != NAME or message.sender != self._owner or len(message.body) != 2:
            return
        number, word = message.body
        shown = next((one for one in self._shown.values() if one.number == number), None)
        if shown is None:
            return
        if message.member == "NotificationClosed":
            del self._shown[shown.alert.key]
        elif message.member == "ActionInvoked" and word in set(Button):
            self._press(shown, Button(word))
        return

    def _press(self, shown: Shown, button: Button) -> None:
        if self._pressed is None or button not in _offered(shown.alert) or button in shown.pressed:
            return
        shown.pressed.add(button)
        if button is not Button.ALLOW:
            self._pressed(shown.alert, button)
            return
        check = asyncio.get_running_loop().create_task(self._granted(shown.alert))
        self._checks.add(check)
        check.add_done_callback(self._checks.discard)

    async def _granted(self, alert: Alert) -> None:
        """What allows something counts only from a server that no agent and no hook has started."""
        bus, owner = self._bus, self._owner
        process = await pid(bus, owner) if bus is not None else 0
        if process == 0 or not self._trusts(process):
            log.warning("a button of process %d was not heeded: an agent or a hook is above it", process)
        elif self._pressed is not None:
            self._pressed(alert, Button.ALLOW)


def _offered(alert: Alert) -> tuple[Button, ...]:
    return (Button.DEFAULT, *alert.buttons) if alert.url or alert.about else alert.buttons


def _actions(alert: Alert) -> list[str]:
    return [word for button in _offered(alert) for word in (button.value, say(LABELS[button]))]


def _hints(server: Server, alert: Alert) -> dict[str, Any]:
    """Nothing sounds twice: the server plays what it was told by name, or nothing, since we do."""
    from dbus_fast import Variant

    hints: dict[str, Any] = {"urgency": Variant("y", int(alert.urgency)), "desktop-entry": Variant("s", "hooktray")}
    if server.sounds and alert.sound_name:
        hints["sound-name"] = Variant("s", alert.sound_name)
    elif server.sounds:
        hints["suppress-sound"] = Variant("b", True)
    if Button.ALLOW in alert.buttons:
        hints["resident"] = Variant("b", True)  # Details shall not take the answer away
    return hints
