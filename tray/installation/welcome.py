"""Welcomes the user at the first start on an account: a configuration file, an alert with its sound, what to do next.

At a terminal, it asks there whether to connect agents, while the icon is already on the screen.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from tray.approvals.callers.person import find_origin
from tray.connect.summary import is_confirmed
from tray.desktop.alert_controller import AlertController
from tray.desktop.menu.state import MenuAgent, MenuPreview
from tray.desktop.presenter import Presenter
from tray.errors import HooktrayError
from tray.execution.ancestry import ancestors
from tray.installation.agents_menu import AgentsMenu
from tray.language import say
from tray.notify.alert import ALL_AGENTS, Alert, Button
from tray.notify.own_alerts import information
from tray.paths import Paths
from tray.sources import configuration
from tray.text import printable
from tray.threads import Queue, start_thread

MARK = "welcomed"  # in the state folder
SOUND = "chime"
LINE = 4096  # bytes: the longest line that a terminal hands over


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
    """Welcomes the user. At a terminal, it asks whether to connect the installed agents."""

    def __init__(
        self, paths: Paths, agents: AgentsMenu, alerts: AlertController, queue: Queue, view: Presenter
    ) -> None:
        self._paths, self._agents = paths, agents
        self._alerts, self._queue, self._view = alerts, queue, view
        self._closed, self._close = os.pipe()
        self._thread = threading.Thread(target=self._ask, name="terminal question", daemon=True)
        self._previews: dict[str, MenuPreview] = {}

    def welcome(self) -> None:
        found = self._agents.read_offered()
        echo(text(self._paths, [one.agent for one in found]))
        self._alerts.announce(alert(found))
        self._previews = {one.agent: one.connect for one in found if one.connect}
        if self._previews and _can_read() and not find_origin(os.environ, ancestors(os.getpid())):
            start_thread(self._thread)

    def close(self) -> None:
        """The question is withdrawn."""
        os.close(self._close)
        if self._thread.ident is not None and sys.platform != "win32":  # there, a read cannot be ended
            self._thread.join()
            os.close(self._closed)

    def _connect_all(self, digests: Sequence[str]) -> None:
        try:
            echo(self._agents.connect_all(digests))
        except HooktrayError as error:
            echo(f"hooktray: {error}")
        self._view.show()

    # ---- on the thread of the question

    def _ask(self) -> None:
        for agent, preview in self._previews.items():
            echo(f"{agent}: {printable(preview.summary)}")

        def show() -> None:
            for preview in self._previews.values():
                echo(preview.difference, end="")

        try:
            is_yes = is_confirmed(f"Connect {', '.join(self._previews)}", self._read_line, show)
        except EOFError:
            return  # the menu and the page ask, too
        if is_yes:
            self._queue.post(partial(self._connect_all, [preview.digest for preview in self._previews.values()]))
        else:
            echo("Nothing was written.")

    def _read_line(self, question: str) -> str:
        """EOFError when the terminal gives no answer any more, or the question was withdrawn."""
        echo(question, end="")
        if sys.platform != "win32":
            # In the background, reading would stop the whole tray; with this signal blocked it is an error.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN})
            ready, _, _ = select.select([0, self._closed], [], [])
            if self._closed in ready:
                raise EOFError
        with contextlib.suppress(OSError):
            if line := os.read(0, LINE).decode("utf-8", "replace"):
                return line
        raise EOFError


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


def _can_read() -> bool:
    """Whether this is a terminal, and the tray is not in its background."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:  # a terminal without job control
        return True


def echo(text: str, end: str = "\n") -> None:
    """Print it at the terminal of the tray."""
    with contextlib.suppress(OSError):  # the terminal is closed: the tray runs all the same
        print(text, end=end, flush=True)
