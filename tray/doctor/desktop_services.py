"""What the desktop offers: a tray host, a notification server, sound; and what hooks left running."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator

from tray.desktop.presence import idle_seconds
from tray.desktop.wayland_idle import reports_idle
from tray.doctor.finding import Cause, CheckContext, Finding, found
from tray.errors import ConfigError
from tray.notify.push.message import PIP, is_installed
from tray.notify.server import call_errors, probe_server
from tray.notify.sound import sound_problem
from tray.sources.sound_pack import read_pack
from tray.text import push_urls

BUS_TIMEOUT = 3.0  # seconds for the session bus


def host(context: CheckContext) -> Iterator[Finding]:
    """Only the running tray knows whether its icon is shown."""
    if context.tray is None:
        return
    if context.tray.get("icon"):
        yield found(Cause.ICON_OK, "tray host", icon=context.tray["icon"])
    else:
        problem = str(context.tray.get("reason") or "no tray host: nobody shows the icon")
        yield found(Cause.ICON_UNSEEN, "tray host", problem=problem)


def notifications(context: CheckContext) -> Iterator[Finding]:
    """The tray's last problem with it, else whether the session's bus has a server now."""
    why = str((context.tray or {}).get("notifications", "")) or (_no_server() if sys.platform == "linux" else "")
    if why:
        yield found(Cause.NOTIFICATIONS_NONE, "notifications", problem=why)
    else:
        yield found(Cause.NOTIFICATIONS_OK, "notifications")


def sound(context: CheckContext) -> Iterator[Finding]:
    """With the sound pack and its licence; what is wrong with it is a warning of the settings."""
    with contextlib.suppress(ConfigError):
        if pack := context.catalog.settings_in_force.sound_pack:
            yield found(Cause.SOUND_PACK, "sound pack", line=read_pack(pack).line)
    if context.stores.switch.state().muted:
        yield found(Cause.SOUND_MUTED, "sound")
        return
    why = str((context.tray or {}).get("sound", "")) or ("" if context.static else sound_problem())
    if why:
        cause = Cause.SOUND_NO_PLAYER if sys.platform == "linux" else Cause.SOUND_NO_DEVICE
        yield found(cause, "sound", problem=why)
    else:
        yield found(Cause.SOUND_OK, "sound", text="not tried" if context.static else "a silent sound was played")


def push(context: CheckContext) -> Iterator[Finding]:
    """Nothing where nothing is pushed."""
    targets = context.catalog.settings_in_force.push
    if not targets:
        return
    if not is_installed():
        yield found(Cause.PUSH_LACKS, "push", command=PIP)
    elif why := str((context.tray or {}).get("push", "")):
        yield found(Cause.PUSH_FAILED, "push", problem=why)
    elif any(one.when == "away" for one in targets) and not (
        idle_seconds(context.environment) is not None or reports_idle(context.environment)
    ):
        yield found(Cause.PUSH_NO_IDLE, "push")
    else:
        services = ", ".join(dict.fromkeys(push_urls.label(one.url) for one in targets))
        yield found(Cause.PUSH_OK, "push", services=services)


def background(context: CheckContext) -> Iterator[Finding]:
    """Children that hooks left running."""
    for group, seconds in (context.tray or {}).get("background", ()):
        yield found(Cause.BACKGROUND_CHILDREN, f"process group {group}", seconds=float(seconds), group=group)


def _no_server() -> str:
    try:
        asyncio.run(asyncio.wait_for(probe_server(), BUS_TIMEOUT))
    except TimeoutError:
        return f"the session bus did not answer within {BUS_TIMEOUT:g} s"
    except call_errors() as error:
        return str(error) or type(error).__name__
    return ""
