"""The second back end on Linux: notify-send, where the library cannot reach the server."""

from __future__ import annotations

import html

from tray.notify.alert import APP, Alert
from tray.notify.notifier import ServerState
from tray.notify.program import run_program
from tray.notify.server import probe_server

SHOW_TIME = "10000"  # milliseconds


class NotifySendBackend:
    """Shows title and text; no urgency, no click, no replacing."""

    name = "notify-send"

    async def send(self, alert: Alert) -> None:
        title, body = render(alert, (await probe_server()).markup)
        await run_program("notify-send", ["-a", APP, "-t", SHOW_TIME, "--", title, body])

    async def withdraw(self, key: str) -> None:
        """It has no handle on the alerts that it showed."""

    async def server_state(self) -> ServerState:
        return ServerState()

    async def close(self) -> None:
        """Nothing is kept open."""


def render(alert: Alert, markup: bool) -> tuple[str, str]:
    """Title and text as notify-send takes them: backslashes in the text are escapes to it."""
    body = html.escape(alert.body, quote=False) if markup else alert.body
    return _no_option(alert.title or APP), _no_option(body.replace("\\", "\\\\"))


def _no_option(text: str) -> str:
    """Some versions read a leading "-" as an option, at any place."""
    return f" {text}" if text.startswith("-") else text
