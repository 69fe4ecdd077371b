"""Delivers alerts as desktop notifications: several back ends, tried in order, each with a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import logging
from collections.abc import Sequence
from typing import Protocol

from tray.lazy_dataclass import dataclass
from tray.notify.policy import Alert

TIMEOUT = 5.0  # seconds that one back end has for one alert
STATE_TIMEOUT = 8.0  # seconds that a back end has to find out its state, when all that it asks is slow
RETRY_SECONDS = 600.0  # seconds after which the first back end is tried again, although a later one works

log = logging.getLogger(__name__)


class NotifierError(Exception):
    """An alert was not delivered, and why."""


class Delivery(enum.Enum):
    SENT = "sent"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerState:
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


class NotifierChain:
    """Tries its back ends in order and stays with the one that works; never raises. Used on one event loop."""

    def __init__(self, backends: Sequence[NotificationBackend], timeout: float = TIMEOUT) -> None:
        self.last_error = ""
        self.working = ""  # the back end that delivered last
        self._backends = tuple(backends)
        self._timeout = timeout
        self._since = 0.0

    async def send(self, alert: Alert) -> Delivery:
        errors = []
        for backend in self._order():
            try:
                await asyncio.wait_for(backend.send(alert), self._timeout)
            except TimeoutError:
                errors.append(f"{backend.name}: no answer in {self._timeout:g} s")
            except Exception as error:  # noqa: BLE001 - the libraries promise nothing, and no alert may do harm
                errors.append(f"{backend.name}: {str(error) or type(error).__name__}")
            else:
                self._worked(backend, errors)
                return Delivery.SENT
        self._failed(errors or ["there is no way to the desktop"])
        return Delivery.FAILED

    async def withdraw(self, key: str) -> None:
        """Take an alert off the screen where that can be done."""
        for backend in self._backends:
            if backend.name == self.working:
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(backend.withdraw(key), self._timeout)

    async def server_state(self) -> ServerState:
        """Of the back end that works, else of the first; the default without an answer in `STATE_TIMEOUT` seconds."""
        for backend in self._order()[:1]:
            with contextlib.suppress(Exception):
                return await asyncio.wait_for(backend.server_state(), STATE_TIMEOUT)
        return ServerState()

    async def close(self) -> None:
        for backend in self._backends:
            await backend.close()

    def _order(self) -> list[NotificationBackend]:
        """The one that works first, unless it is time to see whether the better ones work again."""
        recent = asyncio.get_running_loop().time() - self._since < RETRY_SECONDS
        return sorted(self._backends, key=lambda backend: not (recent and backend.name == self.working))

    def _worked(self, backend: NotificationBackend, errors: list[str]) -> None:
        if backend.name != self.working or errors:
            self._since = asyncio.get_running_loop().time()
        self.working = backend.name
        self.last_error = "; ".join(errors)

    def _failed(self, errors: list[str]) -> None:
        error = "; ".join(errors)
        if error != self.last_error:
            log.warning("notification: %s", error)
        self.working = ""
        self.last_error = error
