"""Delivers alerts on the desktop: queues them from any thread, sends each by the first back end that works.

It also plays the sound of the most urgent one.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import logging
from collections import deque
from collections.abc import Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from operator import attrgetter
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.errors import BUILT_IN_ERRORS
from tray.language import say
from tray.notify.alert import CLASS_NAMES, Alert, Button
from tray.notify.sound import Player
from tray.store.switch import Switch

TIMEOUT = 5.0  # seconds that one back end has for one alert
STATE_TIMEOUT = 8.0  # seconds that a back end has to find out its state, when all that it asks is slow
# Seconds until the first back end is tried again although a later one works. A question always tries it.
RETRY_SECONDS = 600.0
QUEUE_LIMIT = 512  # entries that wait for a slow server; beyond it the oldest fails
CLOSE_TIMEOUT = 3.0  # seconds for what still waits when the tray ends

log = logging.getLogger(__name__)


class NotifierError(Exception):
    """An alert was not delivered, and why."""


# What a back end may raise: its own error; OSError of D-Bus, WinRT and programs; RuntimeError of desktop-notifier and
# WinRT; the others of a wrapper that finds another version of the system's library.
BACKEND_ERRORS = (NotifierError, *BUILT_IN_ERRORS)


class Delivery(enum.Enum):
    SENT = "sent"
    FAILED = "failed"


class ServerState(msgspec.Struct, frozen=True):
    """What a back end knows of its server."""

    may_interrupt: bool = True  # False: "do not disturb" is on
    sounds: bool = False  # it plays sounds by name


class NotificationBackend(Protocol):
    """One way to show an alert. `send` returns when the alert was taken and raises NotifierError when it was not."""

    name: str

    async def send(self, alert: Alert) -> None: ...
    async def withdraw(self, key: str) -> None: ...
    async def server_state(self) -> ServerState: ...
    async def close(self) -> None: ...


class NotificationDesktop(Protocol):
    """The desktop on which alerts are shown; makes its back ends, in the order in which they are tried."""

    def backends(self) -> Sequence[NotificationBackend]: ...


class DeliveryLog(Protocol):
    """Records what became of the alerts about rows of the journal; called from any thread."""

    def alerted(self, ids: tuple[str, ...], word: str) -> None: ...


class AlertButtons(Protocol):
    """What the buttons of alerts do; called on the event loop.

    `trusts` is True if a click through this notification server counts for a button that grants something. If not,
    `rejected` gets the click; its `pid` is 0 for a process that is not known.
    """

    def pressed(self, alert: Alert, button: Button) -> None: ...
    def trusts(self, pid: int) -> bool: ...
    def rejected(self, pid: int, alert: Alert, button: Button) -> None: ...


class Notifier:
    """Sends one entry after the other, and notes in `deliveries` on the loop that it was "sent" or has "failed".

    It tries its back ends in order and stays with the one that works. They are made for the first alert.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        desktop: NotificationDesktop,
        player: Player,
        switch: Switch,
        deliveries: DeliveryLog,
        timeout: float = TIMEOUT,
    ) -> None:
        self.last_error = ""
        self.working = ""  # the back end that delivered last
        self._loop = loop
        self._desktop = desktop
        self._backends: tuple[NotificationBackend, ...] = ()
        self._missing = ""  # why there are no back ends
        self._showing: set[str] = set()  # the names of those that may show something
        self._player = player
        self._switch = switch
        self._deliveries = deliveries
        self._timeout = timeout
        self._since = 0.0  # when the back end that works was found
        self._queue: deque[tuple[tuple[Alert, ...], tuple[str, ...], tuple[str, ...]]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._sounding: set[asyncio.Task[None]] = set()
        self._closed = False

    def announce(self, alerts: tuple[Alert, ...], *records: str) -> None:
        """Returns at once, whatever becomes of the alerts; `records` are the journal's rows that they are about."""
        if not alerts:
            return
        if self._switch.current.muted:
            alerts = tuple(replace(alert, sound="", sound_name="") for alert in alerts)
        try:
            self._loop.call_soon_threadsafe(self._take, alerts, records)
        except RuntimeError:  # the loop has ended
            self._report(records, Delivery.FAILED)

    def withdraw(self, keys: tuple[str, ...]) -> None:
        """Withdraw alerts whose cause is gone; returns at once."""
        if not self._closed:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._take, (), (), keys)

    def close(self, deadline: float = CLOSE_TIMEOUT) -> None:
        """Send what waits, for at most `deadline` seconds, then disconnect; not to be called on the loop."""
        if not self._loop.is_running():
            self._closed = True
            return
        finished = asyncio.run_coroutine_threadsafe(self._finish(deadline), self._loop)
        try:
            finished.result(deadline + 1)
        except FutureTimeoutError:
            finished.cancel()
            log.warning("alerts: the event loop did not answer while closing")

    # ---- on the loop ----

    def _take(self, alerts: tuple[Alert, ...], records: tuple[str, ...], stale: tuple[str, ...] = ()) -> None:
        if self._closed:
            self._report(records, Delivery.FAILED)
            return
        if loudest(alerts):
            task = self._loop.create_task(self._play(alerts), name="hooktray-sound")
            self._sounding.add(task)
            task.add_done_callback(self._sounding.discard)
        self._queue.append((alerts, records, stale))
        if len(self._queue) > QUEUE_LIMIT:
            self._report(self._queue.popleft()[1], Delivery.FAILED)
        if self._task is None:
            self._start()

    def _start(self) -> None:
        self._task = self._loop.create_task(self._drain(), name="hooktray-alerts")

    async def _play(self, alerts: tuple[Alert, ...]) -> None:
        """Outside the queue, so that no slow server delays it. No sound plays twice, or under "do not disturb"."""
        state = await self.server_state()
        if not state.may_interrupt:
            return
        ours = tuple(alert for alert in alerts if not (state.sounds and alert.sound_name and alert.notify))
        one = loudest(ours)
        if one is not None and ours == alerts:  # else the server sounds already
            self._player.play(one.sound, one.category, spoken_line(one))

    async def _drain(self) -> None:
        try:
            while self._queue:
                alerts, records, stale = self._queue.popleft()
                for key in stale:
                    await self.take_down(key)
                await self._deliver(alerts, records)
        finally:
            self._task = None
            if self._queue and not self._closed:  # `deliveries` failed for one: the others are still due
                self._start()

    async def _deliver(self, alerts: tuple[Alert, ...], records: tuple[str, ...]) -> None:
        delivery = Delivery.FAILED
        try:
            sent = [await self.send(alert) for alert in alerts if alert.notify]
            delivery = Delivery.FAILED if Delivery.FAILED in sent else Delivery.SENT
        finally:
            self._report(records, delivery)

    async def _finish(self, deadline: float) -> None:
        self._closed = True  # not earlier: what was announced before is on its way to the loop
        tasks = {task for task in (self._task, *self._sounding) if task is not None}
        if tasks:
            await asyncio.wait(tasks, timeout=deadline)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        while self._queue:
            self._report(self._queue.popleft()[1], Delivery.FAILED)
        await self.disconnect()

    def _report(self, records: tuple[str, ...], delivery: Delivery) -> None:
        if known := tuple(filter(None, records)):
            self._deliveries.alerted(known, delivery.value)

    # ---- the back ends ----

    async def send(self, alert: Alert) -> Delivery:
        """Does not raise the errors that back ends are known to raise."""
        errors = []
        for backend in self._order(alert):
            try:
                await asyncio.wait_for(backend.send(alert), self._timeout)
            except TimeoutError:
                errors.append(f"{backend.name}: no answer in {self._timeout:g} s")
                self._showing.add(backend.name)  # maybe later
            except BACKEND_ERRORS as error:
                errors.append(f"{backend.name}: {str(error) or type(error).__name__}")
            else:
                if backend.name != self.working or errors:
                    self._since = asyncio.get_running_loop().time()
                self.working, self.last_error = backend.name, "; ".join(errors)
                self._showing.add(backend.name)
                return Delivery.SENT
        problem = "; ".join(errors) or self._missing or "there is no way to the desktop"
        if problem != self.last_error:
            log.warning("notification: %s", problem)
        self.working, self.last_error = "", problem
        return Delivery.FAILED

    async def take_down(self, key: str) -> None:
        """Take an alert off the screen where that can be done."""
        for backend in self._backends:
            if backend.name in self._showing:
                with contextlib.suppress(*BACKEND_ERRORS):
                    await asyncio.wait_for(backend.withdraw(key), self._timeout)

    async def server_state(self) -> ServerState:
        """Of the back end that works, else of the first; the default without an answer in `STATE_TIMEOUT` seconds."""
        for backend in self._order()[:1]:
            with contextlib.suppress(*BACKEND_ERRORS):
                return await asyncio.wait_for(backend.server_state(), STATE_TIMEOUT)
        return ServerState()

    async def disconnect(self) -> None:
        for backend in self._backends:
            await backend.close()

    def _order(self, alert: Alert | None = None) -> list[NotificationBackend]:
        """The one that works first, unless it is time to see whether the better ones work again.

        A question always tries them in order, as only the first ones have buttons. None while they cannot be made, as
        when no file can be opened, or their modules were deleted.
        """
        if not self._backends:
            try:
                self._backends = tuple(self._desktop.backends())
            except BACKEND_ERRORS as error:
                self._missing = str(error) or type(error).__name__
        is_question = alert is not None and alert.is_question
        recent = not is_question and asyncio.get_running_loop().time() - self._since < RETRY_SECONDS
        first = [backend for backend in self._backends if recent and backend.name == self.working]
        return [*first, *(backend for backend in self._backends if backend not in first)]


def loudest(alerts: tuple[Alert, ...]) -> Alert | None:
    """The most urgent alert that has a sound; of equals the first."""
    return max((alert for alert in alerts if alert.sound), key=attrgetter("urgency"), default=None)


def spoken_line(alert: Alert) -> str:
    """Class and project; no text of an agent."""
    return ", ".join(filter(None, (say(CLASS_NAMES[alert.cls]), alert.project)))
