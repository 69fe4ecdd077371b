""" "Do not disturb", as each notification server keeps it, and macOS and Windows.

Those two hold notifications back themselves. It is asked for our own sounds, which they do not know of.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tray.files import user_file
from tray.notify.notifier import NotifierError
from tray.notify.server import NAME, PATH, PROPERTIES, Call, NotificationServer, call

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus

SERVER_TIMEOUT = 2.0  # seconds that a server has before a sound is played without its state: it may start just now
PROGRAM_TIMEOUT = 5.0  # the same for a program
FOCUS_FILE = "Library/DoNotDisturb/DB/Assertions.json"  # below the home folder; only full disk access opens it
# SHQueryUserNotificationState: a game has the whole screen, presentation settings, a new user's first hour. Not 2,
# which is any program with the whole screen, such as a terminal.
QUIET_STATES = frozenset({3, 4, 6})
MAKO_MODES = frozenset({"dnd", "do-not-disturb"})  # mako has modes that the user names; these are its manual's


class BusState(msgspec.Struct, frozen=True):
    """A server or a service of the desktop answers a call."""

    call: Call
    modes: frozenset[str] = frozenset()  # where it answers with a list of modes: those that mean "do not disturb"

    def is_on(self, value: object) -> bool:
        return not self.modes.isdisjoint(value) if isinstance(value, list) else value is True


class Setting(msgspec.Struct, frozen=True):
    """A key of the desktop's settings, which GLib's own program reads."""

    schema: str
    key: str
    on: str  # the value that means "do not disturb"


KDE = BusState((NAME, PATH, PROPERTIES, "Get", "ss", [NAME, "Inhibited"]))
# By the name in GetServerInformation; others have KDE's property, or none.
STATES: dict[str, BusState | Setting] = {
    "Notification Daemon": Setting("org.mate.NotificationDaemon", "do-not-disturb", "true"),
    "SwayNotificationCenter": BusState(
        ("org.erikreider.swaync.cc", "/org/erikreider/swaync/cc", "org.erikreider.swaync.cc", "GetDnd", "", [])
    ),
    "Xfce Notify Daemon": BusState(
        (
            "org.xfce.Xfconf",
            "/org/xfce/Xfconf",
            "org.xfce.Xfconf",
            "GetProperty",
            "ss",
            ["xfce4-notifyd", "/do-not-disturb"],
        )
    ),
    "dunst": BusState((NAME, PATH, PROPERTIES, "Get", "ss", ["org.dunstproject.cmd0", "paused"])),
    "gnome-shell": Setting("org.gnome.desktop.notifications", "show-banners", "false"),
    "mako": BusState((NAME, "/fr/emersion/Mako", "fr.emersion.Mako", "ListModes", "", []), MAKO_MODES),
}


async def may_interrupt(bus: MessageBus, server: NotificationServer) -> bool:
    """False when "do not disturb" is on; True when the server does not report it."""
    state = STATES.get(server.name, KDE)
    if isinstance(state, Setting):
        return await _read(state) != state.on
    try:
        async with asyncio.timeout(SERVER_TIMEOUT):
            _, body = await call(bus, state.call)
    except (NotifierError, TimeoutError):
        return True
    return not state.is_on(getattr(body[0], "value", body[0]))


async def _read(setting: Setting) -> str:
    """The key's value as GLib writes it; "" when it cannot be read."""
    program = shutil.which("gsettings")
    if program is None:
        return ""
    quiet = subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        program, "get", setting.schema, setting.key, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet
    )
    try:
        async with asyncio.timeout(PROGRAM_TIMEOUT):
            output, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return output.decode(errors="replace").strip()


def system_may_interrupt(platform: str) -> bool:
    """False when a system without a notification server of its own certainly wants quiet."""
    is_quiet = SYSTEMS.get(platform)
    return is_quiet is None or not is_quiet()


def _focus_is_on() -> bool:
    """macOS writes a record for each focus that the user switched on; one on a schedule leaves none."""
    try:
        found = json.loads(user_file(Path.home() / FOCUS_FILE))
        return any(part.get("storeAssertionRecords") for part in found["data"])
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        return False


def _windows_is_quiet() -> bool:
    return _toasts_are_held() or _shell_state() in QUIET_STATES


def _toasts_are_held() -> bool:
    """Windows 11 reports it; on an earlier one the property is missing, in whatever way the library reports that."""
    with contextlib.suppress(AttributeError, ImportError, OSError, RuntimeError, TypeError, ValueError):
        found = importlib.import_module("winrt.windows.ui.notifications")
        return int(found.ToastNotificationManager.get_default().notification_mode) != 0
    return False


def _shell_state() -> int:
    """Of every Windows; 0 when it is not known."""
    if sys.platform != "win32":
        return 0
    state = ctypes.c_int(0)
    failed = ctypes.windll.shell32.SHQueryUserNotificationState(ctypes.byref(state))
    return 0 if failed else state.value


SYSTEMS: Mapping[str, Callable[[], bool]] = {"darwin": _focus_is_on, "win32": _windows_is_quiet}
