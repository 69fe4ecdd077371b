"""Whose clicks count: checks a process by what the kernel shows and by the agents that have sent events."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

from tray.approvals.callers import click_check
from tray.approvals.callers.click_check import ClickObjection, ClickRejection
from tray.approvals.callers.person import Judgement, ProcessFacts, Proof, find_agent, find_trace, process_label
from tray.execution.ancestry import descends_from, descends_from_hook
from tray.execution.known_agents import KnownAgents
from tray.ipc.caller_facts import process_chain, start_time
from tray.language import say

MAX_CONFIRMED = 64  # browsers and panels

log = logging.getLogger(__name__)


class ClickTrust:
    """Judges a process by its id. Only Linux shows enough to check more than which process started which."""

    def __init__(self, agents: KnownAgents, opened: Callable[[int], bool]) -> None:
        """`opened` is true of processes that the tray started to open a file for the user."""
        self._agents = agents
        self._opened = opened
        self._own = os.getpid()
        self._confirmed: dict[tuple[int, str], None] = {}

    def confirm(self, pid: int) -> None:
        """Count clicks by way of this process until it ends: its user gave the passphrase."""
        self._confirmed[pid, start_time(pid)] = None
        if len(self._confirmed) > MAX_CONFIRMED:
            self._confirmed.pop(next(iter(self._confirmed)))

    def _is_confirmed(self, pid: int) -> bool:
        return (pid, start_time(pid)) in self._confirmed

    def has_agent_ancestor(self, pid: int) -> bool:
        """Whether a hook or an agent is above this process."""
        return descends_from(pid, self._own) or self._agents.has_agent_above(pid)

    def may_open_page(self, pid: int) -> bool:
        """Whether it may have the page shown."""
        chain = process_chain(pid)
        return not self.has_agent_ancestor(pid) and not find_agent(chain, ()) and not find_trace(chain[:1])

    def browser_objection(self, pid: int) -> ClickRejection | None:
        """Why its request to the page is not a person's click; None when it can be one."""
        rejection = self._objection(pid)
        if rejection and rejection.proof is Proof.PASSPHRASE and self._is_confirmed(pid):
            return None
        if rejection:
            why = rejection.detail or rejection.objection.value
            log.warning("a click by way of process %d does not count: %s", pid, why)
        return rejection

    def _objection(self, pid: int) -> ClickRejection | None:
        who = f"process {pid}"
        if sys.platform != "linux":
            agents = say("{who} belongs to an agent or a hook", who=who)
            return ClickRejection(ClickObjection.AGENT, agents) if self.has_agent_ancestor(pid) else None
        chain = process_chain(pid)
        # Chromium's environment cannot be read, so it is not checked.
        known = descends_from_hook(pid, self._own, is_opened=self._opened) or self._agents.has_agent_above(pid)
        rejection = click_check.check_browser(chain, {pid} if known else (), os.getuid())
        if rejection is None and self._agents.shares_session(pid):
            text = say(
                "{who} was started after an agent, in the same terminal or service", who=process_label(chain[0])
            )
            return ClickRejection(ClickObjection.SHARED_SESSION, text)
        return rejection

    def judge_host(self, pid: int) -> Judgement:
        """Which proof a click needs that comes through this program of the desktop."""
        if sys.platform != "linux":
            agents = say("{who} belongs to an agent or a hook", who=f"process {pid}")
            return Judgement(Proof.REFUSED, agents) if self.has_agent_ancestor(pid) else Judgement(Proof.CLICK)
        chain = process_chain(pid)
        found = click_check.judge_tray_host(
            chain, self._known(chain), os.getuid(), predates_agents=self._agents.predates_agents(pid)
        )
        if found.proof is Proof.CLICK and self._agents.shares_session(pid):
            who = process_label(chain[0])
            reason = say("{who} was started after an agent, in the same terminal or service", who=who)
            found = Judgement(Proof.PASSPHRASE, reason)
        if found.proof is Proof.PASSPHRASE and self._is_confirmed(pid):
            return Judgement(Proof.CLICK)
        if found.reason:
            log.warning("a click by way of process %d does not count: %s", pid, found.reason)
        return found

    def is_trusted_host(self, pid: int) -> bool:
        """Whether a click that comes through this program of the desktop counts by itself."""
        return self.judge_host(pid).proof is Proof.CLICK

    def _known(self, chain: tuple[ProcessFacts, ...]) -> frozenset[int]:
        """The process, if it belongs to an agent or a hook; its ancestors are checked with it."""
        pid = chain[0].pid if chain else 0
        belongs = descends_from_hook(pid, self._own) or self._agents.has_agent_above(pid)
        return frozenset({pid} if belongs else ())
