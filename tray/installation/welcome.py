"""The first start on an account: a configuration file, an alert with its sound, and what to do next. Once."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from tray.desktop.alert_controller import AlertController
from tray.desktop.menu.state import MenuAgent
from tray.desktop.presenter import Presenter
from tray.errors import HooktrayError
from tray.installation.agents_menu import AgentsMenu
from tray.installation.terminal_question import TerminalQuestion, echo
from tray.language import say
from tray.notify.alert import ALL_AGENTS, Alert, Button
from tray.notify.own_alerts import information
from tray.paths import Paths
from tray.sources import configuration
from tray.threads import Queue

MARK = "welcomed"  # in the state folder
SOUND = "chime"


def create_config(paths: Paths) -> bool:
    """Make hooktray.yaml where there is none; True on the very first start."""
    fresh = configuration.write_starter(paths)
    mark = paths.state / MARK
    if not fresh or mark.exists():
        return False
    with contextlib.suppress(FileNotFoundError):  # the folder was deleted just now, which the tray notices
        mark.touch(mode=0o600)
    return True


class FirstStart:
    """Welcomes the user; connects agents, on the thread of the queue, if a person agrees at the terminal."""

    def __init__(
        self, paths: Paths, agents: AgentsMenu, alerts: AlertController, queue: Queue, view: Presenter
    ) -> None:
        self._paths, self._agents = paths, agents
        self._alerts, self._queue, self._view = alerts, queue, view
        self._question = TerminalQuestion(self)

    def welcome(self) -> None:
        found = self._agents.read_offered()
        echo(text(self._paths, [one.agent for one in found]))
        self._alerts.announce(alert(found))
        self._question.ask(found)

    def close(self) -> None:
        self._question.close()

    def connect_all(self, digests: Sequence[str]) -> None:
        """Connect the agents that a person chose at the terminal. Called from any thread."""
        self._queue.post(partial(self._connect_all, digests))

    def _connect_all(self, digests: Sequence[str]) -> None:
        try:
            echo(self._agents.connect_all(digests))
        except HooktrayError as error:
            echo(f"hooktray: {error}")
        self._view.show()


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
        return say("no agent found: `hooktray connect AGENT`")
    each = "; ".join(f"{one.name}: {one.connect.summary}" for one in found if one.connect)
    return say("“Connect”, or the menu's first row: {what}", what=each)
