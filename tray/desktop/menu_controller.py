"""Turns clicks on the menu into actions; what cannot be done is shown."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from tray.approvals.batch import write_batch
from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.approvals.review import hook_id, write_review
from tray.desktop import menu
from tray.desktop.menu_services import MenuServices
from tray.desktop.presenter import Presenter
from tray.engine.sentence import sentence
from tray.errors import HooktrayError
from tray.language import say
from tray.store.copies import Copies

CHANNEL = "tray"


class MenuController:
    """Carries out clicks. `inform` raises an information alert, `open_file` shows a text.

    All of it runs on the presenter's thread.
    """

    def __init__(
        self,
        *,
        presenter: Presenter,
        controls: Controls,
        catalog: HookCatalog,
        copies: Copies,
        reviews: Path,
        inform: Callable[[str, str], None],
        open_file: Callable[[Path], None],
        services: MenuServices,
    ) -> None:
        self._presenter = presenter
        self._controls = controls
        self._catalog = catalog
        self._copies = copies
        self._reviews = reviews
        self._inform = inform
        self._open_file = open_file
        self._services = services

    def act(self, action: menu.Action) -> None:
        """Do what was clicked."""
        try:
            if not (self._switch(action) or self._answer(action) or self._alert(action) or self._connect(action)):
                self._set(action)
        except HooktrayError as error:
            self._inform(error.message, error.hint)

    def _switch(self, action: menu.Action) -> bool:
        controls = self._controls
        match action:
            case menu.ToggleSwitch():
                controls.toggle(CHANNEL)
            case menu.PauseHooks(seconds, agent, session):
                controls.pause(seconds, CHANNEL, agent=agent, session=session)
            case menu.ResumeHooks():
                controls.resume(CHANNEL)
            case menu.SwitchHook(key, on):
                controls.set_hook(key, on, CHANNEL)
            case _:
                return False
        return True

    def _answer(self, action: menu.Action) -> bool:
        controls = self._controls
        match action:
            case menu.AnswerQuestion(question, allow):
                self._services.answer(question, allow)
            case menu.GoToSession(agent, session):
                self._services.go_to_session(agent, session)
            case menu.Approve(key, digest):
                controls.approve(key, digest, CHANNEL)
            case menu.Deny(key, digest):
                controls.deny(key, digest, CHANNEL)
            case menu.Revoke(key):
                controls.revoke(key, CHANNEL)
            case menu.SetVariable(key, variable, on):
                (controls.grant if on else controls.withhold)(key, (variable,), CHANNEL)
            case menu.GrantRequest(request):
                controls.resolve(request, accept=True)
            case menu.DismissRequest(request):
                controls.resolve(request, accept=False)
            case menu.ReviewBatch(digest):
                self._review_batch(digest)
                self._presenter.show()
            case menu.ApproveBatch(digest):
                controls.approve_batch(digest, CHANNEL)
            case menu.Review(key, digest):
                self._review(key, digest)
            case menu.ShowReason(record):
                self._reason(record)
            case menu.ShowIncident():
                self._services.show_incident()
            case menu.ShowProblem():
                lines = self._catalog.configuration.problem.splitlines()
                text = "; ".join(line.strip() for line in lines)
                self._inform(say("The last good configuration stays in force"), text)
            case _:
                return False
        return True

    def _alert(self, action: menu.Action) -> bool:
        match action:
            case menu.ToggleSound():
                self._controls.mute()
            case menu.SetAlertClass(cls, on):
                self._controls.set_alert_class(cls, on)
            case menu.Snooze(seconds):
                self._services.snooze(seconds)
            case menu.EndSnooze():
                self._services.end_snooze()
            case menu.SetQuietHours(on):
                self._services.set_quiet_hours(on)
            case menu.ShowDeferred():
                self._services.show_deferred()
            case _:
                return False
        return True

    def _connect(self, action: menu.Action) -> bool:
        """Nothing is written before it was shown; what was written is announced."""
        agents = self._services.agents
        if agents is None:
            return False
        match action:
            case menu.ShowAgents():
                agents.show()
            case menu.ReviewConnection(agent, connect):
                agents.review(agent, connect=connect)
            case menu.ApplyConnection(agent, digest):
                self._inform("", agents.apply(agent, digest))
            case menu.ConnectAll(digests):
                self._inform("", agents.connect_all(digests))
            case menu.ProbeAgent(agent):
                agents.probe(agent)
            case menu.PutEntriesBack(agent):
                self._inform("", agents.put_back(agent))
            case menu.LeaveEntries(agent, digest):
                self._inform("", agents.leave(agent, digest))
            case _:
                return False
        self._presenter.show()
        return True

    def _set(self, action: menu.Action) -> None:
        services = self._services
        match action:
            case menu.StartAtLogin(on):
                self._start_at_login(on)
            case menu.OpenConfiguration():
                services.open_configuration()
            case menu.OpenPage(place) if place and services.open_decision:
                services.open_decision(place)
            case menu.OpenPage() if services.open_page:
                services.open_page()
            case menu.RunDoctor() if services.doctor:
                services.doctor()
            case menu.QuitTray():
                services.quit()

    def _start_at_login(self, on: bool) -> None:
        """Said only after it was read back."""
        if self._services.login is None:
            return
        self._services.login.turn(on)
        done = say("Hooktray starts when you log in") if on else say("Hooktray no longer starts when you log in")
        self._inform("", done)
        self._presenter.show()

    def _review(self, key: str, digest: str) -> None:
        state = next((one for one in self._catalog.states if (one.key, one.digest) == (key, digest)), None)
        if state is None:
            raise HooktrayError(say("this hook changed again"), hint=say("open the menu once more"))
        if not digest:
            self._inform(state.hook.name, state.problem)
            return
        if not self._open_page(f"confirm/approve?of={hook_id(key)}"):
            self._open_file(write_review(state, self._copies, os.environ, self._reviews))

    def _review_batch(self, digest: str) -> None:
        batch = next((one for one in self._controls.batches if one.digest == digest), None)
        if batch is None:
            raise HooktrayError(say("these hooks changed again"), hint=say("open the menu once more"))
        if not self._open_page(f"confirm/batch?of={digest[:16]}"):
            self._open_file(write_batch(batch, (), self._copies, os.environ, self._reviews))

    def _open_page(self, place: str) -> bool:
        """Where the user can read and decide in one; False where no page can be had."""
        if self._services.open_decision:
            with contextlib.suppress(HooktrayError):
                self._services.open_decision(place)
                return True
        return False

    def _reason(self, record_id: str) -> None:
        """On its own page; where none can be had, in an alert."""
        if self._open_page(record_id):
            return
        record = next((one for one in self._presenter.recent if one.id == record_id), None)
        if record is None:
            return
        title = " · ".join(part for part in (record.agent, record.project) if part)
        self._inform(title, sentence(record))
