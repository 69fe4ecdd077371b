"""The agents that have knocked: the processes below them are no person, whatever they click."""

from __future__ import annotations

import threading
from pathlib import PurePath
from typing import TypeVar

from tray.engine.ancestry import ancestors

KNOWN = 1024
SHELLS = frozenset({"bash", "dash", "fish", "ksh", "sh", "zsh"})

T = TypeVar("T")
Process = tuple[int, float]  # pid and start time: a pid alone may come back as somebody else


class Agents:
    """Remembers who started relays. `met` is called for each event, `above` for each click.

    What is above ourselves is never an agent: a relay that outlives its agent is handed to the session's own
    manager, and below that stands the whole desktop.
    """

    def __init__(self, own: int) -> None:
        self._ours = {own, *(one.pid for one in ancestors(own))}
        self._lock = threading.Lock()
        self._parents: dict[int, None] = {}
        self._known: dict[Process, None] = {}

    def met(self, parent: int, relay: int = 0) -> None:
        """`parent` started a relay: it is an agent, or the shell that an agent had run the relay line.

        The relay only says so; who it is itself says the kernel (0 where it does not). A name that is not its
        parent's marks nobody: else anybody could make an agent of the panel that the user clicks on.
        """
        with self._lock:
            if parent <= 1 or parent in self._parents:
                return
        if relay and parent != next((one.pid for one in ancestors(relay)), 0):
            return
        with self._lock:
            self._parents[parent] = None
            _forget_oldest(self._parents)
        agent = _agent(parent)
        if agent and agent[0] not in self._ours and not self.above(agent[0]):
            self._remember(agent)

    def _remember(self, agent: Process) -> None:
        """Whoever lives stays: otherwise an agent would be forgotten by having many others knock."""
        with self._lock:
            if len(self._known) >= KNOWN:
                self._known = {one: None for one in self._known if _process(one[0]) == one}
            if len(self._known) < KNOWN:
                self._known[agent] = None

    @property
    def known(self) -> int:
        """How many are remembered."""
        return len(self._known)

    def above(self, pid: int) -> bool:
        """Whether this process is an agent's, or an agent itself."""
        with self._lock:
            known = set(self._known)
        pids = [pid, *(one.pid for one in ancestors(pid))]
        return any(_process(one) in known for one in pids)


def _agent(pid: int) -> Process | None:
    """The process behind a relay's parent: a shell that runs one line is only on the way."""
    import psutil

    try:
        process = psutil.Process(pid)
        command = process.cmdline()
        if command and PurePath(command[0]).name in SHELLS and "-c" in command[1:2]:
            process = psutil.Process(process.ppid())
        return (process.pid, process.create_time()) if process.pid > 1 else None
    except psutil.Error:
        return None


def _process(pid: int) -> Process | None:
    import psutil

    try:
        return pid, psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def _forget_oldest(known: dict[T, None]) -> None:
    if len(known) > KNOWN:
        known.pop(next(iter(known)))
