"""Whose clicks count: what the kernel shows of a process, and the agents that have knocked, put before the judges."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

from tray.approvals.callers import clicks
from tray.approvals.callers.ancestry import descends_from, descends_from_hook
from tray.approvals.callers.clicks import ClickObjection, ClickRejection
from tray.approvals.callers.known_agents import KnownAgents
from tray.approvals.callers.person import ProcessFacts, find_agent, process_label
from tray.ipc.procfs import process_chain
from tray.language import say

log = logging.getLogger(__name__)


class ClickTrust:
    """Asked with the number of a process. Only Linux shows enough to judge more than who started whom."""

    def __init__(self, agents: KnownAgents, opened: Callable[[int], bool]) -> None:
        """`opened` knows the processes that the tray started to open a file for the user."""
        self._agents = agents
        self._opened = opened
        self._own = os.getpid()

    def has_agent_ancestor(self, pid: int) -> bool:
        """Whether a hook or an agent is above this process."""
        return descends_from(pid, self._own) or self._agents.has_agent_above(pid)

    def may_open_page(self, pid: int) -> bool:
        """Whether it may have the page shown."""
        return not self.has_agent_ancestor(pid) and not find_agent(process_chain(pid), ())

    def browser_objection(self, pid: int) -> ClickRejection | None:
        """Why its request to the page is not a person's click; None when it can be one."""
        found = self._objection(pid)
        if found:
            log.warning("a click by way of process %d does not count: %s", pid, found.detail or found.objection.value)
        return found

    def _objection(self, pid: int) -> ClickRejection | None:
        who = f"process {pid}"
        if sys.platform != "linux":
            agents = say("{who} belongs to an agent or a hook", who=who)
            return ClickRejection(ClickObjection.AGENT, agents) if self.has_agent_ancestor(pid) else None
        seen = process_chain(pid)
        # What Chromium was started with cannot be read, so its own word is not asked for.
        known = descends_from_hook(pid, self._own, is_opened=self._opened) or self._agents.has_agent_above(pid)
        found = clicks.check_browser(seen, {pid} if known else (), os.getuid())
        if found is None and self._agents.shares_session(pid):
            text = say(
                "{who} was started after an agent, in the same terminal or service", who=process_label(seen[0])
            )
            return ClickRejection(ClickObjection.SHARED_SESSION, text)
        return found

    def is_trusted_host(self, pid: int) -> bool:
        """Whether what comes through this program of the desktop can be."""
        if sys.platform != "linux":
            return not self.has_agent_ancestor(pid)
        found = process_chain(pid)
        first = self._agents.predates_agents(pid)
        return self._log_rejection(
            pid, clicks.check_tray_host(found, self._known(found), os.getuid(), predates_agents=first)
        )

    def _known(self, found: tuple[ProcessFacts, ...]) -> frozenset[int]:
        """Its number alone stands for all: who is above it was looked at, too."""
        pid = found[0].pid if found else 0
        belongs = (
            descends_from_hook(pid, self._own)
            or self._agents.has_agent_above(pid)
            or self._agents.shares_session(pid)
        )
        return frozenset({pid} if belongs else ())

    def _log_rejection(self, pid: int, why: str) -> bool:
        if why:
            log.warning("a click by way of process %d does not count: %s", pid, why)
        return not why
