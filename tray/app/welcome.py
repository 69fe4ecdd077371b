"""The first start on an account: a configuration file, an alert with its sound, and what to do next. Once."""

from __future__ import annotations

from collections.abc import Sequence

from tray.desktop.menu import MenuAgent
from tray.language import say
from tray.lazy_dataclass import replace
from tray.notify.alert import ALL_AGENTS, Alert, Button
from tray.notify.policy import information
from tray.paths import Paths
from tray.sources import configuration

MARK = "welcomed"  # in the state folder
SOUND = "chime"


def create_config(paths: Paths) -> bool:
    """Make hooktray.yaml where there is none; True on the very first start."""
    fresh = configuration.write_starter(paths)
    mark = paths.state / MARK
    if not fresh or mark.exists():
        return False
    mark.touch(mode=0o600)
    return True


def alert(found: Sequence[MenuAgent]) -> Alert:
    """The first notification, with a sound, if alerts work here; its button connects all agents that were found."""
    message = " · ".join((say("Hooktray is running"), _next(found)))
    digests = [one.connect.digest for one in found if one.connect]
    shown = replace(information(message, {}), sound=SOUND, notify=True)
    return replace(shown, about=ALL_AGENTS, digest=" ".join(digests), buttons=(Button.CONNECT,)) if digests else shown


def text(paths: Paths, found: Sequence[str]) -> str:
    """For the terminal."""
    connect = "hooktray connect, the menu's first row or the page   (one question, with what it writes)"
    lines = [
        "Welcome to Hooktray. Nothing is connected or approved yet.",
        f"  your hooks and settings  {paths.config}",
        f"  state and copies         {paths.state}",
        f"  log                      {paths.logs}",
        f"  agents found here        {', '.join(found) or 'none'}",
        f"  connect agents           {connect if found else 'hooktray connect AGENT'}",
        "  set a passphrase         hooktray passphrase   (confirms what you ask for in tmux, an editor, over SSH)",
        "  start at login           hooktray autostart on",
        "  no alert seen or heard?  hooktray doctor",
    ]
    return "\n".join(lines)


def _next(found: Sequence[MenuAgent]) -> str:
    if not found:
        return say("no agent was found; `hooktray connect AGENT` connects one")
    each = "; ".join(f"{one.name}: {one.connect.summary}" for one in found if one.connect)
    return say("“Connect”, or the menu's first row: {what}", what=each)
