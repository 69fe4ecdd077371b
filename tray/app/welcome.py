"""The first start on an account: a file to write in, an alert that can be heard, and what to do next. Once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tray.alerts.alert import Alert
from tray.alerts.policy import information
from tray.paths import Paths
from tray.sources import configuration

SOUND = "chime"


def arrives(paths: Paths) -> bool:
    """Make hooktray.yaml where there is none; True on the very first start."""
    fresh = configuration.start(paths)
    mark = paths.state / "welcomed"
    if not fresh or mark.exists():
        return False
    mark.touch(mode=0o600)
    return True


def alert(found: Sequence[str]) -> Alert:
    """What is to be seen and heard if alerts work here."""
    return replace(
        information(f"Hooktray is here · {_next(found)}. This is what an alert looks and sounds like", {}),
        sound=SOUND,
        notify=True,
    )


def text(paths: Paths, found: Sequence[str]) -> str:
    """For the terminal."""
    lines = [
        "Welcome to Hooktray. Nothing is connected or approved yet.",
        f"  your hooks and settings  {paths.config}",
        f"  state and copies         {paths.state}",
        f"  log                      {paths.logs}",
        f"  agents found here        {', '.join(found) or 'none'}",
        *(f"  to connect it            hooktray connect {agent}" for agent in found),
        "  is everything well?      hooktray doctor",
    ]
    return "\n".join(lines)


def _next(found: Sequence[str]) -> str:
    if not found:
        return "no agent was found; `hooktray connect AGENT` wires one"
    return f"found {', '.join(found)}; `hooktray connect` shows what it would write and asks"
