"""The parts of the tray that the menu shows and controls, and what it needs of those that are in higher layers."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

import msgspec

from tray.approvals.controls import Refresh
from tray.desktop.alert_controller import AlertController
from tray.desktop.autostart import Autostart
from tray.desktop.menu.state import MenuAgent
from tray.desktop.opener import Opener
from tray.desktop.session_focus import SessionFocus
from tray.notify.service import AlertService
from tray.sessions.call_audit import CallAudit
from tray.sessions.session_tracker import SessionTracker
from tray.store.journal import Journal
from tray.threads import Queue, Workers


class MenuAgents(Protocol):
    """The AgentsMenu: the state of agents, and connecting them. Raises HooktrayError for what cannot be done.

    `refresh` reads `rows` again, with their previews. `apply` writes the preview with this digest, and returns what
    was done; `connect_all` does that for several agents. `review` shows a preview in full. `put_back` writes our
    entries again, or adds those that hooks need, and `leave` accepts the state with this digest.
    """

    def refresh(self) -> None: ...
    def rows(self) -> tuple[MenuAgent, ...]: ...
    def review(self, agent: str, *, connect: bool) -> None: ...
    def apply(self, agent: str, digest: str) -> str: ...
    def connect_all(self, digests: Collection[str]) -> str: ...
    def probe(self, agent: str) -> None: ...
    def put_back(self, agent: str) -> str: ...
    def leave(self, agent: str, digest: str) -> str: ...
    def show(self) -> None: ...


class MenuDoctor(Protocol):
    """The LiveDoctor."""

    def failing_hooks(self, failed: frozenset[str]) -> frozenset[str]: ...
    def report(self) -> Path: ...


class MenuIncident(Protocol):
    """What happened to the state folder."""

    @property
    def headline(self) -> str: ...


class MenuLostState(Protocol):
    """The LostState: `incident` is there until the user has read it."""

    @property
    def incident(self) -> MenuIncident | None: ...
    def show(self) -> None: ...


class MenuConnections(Protocol):
    """The ConnectionWatch: `problem` is why agents get no answer; "" if they do."""

    @property
    def problem(self) -> str: ...


class MenuPage(Protocol):
    """The WebPage: opens a decision by its id, or another place. Raises HooktrayError if no program can open it."""

    def open(self, place: str) -> object: ...


class QuittableTray(Protocol):
    """The TrayCore."""

    def quit_by_person(self) -> None: ...


class MenuParts(msgspec.Struct, frozen=True, kw_only=True):
    """What the menu shows and controls. The presenter's thread, which is that of `queue`, calls all of it."""

    queue: Queue
    workers: Workers
    alerts: AlertController
    messages: AlertService
    sessions: SessionTracker
    focus: SessionFocus
    agents: MenuAgents
    doctor: MenuDoctor
    audit: CallAudit
    lost_state: MenuLostState
    connections: MenuConnections
    journal: Journal
    page: MenuPage
    login: Autostart
    opener: Opener
    sources: Refresh
    tray: QuittableTray
