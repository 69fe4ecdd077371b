"""The later back ends of each system, without buttons: notify-send, osascript, a balloon at the tray icon, plyer."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from collections.abc import Sequence
from typing import Protocol

from tray.notify.alert import APP, Alert
from tray.notify.do_not_disturb import system_may_interrupt
from tray.notify.notifier import NotifierError, ServerState
from tray.notify.server import probe_server
from tray.text import escape_markup

SHOW_TIME = "10000"  # milliseconds
WIDTH_LIMITS = (63, 255)  # UTF-16 units that Windows takes for title and text
# The words travel in argv and never in the script's text: there is nothing to break out of.
SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class ButtonlessBackend:
    """Shows title and text: no button, no click, no replacing."""

    async def withdraw(self, key: str) -> None:
        """It has no handle on the alerts that it showed."""

    async def server_state(self) -> ServerState:
        return ServerState(may_interrupt=system_may_interrupt(sys.platform))

    async def close(self) -> None:
        """Nothing is kept open."""


class NotifySendBackend(ButtonlessBackend):
    """On Linux, where the library cannot reach the server."""

    name = "notify-send"

    async def send(self, alert: Alert) -> None:
        title, body = notify_send_words(alert, (await probe_server()).markup)
        await _run("notify-send", ["-a", APP, "-t", SHOW_TIME, "--", title, body])


class OsascriptBackend(ButtonlessBackend):
    """On a Mac, for a program outside of an app bundle."""

    name = "osascript"

    async def send(self, alert: Alert) -> None:
        await _run("osascript", osascript_words(alert))


class Balloons(Protocol):
    """Shows a balloon at the tray icon, on Windows. Returns False if there is none."""

    def show_balloon(self, title: str, text: str) -> bool: ...


class BalloonBackend(ButtonlessBackend):
    """On Windows."""

    name = "balloon"

    def __init__(self, icon: Balloons) -> None:
        self._icon = icon

    async def send(self, alert: Alert) -> None:
        title, text = balloon_words(alert)
        if not self._icon.show_balloon(title, text or " "):  # without a text Windows shows nothing
            raise NotifierError("there is no tray icon at which it could be shown")


class PlyerBalloon(Protocol):
    """The part of plyer's window and icon on Windows that is used here."""

    def notify(self, title: str, message: str, app_name: str) -> None: ...
    def remove_notify(self) -> None: ...


class PlyerNotification(Protocol):
    """The part of plyer's other notifications that is used here."""

    def notify(self, *, title: str, message: str, app_name: str) -> None: ...


class PlyerBackend(ButtonlessBackend):
    """The last back end of each system, by the library plyer.

    On Windows its balloon has an icon of its own, so it needs no tray icon. On Linux it runs notify-send without its
    result, so it requires a notification server. On macOS it needs pyobjus, which Hooktray does not install.
    """

    name = "plyer"

    def __init__(self, platform: str = sys.platform) -> None:
        self._platform = platform
        self._balloon: PlyerBalloon | None = (
            None  # plyer's own window and icon; each alert takes the place of the last one
        )

    async def send(self, alert: Alert) -> None:
        if self._platform == "win32":
            self._show_balloon(*balloon_words(alert))
        elif self._platform == "darwin":
            title, body = _no_option(alert.title or APP), alert.body or " "
            await asyncio.to_thread(_mac_notification().notify, title=title, message=body, app_name=APP)
        else:
            from plyer.platforms.linux.notification import NotifySendNotification

            title, body = notify_send_words(alert, (await probe_server()).markup)
            await asyncio.to_thread(NotifySendNotification().notify, title=title, message=body, app_name=APP)

    async def withdraw(self, key: str) -> None:
        if self._balloon is not None:
            self._balloon.remove_notify()

    async def close(self) -> None:
        await self.withdraw("")

    def _show_balloon(self, title: str, text: str) -> None:
        """Show a balloon. Runs on the thread of the event loop, which lives as long as the window must."""
        from plyer.platforms.win.libs.balloontip import WindowsBalloonTip

        try:
            if self._balloon is None:
                self._balloon = WindowsBalloonTip(title, text or " ", APP, timeout=0)
            else:
                self._balloon.notify(title, text or " ", APP)
        except Exception as error:  # plyer raises no other type
            raise NotifierError(str(error)) from error


def _mac_notification() -> PlyerNotification:
    try:
        from plyer.platforms.macosx.notification import OSXNotification
    except ImportError as error:
        raise NotifierError("pyobjus is not installed") from error
    made: PlyerNotification = OSXNotification()
    return made


def notify_send_words(alert: Alert, markup: bool) -> tuple[str, str]:
    """Title and text as notify-send takes them: backslashes in the text are escapes to it."""
    body = escape_markup(alert.body) if markup else alert.body
    return _no_option(alert.title or APP), _no_option(body.replace("\\", "\\\\"))


def osascript_words(alert: Alert) -> list[str]:
    """The words after the program."""
    lines = [word for line in SCRIPT for word in ("-e", line)]
    return [*lines, *map(_no_option, (alert.title or APP, alert.body or " "))]


def balloon_words(alert: Alert) -> tuple[str, str]:
    """Title and text as the structure of Windows holds them."""
    return _cut(alert.title or APP, WIDTH_LIMITS[0]), _cut(alert.body, WIDTH_LIMITS[1])


def _no_option(text: str) -> str:
    """osascript and some versions of notify-send read a leading "-" as an option, at any place."""
    return f" {text}" if text.startswith("-") else text


def _cut(text: str, units: int) -> str:
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore")


async def _run(name: str, words: Sequence[str]) -> None:
    """Run a program that shows an alert, each word an argument; NotifierError if it is missing or fails."""
    program = shutil.which(name)
    if program is None:
        raise NotifierError(f"{name} is not there")
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        program, *words, stdin=quiet, stdout=quiet, stderr=asyncio.subprocess.PIPE
    )
    try:
        _, error = await process.communicate()
    except BaseException:  # also when the time is up
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise NotifierError(error.decode("utf-8", "replace").strip() or f"exit {process.returncode}")
