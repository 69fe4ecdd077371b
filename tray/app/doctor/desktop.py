"""What the desktop offers: a tray host, a notification server, sound; and what hooks left running."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

from tray.alerts.server import glance
from tray.alerts.sound import trouble
from tray.app.doctor.case import Case
from tray.app.doctor.finding import Finding, attention, ok

PATIENCE = 3.0  # seconds for the session bus


def host(case: Case) -> Iterator[Finding]:
    """The running tray knows whether its icon is shown; nobody else can say."""
    if case.tray is None:
        return
    if case.tray.get("icon"):
        yield ok("icon", "tray host", f"the icon is shown ({case.tray['icon']})")
        return
    said = str(case.tray.get("reason") or "no tray host: nobody shows the icon")
    cure = "run a StatusNotifier tray (Xfce, KDE Plasma, GNOME with AppIndicator), or use `hooktray open`"
    yield attention("icon", "tray host", said, cure)


def notifications(case: Case) -> Iterator[Finding]:
    """What the tray met last, else whether the session's bus has a server now."""
    why = str((case.tray or {}).get("notifications", "")) or (_no_server() if sys.platform == "linux" else "")
    if why:
        cure = "start a notification server (dunst, mako, your desktop's own) in the session of the tray"
        yield attention("notifications", "notifications", f"no notification server: {why}", cure)
    else:
        yield ok("notifications", "notifications", "a server is there")


def sound(case: Case) -> Iterator[Finding]:
    if case.kept.switch.state().muted:
        yield attention("sound", "sound", "muted", "untick *Mute sounds* in the tray's menu")
        return
    why = str((case.tray or {}).get("sound", "")) or ("" if case.static else trouble())
    if why:
        cure = "install a sound server's player (pipewire-bin, pulseaudio-utils), or write `sound: none`"
        yield attention("sound", "sound", why, cure)
    else:
        yield ok("sound", "sound", "not tried" if case.static else "a silent one was played")


def background(case: Case) -> Iterator[Finding]:
    """Children that hooks left running."""
    for group, seconds in (case.tray or {}).get("background", ()):
        said = f"a hook's children still live, {seconds:.0f} s at most"
        yield attention(
            "background", f"process group {group}", said, f"kill -- -{group}, or `background: 0` in the hook"
        )


def _no_server() -> str:
    try:
        asyncio.run(asyncio.wait_for(glance(), PATIENCE))
    except TimeoutError:
        return f"the session bus did not answer within {PATIENCE:g} s"
    except Exception as error:  # noqa: BLE001 - the bus library promises nothing, and this is only a look
        return str(error) or type(error).__name__
    return ""
