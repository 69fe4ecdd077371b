"""Whose clicks count: what the kernel shows of a process, and the agents that have knocked, put before the judges."""

from __future__ import annotations

import logging
import os
import sys

from tray.door.witness import chain
from tray.engine.callers import clicking
from tray.engine.callers.agents import Agents
from tray.engine.callers.ancestry import descends_from, descends_from_hook
from tray.engine.callers.people import Seen, from_agent

log = logging.getLogger(__name__)


class Trust:
    """Asked with the number of a process. Only Linux shows enough to judge more than who started whom."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._own = os.getpid()

    def below(self, pid: int) -> bool:
        """Whether a hook or an agent is above this process."""
        return descends_from(pid, self._own) or self._agents.above(pid)

    def opens(self, pid: int) -> bool:
        """Whether it may have the page shown."""
        return not self.below(pid) and not from_agent(chain(pid), ())

    def browser(self, pid: int) -> bool:
        """Whether what it asks of the page can be a person's click; also from a browser that we opened ourselves."""
        if sys.platform != "linux":
            return not self.below(pid)
        found = chain(pid)
        return self._said(pid, clicking.browser(found, self._known(found), os.getuid()))

    def host(self, pid: int) -> bool:
        """Whether what comes through this program of the desktop can be."""
        if sys.platform != "linux":
            return not self.below(pid)
        found = chain(pid)
        first = self._agents.was_first(pid)
        return self._said(pid, clicking.host(found, self._known(found), os.getuid(), first=first))

    def _known(self, found: tuple[Seen, ...]) -> frozenset[int]:
        """Its number alone stands for all: who is above it was looked at, too."""
        pid = found[0].pid if found else 0
        belongs = descends_from_hook(pid, self._own) or self._agents.above(pid) or self._agents.beside(pid)
        return frozenset({pid} if belongs else ())

    def _said(self, pid: int, why: str) -> bool:
        if why:
            log.warning("a click by way of process %d does not count: %s", pid, why)
        return not why
