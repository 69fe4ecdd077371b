"""Turns clicks on the menu into actions; what cannot be done is shown."""

from __future__ import annotations

import contextlib
import os
from functools import partial

from tray.approvals.batch import write_batch
from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.approvals.review import hook_id, write_review
from tray.approvals.user_action import UserAction
from tray.desktop.menu import actions
from tray.desktop.menu_parts import MenuParts
from tray.desktop.presenter import Presenter
from tray.engine.sentence import sentence
from tray.errors import HooktrayError
from tray.language import say
from tray.paths import Paths
from tray.store.copies import Copies

CHANNEL = "tray"


class MenuController:
    """Carries out clicks. All of it runs on the presenter's thread."""

    def __init__(
        self,
        *,
        presenter: Presenter,
        controls: Controls,
        catalog: HookCatalog,
        copies: Copies,
        paths: Paths,
        parts: MenuParts,
    ) -> None:
        self._presenter, self._controls, self._catalog = presenter, controls, catalog
        self._copies, self._paths, self._parts = copies, paths, parts

    def opened(self) -> None:
        """The menu is about to be shown."""
        self._presenter.opened()
        self._parts.sources.request()

    def act(self, action: actions.Action) -> None:
        """Do what was clicked."""
        try:
            if isinstance(action, UserAction):
                self._controls.perform(action, CHANNEL)
            elif isinstance(action, actions.AlertAction):
                self._alert(action)
            elif isinstance(action, actions.AgentAction):
                self._connect(action)
            elif isinstance(action, actions.ViewAction):
                self._open(action)
            else:
                self._manage(action)
        except HooktrayError as error:
            self._inform(error.message, error.hint)

    def _alert(self, action: actions.AlertAction) -> None:
        alerts = self._parts.alerts
        match action:
            case actions.AnswerQuestion(question, allow):
                alerts.answer(question, allow)
            case actions.ToggleSound():
                self._controls.mute()
            case actions.SetAlertClass(cls, on):
                self._controls.set_alert_class(cls, on)
            case actions.Snooze(seconds):
                alerts.snooze(seconds)
            case actions.EndSnooze():
                alerts.end_snooze()
            case actions.SetQuietHours(on):
                alerts.set_quiet_hours(on)
            case actions.ShowDeferred():
                alerts.show_deferred()

    def _connect(self, action: actions.AgentAction) -> None:
        """Nothing is written before it was shown; what was written is announced."""
        agents = self._parts.agents
        match action:
            case actions.ShowAgents():
                agents.show()
            case actions.ReviewConnection(agent, connect):
                agents.review(agent, connect=connect)
            case actions.ApplyConnection(agent, digest):
                self._inform("", agents.apply(agent, digest))
            case actions.ConnectAll(digests):
                self._inform("", agents.connect_all(digests))
            case actions.ProbeAgent(agent):
                agents.probe(agent)
            case actions.PutEntriesBack(agent):
                self._inform("", agents.put_back(agent))
            case actions.LeaveEntries(agent, digest):
                self._inform("", agents.leave(agent, digest))
        self._presenter.show()

    def _open(self, action: actions.ViewAction) -> None:
        parts = self._parts
        match action:
            case actions.Review(key, digest):
                self._review(key, digest)
            case actions.ReviewBatch(digest):
                self._review_batch(digest)
                self._presenter.show()
            case actions.ShowReason(record):
                self._reason(record)
            case actions.ShowProblem():
                lines = self._catalog.configuration.problem.splitlines()
                text = "; ".join(line.strip() for line in lines)
                self._inform(say("The last good configuration stays in force"), text)
            case actions.ShowIncident():
                parts.lost_state.show()
            case actions.GoToSession(agent, session):
                parts.focus.go(agent, session)
            case actions.OpenConfiguration():
                parts.opener.open(self._paths.config)
            case actions.OpenPage(place):
                parts.page.open(place)

    def _manage(self, action: actions.TrayAction) -> None:
        match action:
            case actions.ToggleSwitch():
                self._controls.toggle(CHANNEL)
            case actions.StartAtLogin(on):
                self._parts.login.turn(on)  # raises an error if the entry does not read back
                done = say("Hooktray starts when you log in")
                self._inform("", done if on else say("Hooktray no longer starts when you log in"))
                self._presenter.show()
            case actions.RunDoctor():
                self._parts.workers.spawn(self._run_doctor)
            case actions.QuitTray():
                self._parts.tray.quit_by_person()

    def _run_doctor(self) -> None:
        """The report takes long, so this has a thread of its own."""
        parts = self._parts
        path = parts.doctor.report()
        parts.queue.post(partial(parts.opener.open, path))
        parts.queue.post(parts.audit.acknowledge)
        parts.queue.post(self._presenter.show)

    def _review(self, key: str, digest: str) -> None:
        state = next((one for one in self._catalog.states if (one.key, one.digest) == (key, digest)), None)
        if state is None:
            raise HooktrayError(say("this hook changed again"), hint=say("open the menu once more"))
        if not digest:
            self._inform(state.hook.name, state.problem)
            return
        if not self._open_page(f"confirm/approve?of={hook_id(key)}"):
            self._parts.opener.open(write_review(state, self._copies, os.environ, self._paths.reviews))

    def _review_batch(self, digest: str) -> None:
        batch = next((one for one in self._controls.batches if one.digest == digest), None)
        if batch is None:
            raise HooktrayError(say("these hooks changed again"), hint=say("open the menu once more"))
        if not self._open_page(f"confirm/batch?of={digest[:16]}"):
            self._parts.opener.open(write_batch(batch, (), self._copies, os.environ, self._paths.reviews))

    def _open_page(self, place: str) -> bool:
        """Where the user can read and decide in one; False where no page can be had."""
        with contextlib.suppress(HooktrayError):
            self._parts.page.open(place)
            return True
        return False

    def _reason(self, record_id: str) -> None:
        """On its own page; where none can be had, in an alert."""
        if self._open_page(record_id):
            return
        record = next((one for one in self._presenter.recent if one.id == record_id), None)
        if record is not None:
            title = " · ".join(part for part in (record.agent, record.project) if part)
            self._inform(title, sentence(record))

    def _inform(self, title: str, text: str) -> None:
        self._parts.messages.inform(title, text)
