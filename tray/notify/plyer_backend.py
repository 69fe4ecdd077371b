"""The second back end: plyer, which has a program of the system show the alert."""

from __future__ import annotations

import asyncio
import contextlib
import html
import shutil
import sys
import threading
from typing import Any

from tray.notify.notifier import NotifierError, ServerState
from tray.notify.policy import APP, Alert
from tray.notify.server import probe_server

SHOW_SECONDS = 10
WIDTH_LIMITS = (63, 255)  # UTF-16 units that Windows takes for title and text


class PlyerBackend:
    """Shows title and text; no urgency, no click, no replacing.

    plyer blocks and reports no failure: so the server is queried first, and the call runs on its own thread.
    """

    name = "plyer"

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    async def send(self, alert: Alert) -> None:
        if self._thread is not None and self._thread.is_alive():
            raise NotifierError("the call before this one has not come back")
        markup = (await probe_server()).markup if sys.platform == "linux" else False
        title, body = render(alert, markup, sys.platform)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()

        def call() -> None:
            error = _notify(title, body)
            with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
                loop.call_soon_threadsafe(_settle, answer, error)

        self._thread = threading.Thread(target=call, name="hooktray-plyer", daemon=True)
        self._thread.start()
        error = await answer
        self._thread.join()
        if error:
            raise NotifierError(error)

    async def withdraw(self, key: str) -> None:
        """It has no handle on the alerts that it showed."""

    async def server_state(self) -> ServerState:
        return ServerState()

    async def close(self) -> None:
        """Nothing is kept open."""


def render(alert: Alert, markup: bool, platform: str) -> tuple[str, str]:
    """Title and text as the platform's own program takes them."""
    title, body = alert.title or APP, alert.body
    if platform == "win32":
        return _cut(title, WIDTH_LIMITS[0]), _cut(body, WIDTH_LIMITS[1])
    if markup:
        body = html.escape(body, quote=False)
    # notify-send reads a leading "-" as an option, and backslashes in the text as escapes.
    return _no_option(title), _no_option(body.replace("\\", "\\\\"))


def _no_option(text: str) -> str:
    return f" {text}" if text.startswith("-") else text


def _cut(text: str, units: int) -> str:
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore")


def _settle(answer: asyncio.Future[str], error: str) -> None:
    if not answer.done():
        answer.set_result(error)


def _notify(title: str, body: str) -> str:
    """Why it failed; "" when plyer raised nothing."""
    try:
        _plyer().notify(title=title, message=body, app_name=APP, timeout=SHOW_SECONDS)
    except Exception as error:  # noqa: BLE001 - plyer promises nothing, and a thread must not end in a traceback
        return f"{type(error).__name__}: {error}"
    return ""


def _plyer() -> Any:
    if sys.platform != "linux":
        from plyer import notification

        return notification
    # Chosen here, because plyer's own choice warns, and inside a container pastes the text into source code.
    from plyer.platforms.linux.notification import NotifySendNotification

    if shutil.which("notify-send") is None:
        raise FileNotFoundError("notify-send is not installed")
    return NotifySendNotification()
