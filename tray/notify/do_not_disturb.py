""" "Do not disturb", as each notification server keeps it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tray.lazy_dataclass import dataclass
from tray.notify.notifier import NotifierError
from tray.notify.server import NAME, PATH, PROPERTIES, Call, NotificationServer, call

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus

SERVER_TIMEOUT = 2.0  # seconds that a server has before a sound is played without its state: it may start just now
PROGRAM_TIMEOUT = 5.0  # the same for a program
MAKO_MODES = frozenset({"dnd", "do-not-disturb"})  # mako has modes that the user names; these are its manual's


@dataclass(frozen=True, slots=True)
class BusState:
    """A server or a service of the desktop answers a call."""

    call: Call
    is_on: Callable[[Any], bool] = lambda value: value is True


@dataclass(frozen=True, slots=True)
class Setting:
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
    "mako": BusState(
        (NAME, "/fr/emersion/Mako", "fr.emersion.Mako", "ListModes", "", []),
        lambda modes: not MAKO_MODES.isdisjoint(modes),
    ),
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
