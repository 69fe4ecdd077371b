"""Decides whose clicks count, by what the kernel shows and by the agents that have sent events."""

from __future__ import annotations

import logging
import os
import sys
from typing import Protocol

from tray.approvals.callers.caller_facts import process_chain, start_time
from tray.approvals.callers.click_check import (
    BROWSER_CHECKS,
    HOST_CHECKS,
    ClickChecks,
    ClickFacts,
    ClickObjection,
    ClickRejection,
    find_objection,
)
from tray.approvals.callers.person import Proof, find_agent, find_trace
from tray.execution.ancestry import descent
from tray.execution.known_agents import KnownAgents
from tray.language import say

MAX_CONFIRMED = 64  # browsers and panels

log = logging.getLogger(__name__)


class StartedPrograms(Protocol):
    """The programs that the tray started to open files for the user."""

    def started(self, pid: int) -> bool: ...


class ClickTrust:
    """Judges a process by its id. Elsewhere than on Linux, only by which process started which."""

    def __init__(self, agents: KnownAgents, opener: StartedPrograms) -> None:
        self._agents = agents
        self._opener = opener
        self._own = os.getpid()
        self._confirmed: dict[tuple[int, str], None] = {}

    def confirm(self, pid: int) -> None:
        """Count clicks through this process until it ends: the user typed the passphrase."""
        self._confirmed[pid, start_time(pid)] = None
        if len(self._confirmed) > MAX_CONFIRMED:
            self._confirmed.pop(next(iter(self._confirmed)))

    def has_agent_ancestor(self, pid: int) -> bool:
        """True if this process is a hook or an agent, or is below one."""
        return descent(pid, self._own) is not None or self._agents.has_agent_above(pid)

    def may_open_page(self, pid: int) -> bool:
        """True if this process may open the page."""
        chain = process_chain(pid)
        return not self.has_agent_ancestor(pid) and not find_agent(chain, ()) and not find_trace(chain[:1])

    def browser_objection(self, pid: int) -> ClickRejection | None:
        """Returns why a click in this browser does not count; None if it does."""
        return self._objection(pid, BROWSER_CHECKS)

    def host_objection(self, pid: int) -> ClickRejection | None:
        """Returns why a click through this tray host or notification server does not count; None if it does."""
        return self._objection(pid, HOST_CHECKS)

    def is_trusted_host(self, pid: int) -> bool:
        """True if a click through this tray host or notification server counts."""
        return self.host_objection(pid) is None

    def _objection(self, pid: int, checks: ClickChecks) -> ClickRejection | None:
        if sys.platform != "linux":
            text = say("{who} belongs to an agent or a hook", who=f"process {pid}")
            found = ClickRejection(ClickObjection.AGENT, text) if self.has_agent_ancestor(pid) else None
        else:
            found = find_objection(self._facts(pid, os.getuid()), checks)
        if found and found.proof is Proof.PASSPHRASE and (pid, start_time(pid)) in self._confirmed:
            return None
        if found:
            why = found.detail or found.objection.title
            log.warning("a click through process %d does not count: %s", pid, why)
        return found

    def _facts(self, pid: int, uid: int) -> ClickFacts:
        # What the tray opened for the user is known by its process: Chromium overwrites its environment.
        below = descent(pid, self._own)
        is_hooks = below is not None and not self._opener.started(below.child)
        return ClickFacts(
            chain=process_chain(pid),
            uid=uid,
            is_agents=is_hooks or self._agents.has_agent_above(pid),
            predates_agents=self._agents.predates_agents(pid),
            shares_session=self._agents.shares_session(pid),
        )
