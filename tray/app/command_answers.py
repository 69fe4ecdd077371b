"""Builds the tray's answers to commands, and to `/hooks` typed into an agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from tray.app.core import TrayCore
from tray.approvals.callers.click_trust import ClickTrust
from tray.approvals.controls import Controls
from tray.doctor.agent_sites import connected_agents
from tray.doctor.live import LiveDoctor
from tray.doctor.reports import Reports
from tray.ipc.approval_requests import TerminalReviews
from tray.ipc.health import TrayHealth
from tray.ipc.passphrase_change import PassphraseChange, TrayFacts
from tray.ipc.requests import UserRequests
from tray.ipc.slash_command import HooksCommand
from tray.ipc.terminal import TerminalPrompt
from tray.sessions.session_focus import SessionFocus
from tray.sessions.session_tracker import SessionTracker
from tray.store.lost_guards import LostGuards
from tray.web.page import WebPage

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


class CommandAnswers:
    """`answer` and `answer_slash_command` are called from any thread."""

    def __init__(
        self,
        core: TrayCore,
        controls: Controls,
        trust: ClickTrust,
        page: WebPage,
        doctor: LiveDoctor,
        sessions: SessionTracker,
        session_focus: SessionFocus,
        *,
        health: Callable[[], TrayHealth],
        icon_name: Callable[[], str],
    ) -> None:
        self._core = core
        prompt = TerminalPrompt(trust.has_agent_ancestor, controls.passphrase)
        tray = TrayFacts(
            heard_from_agents=self._heard_from_agents,
            has_desktop=lambda: bool(icon_name()) or _has_display(),
            is_state_lost=self._is_state_lost,
        )
        requests = UserRequests(
            controls,
            icon_name,
            prompt,
            TerminalReviews(core.stores.copies, core.paths.state / "reviews"),
            page.open,
            health,
            trust.may_open_page,
            lambda words: session_focus.go_now(sessions.find(words)),
            PassphraseChange(prompt, controls, tray),
            page.write_link,
            self._report,
            self._is_state_lost,
        )
        self.answer = requests.answer
        self.answer_slash_command = HooksCommand(controls, requests, doctor.summary)

    def _report(self, request: Mapping[str, object], health: Callable[[], TrayHealth]) -> Mapping[str, object]:
        return Reports(self._core.paths, self._core.stores, self._core.catalog).make(request, health)

    def _heard_from_agents(self) -> bool:
        """Whether an agent was ever connected or sent an event: such an agent may type into a terminal, too."""
        core = self._core
        return bool(core.agents.count or core.stores.journal.count() or connected_agents(core.paths))

    def _is_state_lost(self) -> bool:
        """True if approvals were lost and the user has not reviewed the loss."""
        database = self._core.stores.database
        return LostGuards(database).is_unreviewed or database.damage() is not None


def _has_display() -> bool:
    """True if the user can see a browser that the tray opens."""
    return sys.platform != "linux" or any(os.environ.get(name) for name in DISPLAYS)
