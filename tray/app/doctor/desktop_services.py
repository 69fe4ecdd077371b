"""What the desktop offers: a tray host, a notification server, sound; and what hooks left running."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

from tray.app.doctor.context import CheckContext
from tray.app.doctor.result import CheckResult, attention, ok
from tray.notify.server import probe_server
from tray.notify.sound import sound_problem

BUS_TIMEOUT = 3.0  # seconds for the session bus


def host(context: CheckContext) -> Iterator[CheckResult]:
    """The running tray knows whether its icon is shown; nobody else can say."""
    if context.tray is None:
        return
    if context.tray.get("icon"):
        yield ok("icon", "tray host", f"the icon is shown ({context.tray['icon']})")
        return
    message = str(context.tray.get("reason") or "no tray host: nobody shows the icon")
    remedy = "run a StatusNotifier tray (Xfce, KDE Plasma, GNOME with AppIndicator), or use `hooktray open`"
    yield attention("icon", "tray host", message, remedy)


def notifications(context: CheckContext) -> Iterator[CheckResult]:
    """The tray's last problem with it, else whether the session's bus has a server now."""
    why = str((context.tray or {}).get("notifications", "")) or (_no_server() if sys.platform == "linux" else "")
    if why:
        remedy = "start a notification server (dunst, mako, your desktop's own) in the session of the tray"
        yield attention("notifications", "notifications", f"no notification server: {why}", remedy)
    else:
        yield ok("notifications", "notifications", "a server is there")


def sound(context: CheckContext) -> Iterator[CheckResult]:
    if context.stores.switch.state().muted:
        yield attention("sound", "sound", "muted", "untick *Mute sounds* in the tray's menu")
        return
    why = str((context.tray or {}).get("sound", "")) or ("" if context.static else sound_problem())
    if why:
        remedy = "install a sound server's player (pipewire-bin, pulseaudio-utils), or write `sound: none`"
        yield attention("sound", "sound", why, remedy)
    else:
        yield ok("sound", "sound", "not tried" if context.static else "a silent one was played")


def background(context: CheckContext) -> Iterator[CheckResult]:
    """Children that hooks left running."""
    for group, seconds in (context.tray or {}).get("background", ()):
        message = f"a hook's children still live, {seconds:.0f} s at most"
        remedy = f"kill -- -{group}, or `background_seconds: 0` in the hook"
        yield attention("background", f"process group {group}", message, remedy)


def _no_server() -> str:
    try:
        asyncio.run(asyncio.wait_for(probe_server(), BUS_TIMEOUT))
    except TimeoutError:
        return f"the session bus did not answer within {BUS_TIMEOUT:g} s"
    except Exception as error:  # noqa: BLE001 - the bus library promises nothing, and this is only a check
        return str(error) or type(error).__name__
    return ""
