"""The back end on a Mac for a program outside of an app bundle: osascript, which gets every word as an argument."""

from __future__ import annotations

from tray.notify.alert import APP, Alert
from tray.notify.notifier import ServerState
from tray.notify.program import run_program

# The words travel in argv and never in the script's text: there is nothing to break out of.
SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class OsascriptBackend:
    """Shows title and text; no button, no replacing."""

    name = "osascript"

    async def send(self, alert: Alert) -> None:
        await run_program("osascript", arguments(alert))

    async def withdraw(self, key: str) -> None:
        """It has no handle on the alerts that it showed."""

    async def server_state(self) -> ServerState:
        return ServerState()

    async def close(self) -> None:
        """Nothing is kept open."""


def arguments(alert: Alert) -> list[str]:
    """The words after the program."""
    lines = [word for line in SCRIPT for word in ("-e", line)]
    return [*lines, *(_argument(text) for text in (alert.title or APP, alert.body or " "))]


def _argument(text: str) -> str:
    """osascript would read a leading "-" as an option of its own."""
    return f" {text}" if text.startswith("-") else text
