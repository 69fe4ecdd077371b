"""The parts of a tray that the requests of commands need, in one stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from house import House

from tray.approvals.callers.click_check import ClickTrust
from tray.approvals.callers.person import Judgement
from tray.approvals.controls import Controls
from tray.ipc.approval_requests import TerminalReviews
from tray.ipc.connection import CallerTerminal
from tray.ipc.health import HealthSource, TrayHealth
from tray.ipc.requests import CommandRequests
from tray.ipc.terminal import TerminalPrompt
from tray.model.session import Session
from tray.sessions.session_tracker import SessionTracker


class TrayParts:
    """A tray without an icon, a session or a report, whose callers are no agents. A test sets what differs."""

    icon_name = ""
    heard_from_agents = has_desktop = is_state_lost = False
    agents: frozenset[int] = frozenset()  # the processes that are one

    def health(self) -> TrayHealth:
        return {}

    def has_agent_ancestor(self, pid: int) -> bool:
        return pid in self.agents

    def may_open_page(self, pid: int) -> bool:
        return pid not in self.agents

    def open(self) -> Path:
        return Path("/page")

    def write_link(self) -> tuple[Path, int]:
        return self.open(), 1

    def find(self, words: str) -> Session:
        raise AssertionError("there is no session")

    def go_now(self, session: Session) -> str:
        raise AssertionError("there is no session")

    def make(self, request: Mapping[str, object], tray: HealthSource) -> Mapping[str, object]:
        return {}

    def summary(self) -> str:
        return "all is well"


class Nobody:
    """A terminal that no person sits at; to ask there would be a fault."""

    def judge(self, pid: int) -> Judgement:
        raise AssertionError("a prompt has no terminal")

    def confirm(self, pid: int, terminal: CallerTerminal, question: str) -> bool:
        raise AssertionError("a prompt has no terminal")


def reviews(house: House) -> TerminalReviews:
    return TerminalReviews(house.stores.copies, house.paths.state / "reviews")


def unattended_requests(house: House, controls: Controls) -> CommandRequests:
    """The requests that nobody can be asked about at a terminal."""
    parts = TrayParts()
    return CommandRequests(
        controls, cast(TerminalPrompt, Nobody()), reviews(house), tray=parts, facts=parts,
        callers=cast(ClickTrust, parts), page=parts, sessions=cast(SessionTracker, parts), windows=parts,
        reports=parts,
    )  # fmt: skip
