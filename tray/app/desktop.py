"""Builds the tray's desktop part: what the menu shows, and what its rows do."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from tray.app import Stores
from tray.app.agent_sites import hooks_in_question, last_events, recorded_sessions
from tray.app.agents_menu import AgentsMenu
from tray.app.alert_controller import AlertController
from tray.app.connect_service import ConnectService
from tray.app.database_recovery import DatabaseRecovery
from tray.app.entry_watch import EntryWatch
from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.desktop.autostart import autostart
from tray.desktop.linux import collapses_submenus
from tray.desktop.menu import SHOWN_RECORDS, AlertsState, MenuQuestion
from tray.desktop.menu_controller import MenuController
from tray.desktop.menu_services import MenuServices
from tray.desktop.presenter import Presenter
from tray.engine.sentence import tool_text
from tray.engine.user_questions import UserQuestion
from tray.model.session import Session
from tray.paths import Paths


def build_desktop(
    paths: Paths,
    stores: Stores,
    catalog: HookCatalog,
    controls: Controls,
    alerts: AlertController,
    *,
    post: Callable[[Callable[[], None]], None],
    open_file: Callable[[Path], None],
    open_page: Callable[[str], object],
    failing_hooks: Callable[[], Collection[str]],
    spawn: Callable[[Callable[[], object]], object],
    run_doctor: Callable[[], object],
    incident: Callable[[], str],
    show_incident: Callable[[], None],
    quit: Callable[[], object],
    recovery: DatabaseRecovery,
    entries: EntryWatch,
    keep_records: Callable[[], None],
    sessions: Callable[[], tuple[Session, ...]],
    go_to_session: Callable[[str, str], None],
) -> tuple[Presenter, MenuController, AgentsMenu]:
    """What the user sees, and what a click does. What else the menu needs is added to `services`."""
    agents = AgentsMenu(
        ConnectService(
            paths,
            last_events(stores.journal),
            open_file,
            recorded_sessions(stores.journal),
            keep_records,
            lambda: hooks_in_question(catalog),
        ),
        spawn=spawn,
        changed=lambda: post(presenter.show),
        inform=lambda title, text: post(lambda: alerts.alerts.inform(title, text)),
        entries=entries,
    )
    services = MenuServices(
        alerts=lambda: _alerts_state(alerts),
        flat=collapses_submenus(os.environ),
        failing_hooks=lambda: len(failing_hooks()),
        dropped_rows=lambda: stores.journal.dropped,
        sessions=sessions,
        go_to_session=go_to_session,
        questions=lambda: tuple(_question(one) for one in alerts.open_questions),
        answer=alerts.answer,
        snooze=alerts.snooze,
        end_snooze=alerts.end_snooze,
        set_quiet_hours=alerts.set_quiet_hours,
        show_deferred=alerts.show_deferred,
        login=autostart(paths),
        open_configuration=partial(open_file, paths.config),
        open_page=lambda: open_page(""),
        open_decision=open_page,
        doctor=run_doctor,
        incident=incident,
        show_incident=show_incident,
        damage=lambda: recovery.headline,
        review_batch=recovery.show,
        has_passphrase=lambda: controls.passphrase.is_set,
        agents=agents,
        quit=quit,
    )
    recent = stores.journal.recent(SHOWN_RECORDS, brief=True)
    presenter = Presenter(controls=controls, catalog=catalog, recent=recent, post=post, services=services)
    controller = MenuController(
        presenter=presenter,
        controls=controls,
        catalog=catalog,
        copies=stores.copies,
        reviews=paths.state / "reviews",
        inform=alerts.alerts.inform,
        open_file=open_file,
        services=services,
    )
    return presenter, controller, agents


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
