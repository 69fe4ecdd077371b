"""What the desktop offers: a tray host, a notification server, sound; and what hooks left running."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator, Mapping

from tray.desktop.presence import idle_seconds
from tray.desktop.wayland_idle import reports_idle
from tray.doctor.context import CheckContext
from tray.doctor.finding import Cause, Finding
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
        yield Finding(cause=Cause.ICON_OK, name="tray host", values={"icon": context.tray["icon"]})
        return
    problem = str(context.tray.get("reason") or "no tray host: nobody shows the icon")
    yield Finding(cause=Cause.ICON_UNSEEN, name="tray host", values={"problem": problem})


def notifications(context: CheckContext) -> Iterator[Finding]:
    """The tray's last problem with it, else whether the session's bus has a server now."""
    why = str((context.tray or {}).get("notifications", "")) or (_no_server() if sys.platform == "linux" else "")
    if why:
        yield Finding(cause=Cause.NOTIFICATIONS_NONE, name="notifications", values={"problem": why})
    else:
        yield Finding(cause=Cause.NOTIFICATIONS_OK, name="notifications")


def sound(context: CheckContext) -> Iterator[Finding]:
    yield from _sound_pack(context.catalog.settings_in_force.sound_pack)
    if context.stores.switch.state().muted:
        yield Finding(cause=Cause.SOUND_MUTED, name="sound")
        return
    why = str((context.tray or {}).get("sound", "")) or ("" if context.static else sound_problem())
    if why:
        cause = Cause.SOUND_NO_PLAYER if sys.platform == "linux" else Cause.SOUND_NO_DEVICE
        yield Finding(cause=cause, name="sound", values={"problem": why})
    else:
        text = "not tried" if context.static else "a silent sound was played"
        yield Finding(cause=Cause.SOUND_OK, name="sound", values={"text": text})


def _sound_pack(path: str) -> Iterator[Finding]:
    """What it is and its licence; what is wrong with it is a warning of the settings."""
    with contextlib.suppress(ConfigError):
        if path:
            yield Finding(cause=Cause.SOUND_PACK, name="sound pack", values={"line": read_pack(path).line})


def push(context: CheckContext) -> Iterator[Finding]:
    """Nothing where nothing is pushed."""
    targets = context.catalog.settings_in_force.push
    if not targets:
        return
    if not is_installed():
        yield Finding(cause=Cause.PUSH_LACKS, name="push", values={"command": PIP})
    elif why := str((context.tray or {}).get("push", "")):
        yield Finding(cause=Cause.PUSH_FAILED, name="push", values={"problem": why})
    elif any(one.when == "away" for one in targets) and not _is_idle_known(context.environment):
        yield Finding(cause=Cause.PUSH_NO_IDLE, name="push")
    else:
        services = ", ".join(dict.fromkeys(push_urls.label(one.url) for one in targets))
        yield Finding(cause=Cause.PUSH_OK, name="push", values={"services": services})


def _is_idle_known(environment: Mapping[str, str]) -> bool:
    return idle_seconds(environment) is not None or reports_idle(environment)


def background(context: CheckContext) -> Iterator[Finding]:
    """Children that hooks left running."""
    for group, seconds in (context.tray or {}).get("background", ()):
        values = {"seconds": float(seconds), "group": group}
        yield Finding(cause=Cause.BACKGROUND_CHILDREN, name=f"process group {group}", values=values)


def _no_server() -> str:
    try:
        asyncio.run(asyncio.wait_for(probe_server(), BUS_TIMEOUT))
    except TimeoutError:
        return f"the session bus did not answer within {BUS_TIMEOUT:g} s"
    except call_errors() as error:
        return str(error) or type(error).__name__
    return ""
