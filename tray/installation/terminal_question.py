"""The first start at a terminal asks there which agents to connect; the icon is on the screen meanwhile."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Protocol

from tray.approvals.callers.person import find_origin
from tray.connect.summary import is_confirmed
from tray.desktop.menu.state import MenuAgent
from tray.execution.ancestry import ancestors
from tray.text import printable
from tray.threads import start_thread

LINE = 4096  # bytes: the longest line that a terminal hands over


class AgentConnector(Protocol):
    """Connects the agents with these digests of their previews. Called from the thread of the question."""

    def connect_all(self, digests: Sequence[str]) -> None: ...


class TerminalQuestion:
    """Asks at the terminal whether to connect agents. After a yes, `connector` gets the digests of their previews."""

    def __init__(self, connector: AgentConnector) -> None:
        self._connector = connector
        self._closed, self._close = os.pipe()
        self._thread = threading.Thread(target=self._run, name="terminal question", daemon=True)
        self._found: tuple[MenuAgent, ...] = ()

    def ask(self, found: Sequence[MenuAgent]) -> None:
        """In the background, and only if the user can answer."""
        self._found = tuple(one for one in found if one.connect)
        if self._found and _can_read() and not find_origin(os.environ, ancestors(os.getpid())):
            start_thread(self._thread)

    def close(self) -> None:
        """The question is withdrawn."""
        os.close(self._close)
        if self._thread.ident is not None and sys.platform != "win32":  # there, a read cannot be ended
            self._thread.join()
            os.close(self._closed)

    def _run(self) -> None:
        previews = {one.agent: one.connect for one in self._found if one.connect}
        for agent, preview in previews.items():
            echo(f"{agent}: {printable(preview.summary)}")

        def show() -> None:
            for preview in previews.values():
                echo(preview.difference, end="")

        try:
            is_yes = is_confirmed(f"Connect {', '.join(previews)}", self._read_line, show)
        except EOFError:
            return  # the menu and the page ask, too
        if is_yes:
            self._connector.connect_all([preview.digest for preview in previews.values()])
        else:
            echo("Nothing was written.")

    def _read_line(self, question: str) -> str:
        """EOFError when the terminal gives no answer any more, or the question was withdrawn."""
        echo(question, end="")
        if line := self._line():
            return line
        raise EOFError

    def _line(self) -> str:
        if sys.platform != "win32":
            # In the background, reading would stop the whole tray; with this signal blocked it is an error.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN})
            ready, _, _ = select.select([0, self._closed], [], [])
            if self._closed in ready:
                return ""
        try:
            return os.read(0, LINE).decode("utf-8", "replace")
        except OSError:
            return ""


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
