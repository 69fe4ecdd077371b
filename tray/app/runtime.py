"""The running tray: builds the user interface around the core, connects all parts, and stops them in order."""

from __future__ import annotations

import faulthandler
import gc
import time
from functools import partial

from tray.app.core import LiveFacts, TrayCore
from tray.app.shutdown import CLOSE_TIMEOUT
from tray.app.source_refresh import SourceRefresh
from tray.app.web import LiveMenu
from tray.approvals.callers.click_check import ClickTrust
from tray.approvals.controls import Controls
from tray.approvals.passphrase import Passphrase
from tray.desktop.alert_controller import AlertController
from tray.desktop.autostart import autostart
from tray.desktop.confirmed_clicks import ConfirmedClicks
from tray.desktop.icon import Icon, choose_icon
from tray.desktop.menu.recent import RECORD_LIMIT
from tray.desktop.menu_controller import MenuController
from tray.desktop.menu_parts import MenuParts
from tray.desktop.opener import Opener
from tray.desktop.presence import UserPresence
from tray.desktop.presenter import Presenter
from tray.desktop.session_focus import SessionFocus
from tray.doctor.agent_sites import failed_agents
from tray.doctor.live import LiveDoctor
from tray.doctor.reports import Reports
from tray.engine.approval_trials import Trials
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.ports import EngineOptions
from tray.engine.replay import LiveReplays
from tray.event_loop import LoopThread, QueueTimer
from tray.installation import welcome
from tray.installation.agents_menu import AgentsMenu
from tray.installation.connection_watch import ConnectionWatch
from tray.installation.lost_state import LostState
from tray.installation.state_folder import StateFolder
from tray.ipc.approval_requests import TerminalReviews
from tray.ipc.health import TrayHealth
from tray.ipc.requests import CommandRequests
from tray.ipc.slash_command import HooksCommand
from tray.ipc.terminal import TerminalPrompt
from tray.language import say
from tray.notify.alert import AlertSettings
from tray.sessions.call_audit import CallAudit
from tray.sessions.offline_rows import OfflineRows
from tray.sessions.presence_files import PresenceFiles
from tray.sessions.session_tracker import SessionTracker
from tray.threads import run_logged
from tray.web.page import WebPage
from tray.web.parts import PageParts

SESSION_DAYS = 7.0  # days that a session is remembered whose end was not reported


