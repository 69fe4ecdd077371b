"""The running tray: builds the user interface around the core, connects all parts, and stops them in order."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import logging
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tray.app import relay_watch, unjudged_calls, welcome
from tray.app.agent_sites import (
    connected_agents,
    hooks_in_question,
    reading_site,
    site,
)
from tray.app.alert_controller import AlertController, text_file
from tray.app.alert_ports import AlertActions, AlertPorts
from tray.app.checks.live import LiveDoctor, runtime_health
from tray.app.click_trust import ClickTrust
from tray.app.confirmed_clicks import ConfirmedClicks
from tray.app.core import TrayCore
from tray.app.database_recovery import DatabaseRecovery
from tray.app.desktop import build_desktop
from tray.app.entry_watch import EntryWatch
from tray.app.file_watch import FileWatch, FolderWatch
from tray.app.native_hooks import native_hooks
from tray.app.presence_files import PresenceFiles
from tray.app.relay_watch import RelayWatch
from tray.app.session_focus import SessionFocus
from tray.app.session_tracker import SessionTracker, dropped_place
from tray.app.shutdown import CLOSE_TIMEOUT
from tray.app.state_folder import LOCK, StateFolder
from tray.app.state_recovery import Incident, StateRecovery
from tray.app.terminal_question import TerminalQuestion
from tray.app.trials import Trials
from tray.app.web import build_page
from tray.approvals import guarded_settings
from tray.approvals.consent import Consent
from tray.approvals.controls import Controls
from tray.approvals.passphrase import Passphrase
from tray.desktop.icon import Icon, choose_icon, show_balloon
from tray.desktop.menu import (
    Action,
    ConnectAll,
    LeaveEntries,
    OpenPage,
    PutEntriesBack,
    Review,
    ReviewBatch,
    ShowAgents,
    ShowReason,
)
from tray.desktop.opener import Opener
from tray.desktop.wayland_idle import IdleWatch
from tray.engine.user_questions import QuestionResult, UserQuestion
from tray.errors import HooktrayError, StoreError
from tray.ipc.approval_requests import TerminalReviews
from tray.ipc.passphrase_change import PassphraseChange
from tray.ipc.requests import UserRequests
from tray.ipc.slash_command import HooksCommand
from tray.ipc.terminal import TerminalPrompt
from tray.language import say
from tray.model.place import Place
from tray.notify.alert import mute_classes
from tray.notify.alert_gate import Attention
from tray.notify.policy import state_folder_lost
from tray.settings import Settings
from tray.store.ledger import LedgerState
from tray.store.switch import SwitchState
from tray.text import sanitise
from tray.threads import LoopThread, ThrottledCall
from tray.web.page import QUESTION

if TYPE_CHECKING:
    from tray.ipc.health import TrayHealth

REFRESH_SECONDS = 1.0  # seconds between two refreshes of the sources while events come in
AGENTS_SECONDS = 1.0  # seconds, at least, between two readings of all agents' files for menu and page
PINNED_AT_START = "noted at start"  # the channel of rows about programs of hooks that were approved before
ICON_SECONDS = 0.5  # seconds, at most, that other work waits at the start until the icon is on the screen
KEEP_TIMEOUT = 10.0  # seconds that a command waits until what it recorded is held
SESSION_DAYS = 7.0  # days that a session is remembered whose end was not reported

log = logging.getLogger(__name__)


class App:
    """The running tray: its parts, and how they are connected. `core` is already judging events."""

    def __init__(
        self,
        core: TrayCore,
        folder: StateFolder,
        *,
        headless: bool,
        echo: Callable[[str], None],
        trust: type[ClickTrust],
    ) -> None:
        self._core = core
        self._paths, self._stores, self._catalog = core.paths, core.stores, core.catalog
        self._work, self._workers, self._events = core.work, core.workers, core.events
        self._agents, self._relay_files, self._shutdown_state = core.agents, core.relay_files, core.shutdown_state
        self._echo = echo
        self._opener = Opener()
        # The settings, ledger and switch that the alerts' settings were made from, and the result.
        self._known_settings: tuple[Settings, LedgerState, SwitchState, Settings] | None = None
        self._click_trust = trust(self._agents, self._opener.started)
        self._first_start = welcome.create_config(self._paths)
        self._loop = LoopThread()
        self._throttled_refresh = ThrottledCall(self._loop.loop, self._changed, REFRESH_SECONDS)
        self._throttled_agents = ThrottledCall(
            self._loop.loop, lambda: self._work.post(self._read_agents), AGENTS_SECONDS
        )
        self._watch = FileWatch(self._loop.loop, self._changed)
        self._make_state_recovery(folder)
        self._doctor = LiveDoctor(self._paths, self._stores, self._catalog, self._health)
        self._make_sessions()
        self._make_alerts()
        self._make_controls()
        self._make_page()
        self._make_desktop(headless=headless)
        self._make_requests()
        if self._icon.reason:
            echo(self._icon.reason)

    def _make_page(self) -> None:
        self._confirmed_clicks = ConfirmedClicks(
            self._click_trust, self._controls, post=self._work.post, inform=self._alerts.inform, act=self._act
        )
        threads = (self._loop, self._work)
        self._page = build_page(
            self._paths,
            self._stores,
            self._catalog,
            self._controls,
            threads,
            self._refresh,
            self._click_trust.browser_objection,
            self._confirmed_clicks.confirm_browser,
            self._opener.open,
            self._core.stop_signal,
            lambda: (self._presenter, self._menu_controller),
            sessions=lambda: self._sessions.sessions,
            go_to_session=self._session_focus.go,
            questions=self._alert_controller.questions,
            address=self._core.page_address,
        )
        self._events.page = self._page

    def _make_requests(self) -> None:
        self._terminals = TerminalPrompt(self._click_trust.has_agent_ancestor, self._controls.passphrase)
        self._requests = UserRequests(
            self._controls,
            self._icon_name,
            self._terminals,
            TerminalReviews(self._stores.copies, self._paths.state / "reviews"),
            self._page.open,
            self._health,
            self._click_trust.may_open_page,
            lambda words: self._session_focus.go_now(self._sessions.find(words)),
            PassphraseChange(self._terminals, self._controls, self._heard_from_agents),
            self._keep_records,
            self._page.write_link,
            self._report,
        )
        self.answer_command = self._requests.answer
        self.answer_slash_command = HooksCommand(self._controls, self._requests, self._doctor.summary)

    def _report(self, request: Mapping[str, object], health: Callable[[], TrayHealth]) -> Mapping[str, object]:
        from tray.app.reports import Reports  # not needed to start

        return Reports(self._paths, self._stores, self._catalog).make(request, health)

    def _heard_from_agents(self) -> bool:
        """Whether an agent was ever connected, or sent an event: then one may type into a terminal."""
        return bool(self._agents.count or self._stores.journal.count() or connected_agents(self._paths))

    def _make_state_recovery(self, folder: StateFolder) -> None:
        paths = self._paths
        names = (LOCK, paths.socket.name, paths.database.name, paths.copies.name, paths.relay_conf.name)
        self._folder_watch = FolderWatch(self._loop.loop, paths.state, names, lambda: self._work.post(self._recover))
        self._state_recovery = StateRecovery(
            paths,
            self._stores,
            self._catalog,
            folder,
            self._core.rescue,
            listen=self._core.server.rebind,
            write_relay_conf=self._relay_files.write,
            announce=self._announce_incident,
            on_conflict=self._yield_to_other,
            retry=self._folder_watch.schedule,
            watch=self._folder_watch.rearm,
            shutdown_state=self._shutdown_state,
        )

    def _make_sessions(self) -> None:
        self._sessions = SessionTracker(
            self._stores.session_rows,
            self._agents.process_behind,
            on_waiting=lambda: self._presenter.show(),  # a refresh of the sources may be far off
            on_dropped=lambda event, names: self._stores.journal.append(dropped_place(event, names), commit=False),
        )
        self._session_focus = SessionFocus(
            self._sessions.get,
            spawn=self._workers.spawn,
            inform=lambda title, text: self._work.post(lambda: self._alerts.inform(title, text)),
            open_page=lambda agent, session: self._page.open(session=(agent, session)),
        )

    def _make_alerts(self) -> None:
        self._alert_controller = AlertController(
            self._loop.loop,
            self._work.post,
            self._alert_ports(),
            self._core.questions,
            snoozed_until=self._stores.switch.state().snoozed_until,
            secrets=self._paths.state,
        )
        self._idle_watch = IdleWatch(self._loop.loop, os.environ)
        self._idle_watch.start()
        self._presence_files = PresenceFiles(
            lambda answer: self._look("", "", lambda found: answer(found.is_away)), self._alert_controller.after
        )
        self._alerts = self._alert_controller.alerts
        self._events.sessions, self._events.presence_files = self._sessions, self._presence_files
        self._events.alerts, self._events.refresh = self._alerts, self._throttled_refresh

    def _alert_ports(self) -> AlertPorts:
        return AlertPorts(
            settings=self._alert_settings,
            ask_agents=lambda: guarded_settings.desktop_agents(
                self._catalog.configuration.settings, self._stores.ledger.state
            ),
            muted=lambda: self._stores.switch.state().muted,
            on_delivery=self._events.alerted,
            icon_visible=lambda: self._icon.visible,
            show_balloon=lambda title, text: show_balloon(self._icon, title, text),
            trusts=self._click_trust.is_trusted_host,
            rejected=lambda pid, work: self._confirmed_clicks.button_rejected(pid, work),
            is_first=self._stores.journal.is_first,
            keep_snooze=self._stores.switch.snooze,
            can_focus=self._session_focus.can_focus,
            look=self._look,
            is_headless=self._sessions.is_headless,
            session_name=self._sessions.name,
            spawn=self._workers.spawn,
        )

    def _alert_settings(self) -> Settings:
        """The settings in force, without the classes that the menu turned off; made again when a source changed."""
        settings, ledger = self._catalog.configuration.settings, self._stores.ledger.state
        switch = self._stores.switch.current
        known = self._known_settings
        if known is None or known[0] is not settings or known[1] is not ledger or known[2] is not switch:
            found = mute_classes(self._catalog.settings_in_force, switch.muted_classes)
            known = self._known_settings = settings, ledger, switch, found
        return known[3]

    def _make_controls(self) -> None:
        trials = Trials(
            self._paths,
            self._stores,
            spawn=self._workers.spawn,
            failed=self._alert_controller.trial_failed,
            changed=self._changed,
            stop_signal=self._core.stop_signal,
        )
        self._consent = Consent(self._stores.ledger, self._catalog)
        self._controls = Controls(
            passphrase=Passphrase(self._stores.ledger),
            switch=self._stores.switch,
            consent=self._consent,
            catalog=self._catalog,
            announce=self._alert_controller.switched,
            redraw=self._changed,
            approved=trials.approved,
            describe_trial=trials.describe,
        )

    def _make_desktop(self, *, headless: bool) -> None:
        reviews = self._paths.state / "reviews"
        self._database_recovery = DatabaseRecovery(
            self._stores, self._controls, reviews, self._alerts, self._opener.open
        )
        self._make_entry_watch()
        self._question = TerminalQuestion(lambda digests: self._work.post(lambda: self._connect_all(digests)))
        self._presenter, self._menu_controller, self._agents_menu = build_desktop(
            self._paths,
            self._stores,
            self._catalog,
            self._controls,
            self._alert_controller,
            post=self._work.post,
            open_file=self._opener.open,
            open_page=self._page.open,
            failing_hooks=lambda: self._doctor.failing_hooks(self._alert_controller.failing_hooks),
            spawn=self._workers.spawn,
            run_doctor=lambda: self._workers.spawn(self._run_doctor),
            incident=self._incident_brief,
            show_incident=self._show_incident,
            quit=self._quit_by_person,
            recovery=self._database_recovery,
            entries=self._entry_watch,
            keep_records=self._keep_records,
            sessions=lambda: self._sessions.sessions,
            go_to_session=self._session_focus.go,
        )
        self._events.view = self._presenter
        self._alert_controller.actions = self._alert_actions(reviews)
        self._presenter.pause_ended = self._changed  # the relay's guards count again
        self._icon: Icon = choose_icon(
            self._loop.loop,
            self._act,
            self._opened,
            headless=headless,
            environment=os.environ,
            trusts=self._click_trust.is_trusted_host,
            rejected=self._confirmed_clicks.menu_rejected,
        )

    def _alert_actions(self, reviews: Path) -> AlertActions:
        act = self._menu_controller.act
        return AlertActions(
            show_review=lambda key, digest: act(Review(key, digest)),
            show_batch=lambda: act(ReviewBatch()),
            show_reason=lambda record: act(ShowReason(record)),
            show_form=lambda question: act(OpenPage(f"{QUESTION}{question}")),
            show_text=lambda name, text: self._opener.open(text_file(reviews, name, text)),
            show_agents=lambda: act(ShowAgents()),
            go_to_session=self._session_focus.go,
            asked=self._sessions.asked,
            put_back=lambda agent: act(PutEntriesBack(agent)),
            leave=lambda agent, digest: act(LeaveEntries(agent, digest)),
            connect_all=lambda digests: act(ConnectAll(digests)),
            redraw=self._presenter.show,
        )

    def _make_entry_watch(self) -> None:
        self._settings_watch = FileWatch(self._loop.loop, lambda: self._work.post(self._check_entries))
        self._entry_watch = EntryWatch(
            lambda: reading_site(self._paths, hooks_in_question(self._catalog)),
            lambda: site(self._paths, Path.home(), hooks=hooks_in_question(self._catalog)),
            self._stores.ledger,
            self._alerts,
            recheck=self._settings_watch.schedule,
            watch=lambda files: self._settings_watch.watch((*files, *relay_watch.files(self._paths))),
            changed=self._show_agents,
        )
        self._relay_watch = RelayWatch(
            self._paths,
            self._stores.database,
            self._alerts,
            recheck=self._settings_watch.schedule,
            changed=lambda: self._presenter.show(),
            at_start=self._core.altered_relay,
        )
        self._relay_files.is_altered = lambda: self._relay_watch.is_pending

    def _show_agents(self) -> None:
        """Our entries in the agents' settings may be others."""
        self._throttled_agents.request()
        self._presenter.show()

    def _read_agents(self) -> None:
        """Read again what menu and page show of agents, and whose guards the relay's table has."""
        self._presenter.opened()
        self._write_relay_files()

    def _write_relay_files(self) -> None:
        with contextlib.suppress(OSError):  # the folder is gone: the state recovery reports it
            self._relay_files.write()

    def run(self) -> None:
        """Listen, then give the main thread to the icon until the tray quits."""
        gc.freeze()  # a full collection of the parts built so far would take 25 ms
        gc.enable()
        try:
            self._core.listen()
            self._state_recovery.start(self._core.server.identity)
            self._work.post(self._begin)
            self._icon.run()
        finally:
            self._core.quit()  # when the icon ended by itself
            self._core.shutdown.join()

    def _quit_by_person(self) -> None:
        """The next event must not start a tray that the user quit."""
        if self._core.activation is not None:
            self._core.activation.stop_listening()
        self._core.quit()

    def close(self) -> None:
        """In order: nothing new comes in, what runs ends, what happened is written down.

        `run` has waited for the hooks of events whose agent waits. What hangs now is dumped to stderr, and left.
        """
        faulthandler.dump_traceback_later(CLOSE_TIMEOUT, exit=True)
        self._shutdown_state.begin()
        self._shutdown_state.end_hooks()
        self._question.close()
        self._terminals.close()
        self._core.server.close()
        self._watch.close()
        self._settings_watch.close()
        self._folder_watch.close()
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
        self._state_recovery.close()
        self._loop.close()
        faulthandler.cancel_dump_traceback_later()

    def begin_quit(self) -> None:
        self._terminals.close()

    def stop_icon(self) -> None:
        self._icon.stop()

    def show_waiting(self) -> None:
        text = say("Quitting: waiting for running hooks. Quit again to end them")
        self._presenter.status_shown("quit", text)
        self._echo(text)

    def _look(self, agent: str, session: str, answer: Callable[[Attention], None]) -> None:
        """Whether the user looks at a session; "" asks only whether the user is there. Answers on the work thread."""
        found = self._sessions.get(agent, session) if agent else None
        place = found.place if found else Place()
        seconds = self._catalog.settings_in_force.away_after * 60

        def work() -> None:
            from tray.desktop.presence import attention  # not needed to start

            seen = attention(place, seconds, watched=self._idle_watch.seconds)
            self._work.post(lambda: answer(seen))

        self._workers.spawn(work)

    def _begin(self) -> None:
        """Show the present state, and what a person has to read."""
        if self._shutdown_state.begun:  # what a person is to read waits for the next start
            return
        self._sessions.load()
        self._presenter.attach(self._icon)
        self._icon.wait_visible(ICON_SECONDS)  # what follows would take processor time from the icon
        self._write_relay_files()
        self._relay_watch.announce_start()
        self._alert_controller.announce_offline(self._stores)
        unjudged_calls.announce(self._paths, self._stores.journal, self._alert_controller.alerts)
        self._refresh()
        if self._first_start:
            self._welcome()
        self._catalog.prune()
        self._stores.journal.prune()
        self._stores.sessions.prune(SESSION_DAYS)
        gc.freeze()  # what exists by now stays: the collector need not scan it again and again

    def _refresh_again(self) -> None:
        """Refresh, and delay the next refresh by its cost; the first one imports much, so it is not counted."""
        started = time.thread_time()  # the time of other threads does not count
        self._refresh()
        self._throttled_refresh.record_cost(time.thread_time() - started)

    def _refresh(self) -> None:
        """Read the sources again; whatever newly waits for the user is announced."""
        problem = self._catalog.configuration.problem
        self._state_recovery.check()
        self._catalog.refresh()
        self._alert_controller.announce_tampering(self._stores)
        self._database_recovery.refresh()
        batch = {one.key for one in self._controls.batch.hooks}
        if not self._catalog.configuration.problem:
            with contextlib.suppress(StoreError):  # the next refresh tries again
                guarded_settings.record_additions(self._catalog.configuration.settings, self._stores.ledger)
                self._consent.pin_earlier(PINNED_AT_START)
                self._controls.follow_agents()
                self._controls.follow_connections(native_hooks(self._paths, self._catalog.states))
        for state in self._catalog.take_new():
            if state.key not in batch:  # those have one alert for all of them
                self._alerts.hook_waiting(state)
        settings = [one for one in self._catalog.settings() if one.waiting]
        for setting in settings:
            self._alerts.setting_waiting(setting)
        hooks = {one.key for one in self._catalog.states if one.waiting}
        self._alerts.withdraw_except({*hooks, *(one.id for one in settings)})
        if self._catalog.configuration.problem not in ("", problem):
            self._alerts.config_broken(self._catalog.configuration.problem)
            log.warning("the configuration is broken: %s", sanitise(self._catalog.configuration.problem, 1000))
        self._alert_controller.push.refresh()
        self._alerts.source_warnings(self._catalog.configuration.warnings)
        self._check_entries()
        self._write_relay_files()
        self._watch.watch((self._paths.config, *self._catalog.watched))
        self._doctor.refresh()
        self._presenter.show()

    def _recover(self) -> None:
        """Something happened to the state folder."""
        if self._state_recovery.check() or not self._paths.relay_conf.exists():
            self._refresh()
        elif sys.platform != "linux":  # nothing else reports a change there
            self._check_entries()

    def _keep_records(self) -> None:
        """Keep what `connect` has just recorded, before the command, the menu or the page reports its end."""
        self._work.run(self._state_recovery.check, KEEP_TIMEOUT)

    def _check_entries(self) -> None:
        if not self._shutdown_state.begun:
            self._state_recovery.check()  # which keeps what `connect` recorded, in case it is deleted
            self._relay_watch.check()
            self._entry_watch.check()

    def _announce_incident(self, incident: Incident) -> None:
        self._alert_controller.announce(state_folder_lost(incident.brief))
        self._presenter.show()

    def _yield_to_other(self) -> None:
        text = say("Another tray runs for {folder} now, so this one ends", folder=self._paths.state)
        self._echo(text)
        log.warning("%s", text)
        self._alert_controller.announce(state_folder_lost(text))
        self._icon.stop()

    def _incident_brief(self) -> str:
        incident = self._state_recovery.incident
        return incident.brief if incident else self._relay_watch.problem

    def _show_incident(self) -> None:
        """Once it was read, the icon is as usual again."""
        if incident := self._state_recovery.incident:
            if incident.failure:
                self._alert_controller.announce(state_folder_lost(incident.text))
            else:
                self._alert_controller.actions.show_text("state-folder", incident.text + "\n")
            self._state_recovery.acknowledge()
            self._presenter.show()

    def _run_doctor(self) -> None:
        path = self._doctor.report()
        self._work.post(lambda: self._opener.open(path))

    def _welcome(self) -> None:
        found = self._agents_menu.read_offered()
        self._echo(welcome.text(self._paths, [one.agent for one in found]))
        self._alert_controller.announce(welcome.alert(found))
        self._question.ask(found)

    def _connect_all(self, digests: Sequence[str]) -> None:
        """What a person answered at the terminal."""
        try:
            self._echo(self._agents_menu.connect_all(digests))
        except HooktrayError as error:
            self._echo(f"hooktray: {error}")
        self._presenter.show()

    def _changed(self) -> None:
        self._work.post(self._refresh_again)

    def request_refresh(self) -> None:
        self._throttled_refresh.request()

    def asking_agents(self) -> Collection[str]:
        return self._alert_controller.asking_agents()

    def question_seconds(self) -> float:
        return self._alert_controller.question_seconds()

    def question_opened(self, question: UserQuestion) -> None:
        self._alert_controller.question_opened(question)

    def question_closed(self, question: UserQuestion, result: QuestionResult) -> None:
        self._alert_controller.question_closed(question, result)

    def _opened(self) -> None:
        self._presenter.opened()
        self._changed()

    def _icon_name(self) -> str:
        """Which icon is on the screen now; "" when none is."""
        return self._icon.name if self._icon.visible else ""

    def _act(self, action: Action) -> None:
        self._work.post(lambda: self._menu_controller.act(action))

    def _health(self) -> TrayHealth:
        incident = self._state_recovery.incident
        more: TrayHealth = {
            **self._alert_controller.problems,
            "problems": [incident.row] if incident else [],
            "changes": [one.row for one in self._entry_watch.changes],
            "troubled": sorted(self._doctor.failing_hooks(self._alert_controller.failing_hooks)),
        }
        return runtime_health(self._icon, self._core.background_processes, self._stores.journal, more)

    def journal_problem(self, text: str) -> None:
        if self._stores.database.is_marked_damaged:
            self._changed()  # which raises the alert of a damaged database
        else:
            self._alerts.inform(say("The journal cannot be written"), text)
