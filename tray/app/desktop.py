"""Builds the tray's desktop part: what the menu shows, and what its rows and the buttons of alerts do."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from tray.app.core import TrayCore
from tray.approvals.controls import Controls
from tray.desktop.alert_controller import AlertController
from tray.desktop.autostart import autostart
from tray.desktop.linux import collapses_submenus
from tray.desktop.menu import (
    SHOWN_RECORDS,
    AlertsState,
    MenuQuestion,
)
from tray.desktop.menu_controller import MenuController
from tray.desktop.menu_services import MenuServices
from tray.desktop.opener import Opener
from tray.desktop.presenter import Presenter
from tray.engine.sentence import tool_text
from tray.engine.user_questions import UserQuestion
from tray.installation.agents_menu import AgentsMenu
from tray.installation.connect_service import ConnectService
from tray.installation.entry_watch import EntryWatch
from tray.model.session import Session


class DesktopPorts(msgspec.Struct, frozen=True, kw_only=True):
    """What the menu gets from other parts of the tray; called on the presenter's thread, to which `post` leads."""

    post: Callable[[Callable[[], None]], None]
    spawn: Callable[[Callable[[], object]], object]
    open_file: Callable[[Path], None]
    open_page: Callable[[str], object]
    failing_hooks: Callable[[], int]
    unjudged: Callable[[], int]
    run_doctor: Callable[[], object]
    incident: Callable[[], str]
    show_incident: Callable[[], None]
    quit: Callable[[], object]
    sessions: Callable[[], tuple[Session, ...]]
    go_to_session: Callable[[str, str], None]


def build_desktop(
    core: TrayCore,
    controls: Controls,
    alerts: AlertController,
    ports: DesktopPorts,
    *,
    entries: EntryWatch,
    opener: Opener,
) -> tuple[Presenter, MenuController, AgentsMenu]:
    """What the user sees, and what a click does. What else the menu needs is added to `_services`."""
    agents = AgentsMenu(
        _connect_service(core, opener),
        core.work,
        core.workers,
        alerts.alerts,
        entries,
    )
    services = _services(core, controls, alerts, ports, agents)
    recent = core.stores.journal.recent(SHOWN_RECORDS, brief=True)
    presenter = Presenter(controls=controls, catalog=core.catalog, recent=recent, post=ports.post, services=services)
    agents.view = presenter
    controller = MenuController(
        presenter=presenter,
        controls=controls,
        catalog=core.catalog,
        copies=core.stores.copies,
        reviews=core.paths.state / "reviews",
        inform=alerts.alerts.inform,
        open_file=ports.open_file,
        services=services,
    )
    return presenter, controller, agents


def _connect_service(core: TrayCore, opener: Opener) -> ConnectService:
    journal = core.stores.journal
    return ConnectService(
        core.paths,
        journal,
        opener,
        core.catalog,
    )


def _services(
    core: TrayCore,
    controls: Controls,
    alerts: AlertController,
    ports: DesktopPorts,
    agents: AgentsMenu,
) -> MenuServices:
    return MenuServices(
        alerts=lambda: _alerts_state(alerts),
        flat=collapses_submenus(os.environ),
        failing_hooks=ports.failing_hooks,
        unjudged=ports.unjudged,
        dropped_rows=lambda: core.stores.journal.dropped,
        sessions=ports.sessions,
        go_to_session=ports.go_to_session,
        questions=lambda: tuple(_question(one) for one in alerts.open_questions),
        answer=alerts.answer,
        snooze=alerts.snooze,
        end_snooze=alerts.end_snooze,
        set_quiet_hours=alerts.set_quiet_hours,
        show_deferred=alerts.show_deferred,
        login=autostart(core.paths),
        open_configuration=partial(ports.open_file, core.paths.config),
        open_page=lambda: ports.open_page(""),
        open_decision=ports.open_page,
        doctor=ports.run_doctor,
        incident=ports.incident,
        show_incident=ports.show_incident,
        has_passphrase=lambda: controls.passphrase.is_set,
        agents=agents,
        quit=ports.quit,
    )


def _alerts_state(alerts: AlertController) -> AlertsState:
    return AlertsState(
        snoozable=True,
        snoozed_until=alerts.snoozed_until,
        quiet_hours=alerts.quiet_hours,
        quiet_hours_on=alerts.quiet_hours_on,
        sound_pack=alerts.sound_pack,
        deferred=alerts.deferred,
    )


def _question(one: UserQuestion) -> MenuQuestion:
    event = one.event
    return MenuQuestion(
        id=one.id,
        agent=event.agent,
        project=event.project,
        subject=tool_text(event),
        session=event.session,
        is_form=one.form is not None,
    )
