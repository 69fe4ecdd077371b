"""Builds the tray's desktop part: what the menu shows, and what its rows and the buttons of alerts do."""

from __future__ import annotations

from tray.app.core import TrayCore
from tray.approvals.controls import Controls, Refresh
from tray.desktop.alert_controller import AlertController
from tray.desktop.autostart import autostart
from tray.desktop.menu.recent import RECORD_LIMIT
from tray.desktop.menu_controller import MenuController
from tray.desktop.menu_parts import MenuParts
from tray.desktop.opener import Opener
from tray.desktop.presenter import Presenter
from tray.desktop.session_focus import SessionFocus
from tray.doctor.live import LiveDoctor
from tray.installation.agents_menu import AgentsMenu
from tray.installation.connect_service import ConnectService
from tray.installation.connection_watch import ConnectionWatch
from tray.installation.lost_state import LostState
from tray.sessions.call_audit import CallAudit
from tray.sessions.session_tracker import SessionTracker
from tray.web.page import WebPage


def build_desktop(
    core: TrayCore,
    controls: Controls,
    alerts: AlertController,
    *,
    sessions: SessionTracker,
    focus: SessionFocus,
    doctor: LiveDoctor,
    audit: CallAudit,
    lost_state: LostState,
    connections: ConnectionWatch,
    page: WebPage,
    opener: Opener,
    sources: Refresh,
) -> tuple[Presenter, MenuController, AgentsMenu]:
    """Builds what shows the state, what carries out clicks, and the agents of the menu."""
    journal = core.stores.journal
    agents = AgentsMenu(
        ConnectService(core.paths, journal, opener, core.catalog),
        core.work,
        core.workers,
        alerts.alerts,
        connections.entries,
    )
    parts = MenuParts(
        queue=core.work,
        workers=core.workers,
        alerts=alerts,
        messages=alerts.alerts,
        sessions=sessions,
        focus=focus,
        agents=agents,
        doctor=doctor,
        audit=audit,
        lost_state=lost_state,
        connections=connections,
        journal=journal,
        page=page,
        login=autostart(core.paths),
        opener=opener,
        sources=sources,
        tray=core,
    )
    recent = journal.recent(RECORD_LIMIT, brief=True)
    presenter = Presenter(controls=controls, catalog=core.catalog, recent=recent, parts=parts)
    agents.view = presenter
    controller = MenuController(
        presenter=presenter,
        controls=controls,
        catalog=core.catalog,
        copies=core.stores.copies,
        paths=core.paths,
        parts=parts,
    )
    return presenter, controller, agents
