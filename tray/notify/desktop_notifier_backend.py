"""The first back end on macOS and Windows: desktop-notifier (D-Bus, WinRT, Notification Center)."""

from __future__ import annotations

import contextlib
import logging
import sys
from functools import partial
from typing import TYPE_CHECKING

from tray.dbus_socket import bus_errors, wait_when_full
from tray.notify.alert import APP, GRANTS, Alert, Button, Urgency
from tray.notify.do_not_disturb import system_may_interrupt
from tray.notify.notifier import AlertButtons, NotifierError, ServerState
from tray.notify.server import query_server
from tray.recent import Recent
from tray.text import escape_markup

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus
    from desktop_notifier.backends.base import DesktopNotifierBackend as Library
    from desktop_notifier.common import Button as LibraryButton
    from desktop_notifier.common import Notification
    from desktop_notifier.common import Urgency as LibraryUrgency

KEY_LIMIT = 512  # of alerts on the screen that can still be replaced


class DesktopNotifierBackend:
    """Keeps one connection; an alert takes the place of the earlier one with its key.

    The library cannot replace in place (it always asks for a new bubble), so the earlier one is closed first.
    It does not handle markup either: `&`, `<` and `>` are escaped exactly where the server reads markup.
    """

    name = "desktop-notifier"

    def __init__(self, buttons: AlertButtons | None = None) -> None:
        """Without `buttons` it shows none."""
        self._alert_buttons = buttons
        self._library: Library | None = None
        self._owner = ""  # of the server's name; a new server knows nothing of our earlier alerts
        self._shown: Recent[str, str] = Recent(KEY_LIMIT)  # key of an alert -> the library's identifier

    async def send(self, alert: Alert) -> None:
        from desktop_notifier.common import Notification

        buttons = self._alert_buttons
        try:
            library, markup = await self._ready()
            await self._clear(library, alert.key)
            notification = Notification(
                title=alert.title or APP,
                message=escape_markup(alert.body) if markup else alert.body,
                urgency=_urgency(alert.urgency),
                on_clicked=partial(buttons.pressed, alert, Button.DEFAULT) if buttons and alert.url else None,
                buttons=self._buttons(alert),
            )
            await _send(library, notification)
        except BaseException as error:  # also when the time is up: the next attempt starts with a new connection
            await self.close()
            if isinstance(error, bus_errors()):
                raise NotifierError(str(error) or type(error).__name__) from error
            raise
        self._shown[alert.key] = notification.identifier

    def _buttons(self, alert: Alert) -> tuple[LibraryButton, ...]:
        """What allows something is left out: the library does not say who pressed."""
        from desktop_notifier.common import Button as LibraryButton

        if self._alert_buttons is None:
            return ()
        pressed = self._alert_buttons.pressed
        offered = (one for one in alert.buttons if one not in GRANTS)
        return tuple(
            LibraryButton(title=alert.label(one), on_pressed=partial(pressed, alert, one)) for one in offered
        )

    async def withdraw(self, key: str) -> None:
        if key in self._shown:
            library, _ = await self._ready()
            await self._clear(library, key)

    async def server_state(self) -> ServerState:
        return ServerState(may_interrupt=system_may_interrupt(sys.platform))

    async def close(self) -> None:
        library, self._library = self._library, None
        self._owner = ""
        self._shown.clear()
        if library is not None and sys.platform == "linux" and hasattr(library, "bus"):
            _bus(library).disconnect()

    async def _ready(self) -> tuple[Library, bool]:
        """The library, connected, and whether bodies are read as markup."""
        library = await self._opened()
        if sys.platform != "linux":
            return library, False
        server = await query_server(_bus(library))
        if self._owner not in ("", server.owner):
            await self.close()
            library = await self._opened()
            server = await query_server(_bus(library))
        self._owner = server.owner
        return library, server.markup

    async def _opened(self) -> Library:
        if self._library is None:
            self._library = await _open()
        if sys.platform == "linux":
            await self._library.get_capabilities()  # connects it
            wait_when_full(_bus(self._library))
        return self._library

    async def _clear(self, library: Library, key: str) -> None:
        identifier = self._shown.pop(key, None)
        if identifier is None:
            return
        with contextlib.suppress(KeyError):  # the user or the server closed it
            await library.clear(identifier)


def _bus(library: Library) -> MessageBus:
    assert hasattr(library, "bus")  # only the library's D-Bus variant has one
    bus: MessageBus = library.bus
    return bus


async def _open() -> Library:
    try:
        from desktop_notifier.backends.dummy import DummyNotificationCenter
        from desktop_notifier.main import get_backend_class

        library = get_backend_class()(APP)
    except ImportError as error:
        raise NotifierError(f"desktop-notifier is missing: {error}") from error
    if isinstance(library, DummyNotificationCenter):  # it takes everything and shows nothing
        raise NotifierError("the system takes no notifications from a program that is not an app bundle")
    if not await library.request_authorisation():
        raise NotifierError("the user does not allow notifications")
    return library


class _ErrorCapture(logging.Filter):
    """Keeps the error that the library would only log, with a traceback, and swallow."""

    error: BaseException | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info:
            self.error = record.exc_info[1]
        return not record.exc_info


async def _send(library: Library, notification: Notification) -> None:
    capture = _ErrorCapture()
    logger = logging.getLogger("desktop_notifier.backends.base")
    logger.addFilter(capture)
    try:
        await library.send(notification)
    finally:
        logger.removeFilter(capture)
    if capture.error is not None:
        raise NotifierError(str(capture.error) or type(capture.error).__name__) from capture.error


def _urgency(urgency: Urgency) -> LibraryUrgency:
    from desktop_notifier.common import Urgency as LibraryUrgency

    levels = {
        Urgency.LOW: LibraryUrgency.Low,
        Urgency.NORMAL: LibraryUrgency.Normal,
        Urgency.CRITICAL: LibraryUrgency.Critical,
    }
    return levels[urgency]
