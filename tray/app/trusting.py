"""Whose clicks count: what the kernel shows of a process, and the agents that have knocked, put before the judges."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

from tray.door.witness import chain
from tray.engine.callers import clicking
from tray.engine.callers.agents import Agents
from tray.engine.callers.ancestry import descends_from, descends_from_hook
from tray.engine.callers.clicking import Finding, Objection
from tray.engine.callers.people import Seen, called, from_agent
from tray.language import say

log = logging.getLogger(__name__)


class Trust:
    """Asked with the number of a process. Only Linux shows enough to judge more than who started whom."""

    def __init__(self, agents: Agents, opened: Callable[[int], bool]) -> None:
        """`opened` knows the processes that the tray started to open a file for the user."""
        self._agents = agents
        self._opened = opened
        self._own = os.getpid()

    def below(self, pid: int) -> bool:
        """Whether a hook or an agent is above this process."""
        return descends_from(pid, self._own) or self._agents.above(pid)

    def opens(self, pid: int) -> bool:
        """Whether it may have the page shown."""
        return not self.below(pid) and not from_agent(chain(pid), ())

    def browser(self, pid: int) -> Finding | None:
        """Why its request to the page is not a person's click; None when it can be one."""
        found = self._judged(pid)
        if found:
            log.warning("a click by way of process %d does not count: %s", pid, found.detail or found.objection.value)
        return found

    def _judged(self, pid: int) -> Finding | None:
        who = f"process {pid}"
        if sys.platform != "linux":
            agents = say("{who} belongs to an agent or a hook", who=who)
            return Finding(Objection.AGENT, agents) if self.below(pid) else None
        seen = chain(pid)
        # What Chromium was started with cannot be read, so its own word is not asked for.
        known = descends_from_hook(pid, self._own, opened=self._opened) or self._agents.above(pid)
        found = clicking.browser(seen, {pid} if known else (), os.getuid())
        if found is None and self._agents.beside(pid):
            text = say("{who} was started after an agent, in the same terminal or service", who=called(seen[0]))
            return Finding(Objection.BESIDE, text)
        return found

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