class App:
    """The running tray: its parts, and how they are connected. `core` is already judging events.

    Each `_make_` method uses what those before it made. A part that needs a later one has an attribute for it, which
    is set here before the work queue runs anything.
    """

    def __init__(
        self,
        core: TrayCore,
        folder: StateFolder,
        *,
        headless: bool,
        trust: type[ClickTrust],
    ) -> None:
        self._core = core
        self._paths, self._stores, self._catalog = core.paths, core.stores, core.catalog
        self._work, self._workers, self._events = core.work, core.workers, core.events
        self._agents, self._relay_files, self._shutdown_state = core.agents, core.relay_files, core.shutdown_state
        self._opener = Opener()
        self._click_trust = trust(self._agents, self._opener)
        self._is_first_start = welcome.create_config(self._paths)
        self._loop = LoopThread()
        self._refresh = SourceRefresh(core, self._loop.loop)
        self._timer = QueueTimer(self._loop.loop, self._work)
        self._doctor = LiveDoctor(self._paths, self._stores, self._catalog, self)
        self._make_sessions()
        self._make_alerts()
        self._make_lost_state(folder)
        self._make_controls()
        self._make_page()
        self._make_desktop()
        self._make_answers()
        self._make_icon(headless=headless)

    def _make_page(self) -> None:
        self._confirmed_clicks = ConfirmedClicks(self._click_trust, self._controls, self._alerts, self._work)
        self._page_menu = LiveMenu(self._core, self._refresh)
        settings = ConfirmedSettings(self._paths, self._stores, self._catalog)
        parts = PageParts(
            stores=self._stores,
            catalog=self._catalog,
            controls=self._controls,
            clicks=self._confirmed_clicks,
            replayer=LiveReplays(self._stores, EngineOptions(settings=settings, stop_signal=self._core.stop_signal)),
            menu=self._page_menu,
            board=self._sessions,
            windows=self._session_focus,
            questions=self._core.questions,
            opener=self._opener,
        )
        self._page = WebPage(self._loop.loop, parts, self._paths.state, self._core.page_address)
        self._events.page = self._session_focus.pages = self._page
        self._alert_controller.clicks = self._confirmed_clicks

    def _make_answers(self) -> None:
        requests = CommandRequests(
            self._controls,
            TerminalPrompt(self._click_trust, self._controls.passphrase),
            TerminalReviews(self._stores.copies, self._paths.reviews),
            tray=self,
            facts=LiveFacts(self._core, self),
            callers=self._click_trust,
            page=self._page,
            sessions=self._sessions,
            windows=self._session_focus,
            reports=Reports(self._paths, self._stores, self._catalog),
        )
        self.answer_command = requests.answer
        self.answer_slash_command = HooksCommand(self._controls, requests, self._doctor).answer

    def _make_lost_state(self, folder: StateFolder) -> None:
        self._offline_rows = OfflineRows(self._paths, self._stores.journal, self._alerts, self._events)
        self._lost_state = LostState(
            self._core,
            folder,
            self._loop.loop,
            self._alerts,
            self._opener,
            refresh=self._refresh,
            offline_rows=self._offline_rows,
            tray=self,
        )

    def _make_sessions(self) -> None:
        self._sessions = SessionTracker(self._stores.session_rows, self._agents, self._stores.journal)
        self._presence = UserPresence(self._catalog, self._sessions, self._loop.loop, self._work, self._workers)
        self._session_focus = SessionFocus(self._sessions, self._work, self._workers)

    def _make_alerts(self) -> None:
        self._alert_controller = AlertController(
            self._loop.loop,
            self._work,
            self._workers,
            self._stores,
            AlertSettings(self._catalog, self._stores.ledger, self._stores.switch),
            self._core.questions,
            deliveries=self._events,
            sessions=self._sessions,
            places=self._session_focus,
            presence=self._presence,
            timer=self._timer,
            opener=self._opener,
            folder=self._paths.state,
        )
        self._presence.start()
        self._presence_files = PresenceFiles(self._presence, self._timer)
        self.asking_agents = self._alert_controller.asking_agents
        self.question_seconds = self._alert_controller.question_seconds
        self.question_opened = self._alert_controller.question_opened
        self.question_closed = self._alert_controller.question_closed
        self._alerts = self._alert_controller.alerts
        self._events.sessions, self._events.presence_files = self._sessions, self._presence_files
        self._audit = CallAudit(
            self._paths,
            self._stores.journal,
            self._stores.switch,
            self._alerts,
            timer=self._timer,
            view=self._events,
        )
        self._session_focus.alerts = self._alerts
        self._events.alerts, self._events.refresh = self._alerts, self._refresh.throttled
        self._events.audit = self._audit

    def _make_controls(self) -> None:
        trials = Trials(
            self._paths,
            self._stores,
            workers=self._workers,
            alerts=self._alert_controller,
            refresh=self._refresh,
            stop_signal=self._core.stop_signal,
        )
        self._controls = Controls(
            switch=self._stores.switch,
            ledger=self._stores.ledger,
            catalog=self._catalog,
            passphrase=Passphrase(self._stores.ledger),
            announcer=self._alert_controller,
            refresh=self._refresh,
            trials=trials,
        )

    def _make_desktop(self) -> None:
        self._connections = ConnectionWatch(self._core, self._loop.loop, self._alerts, self._lost_state)
        self._lost_state.connections = self._connections
        journal = self._stores.journal
        agents_menu = AgentsMenu(
            self._paths,
            journal,
            self._opener,
            self._catalog,
            queue=self._work,
            workers=self._workers,
            alerts=self._alerts,
            entries=self._connections.entries,
        )
        parts = MenuParts(
            queue=self._work,
            workers=self._workers,
            alerts=self._alert_controller,
            messages=self._alerts,
            sessions=self._sessions,
            focus=self._session_focus,
            agents=agents_menu,
            doctor=self._doctor,
            audit=self._audit,
            lost_state=self._lost_state,
            connections=self._connections,
            journal=journal,
            page=self._page,
            login=autostart(self._paths),
            opener=self._opener,
            sources=self._refresh,
            tray=self._core,
        )
        recent = journal.recent(RECORD_LIMIT, brief=True)
        self._presenter = Presenter(controls=self._controls, catalog=self._catalog, recent=recent, parts=parts)
        agents_menu.view = self._presenter
        self._menu_controller = MenuController(
            presenter=self._presenter,
            controls=self._controls,
            catalog=self._catalog,
            copies=self._stores.copies,
            paths=self._paths,
            parts=parts,
        )
        self._confirmed_clicks.menu = self._menu_controller
        self._first_start = welcome.FirstStart(
            self._paths,
            agents_menu,
            self._alert_controller,
            self._work,
            self._presenter,
        )
        self._events.view = self._sessions.view = self._connections.view = self._presenter
        self._refresh.controls, self._refresh.alerts = self._controls, self._alert_controller
        self._refresh.lost_state, self._refresh.connections = self._lost_state, self._connections
        self._refresh.doctor, self._refresh.presenter = self._doctor, self._presenter
        self._page_menu.presenter, self._page_menu.controller = self._presenter, self._menu_controller
        self._alert_controller.menu, self._alert_controller.presenter = self._menu_controller, self._presenter

    def _make_icon(self, *, headless: bool) -> None:
        self._icon: Icon = choose_icon(self._loop.loop, self._confirmed_clicks, headless=headless)
        self._alert_controller.icon = self._icon
        if self._icon.reason:
            welcome.echo(self._icon.reason)

    def run(self) -> None:
        """Listen, then give the main thread to the icon until the tray quits."""
        gc.freeze()  # a full collection of the parts built so far would take 25 ms
        gc.enable()
        try:
            self._core.listen()
            self._lost_state.start(self._core.server.identity)
            self._work.post(self._begin)
            self._icon.run()
        finally:
            self._core.quit()  # when the icon ended by itself
            self._core.shutdown.join()

    def close(self) -> None:
        """In order: nothing new comes in, what runs ends, what happened is written down.

        `run` has waited for the hooks of events whose agent waits. What hangs now is dumped to stderr, and left.
        """
        faulthandler.dump_traceback_later(CLOSE_TIMEOUT, exit=True)
        self._shutdown_state.begin()
        self._shutdown_state.end_hooks()
        self._first_start.close()
        self._core.server.close()
        self._refresh.close()
        self._connections.close()
        self._lost_state.stop()
        self._core.turn_end.close()
        self._core.stop_signal.close()
        self._alert_controller.push.close()
        self._workers.join()
        self._core.background_processes.close()
        self._page.close()
        self._work.close()
        self._relay_files.write_last()
        self._presenter.close()
        self._presence_files.close()
        self._alert_controller.close()
        self._stores.journal.close()
        self._loop.close()
        faulthandler.cancel_dump_traceback_later()

    def stop_icon(self) -> None:
        self._icon.stop()

    def show_waiting(self) -> None:
        text = say("Quitting: waiting for running hooks. Quit again to end them")
        self._presenter.status_shown("quit", text)
        welcome.echo(text)

    def _begin(self) -> None:
        """Show the present state, and what the user has to read; a step that fails keeps no other from its turn.

        After a quit, what is left waits for the next start.
        """
        steps = (
            self._sessions.load,
            partial(self._presenter.attach, self._icon),
            self._connections.write_relay_files,
            self._connections.relay.announce_start,
            self._offline_rows.announce_rows,
            self._offline_rows.announce_unjudged,
            self._refresh.now,
            *((self._first_start.welcome,) if self._is_first_start else ()),
            self._catalog.prune,
            self._stores.journal.prune,
            partial(self._stores.sessions.prune, SESSION_DAYS),
            self._connections.check_lines,  # may take a while: what the user has to read does not wait for it
            gc.freeze,  # what exists by now stays: the collector need not scan it again and again
        )
        for step in steps:
            if not self._shutdown_state.begun:
                run_logged((step,), "a step of the start failed")

    def yield_to_other(self, reason: str) -> None:
        welcome.echo(reason)
        self._icon.stop()

    def request_refresh(self) -> None:
        self._refresh.throttled.request()

    @property
    def icon_name(self) -> str:
        """Which icon is on the screen now; "" when none is."""
        return self._icon.name if self._icon.visible else ""

    def health(self) -> TrayHealth:
        journal, incident = self._stores.journal, self._lost_state.incident
        problems, now = self._alert_controller.problems, time.monotonic()
        background = self._core.background_processes.alive()
        return {
            "icon": self.icon_name,
            "reason": self._icon.reason,
            "background": [(group, round(deadline - now, 1)) for group, deadline in background.items()],
            "late": journal.late_count,
            "journal": journal.problem,
            "notifications": problems["notifications"],
            "sound": problems["sound"],
            "push": problems["push"],
            "problems": [incident.row] if incident else [],
            "changes": [one.row for one in self._connections.entries.changes],
            "unanswered": self._connections.unanswered,
            "failed_agents": failed_agents(),
            "troubled": sorted(self._doctor.failing_hooks(self._alert_controller.failing_hooks)),
        }

    def journal_problem(self, text: str) -> None:
        if self._stores.database.is_marked_damaged:
            self._refresh.request()  # which raises the alert of a damaged database
        else:
            self._alerts.inform(say("The journal cannot be written"), text)
