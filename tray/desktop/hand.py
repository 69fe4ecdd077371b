"""Does what a click on the menu asks for; what cannot be done is said."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from tray.desktop import menu
from tray.desktop.extras import Extras
from tray.desktop.face import Face
from tray.engine.approval.controls import Controls
from tray.engine.approval.review import written
from tray.engine.approval.roster import Roster
from tray.engine.telling import said
from tray.errors import HooktrayError
from tray.language import say
from tray.store.copies import Copies

WAY = "tray"


class Hand:
    """The user's hand on the menu. `tell` raises an information alert, `open_file` shows a text.

    All of it runs on the face's thread.
    """

    def __init__(
        self,
        *,
        face: Face,
        controls: Controls,
        roster: Roster,
        copies: Copies,
        reviews: Path,
        tell: Callable[[str, str], None],
        open_file: Callable[[Path], None],
        extras: Extras,
    ) -> None:
        self._face = face
        self._controls = controls
        self._roster = roster
        self._copies = copies
        self._reviews = reviews
        self._tell = tell
        self._open_file = open_file
        self._extras = extras

    def act(self, action: menu.Action) -> None:
        """Do what was clicked."""
        try:
            if not (self._switch(action) or self._answer(action) or self._alert(action) or self._wire(action)):
                self._set(action)
        except HooktrayError as error:
            self._tell(error.message, error.hint)

    def _switch(self, action: menu.Action) -> bool:
        controls = self._controls
        match action:
            case menu.Toggle():
                controls.toggle(WAY)
            case menu.Pause(seconds, agent, session):
                controls.pause(seconds, WAY, agent=agent, session=session)
            case menu.Resume():
                controls.resume(WAY)
            case menu.TogglePause():
                self._toggle_pause()
            case menu.Hooking(key, on):
                controls.hook(key, on, WAY)
            case _:
                return False
        return True

    def _toggle_pause(self) -> None:
        """A click on the icon with the middle button: hooks that are off stay off."""
        state = self._controls.state
        if state.paused_until is not None:
            self._controls.resume(WAY)
        elif state.enabled:
            self._controls.pause(menu.SHORTEST, WAY)

    def _answer(self, action: menu.Action) -> bool:
        controls = self._controls
        match action:
            case menu.Answer(question, allow):
                self._extras.answer(question, allow)
            case menu.Approve(key, digest):
                controls.approve(key, digest, WAY)
            case menu.Deny(key, digest):
                controls.deny(key, digest, WAY)
            case menu.Revoke(key):
                controls.revoke(key, WAY)
            case menu.Grant(request):
                controls.answer(request, yes=True)
            case menu.Dismiss(request):
                controls.answer(request, yes=False)
            case menu.ReviewBatch():
                self._extras.review_batch()
                self._face.show()
            case menu.ApproveBatch(digest):
                controls.approve_batch(digest, WAY)
            case menu.Review(key, digest):
                self._review(key, digest)
            case menu.Reason(record):
                self._reason(record)
            case menu.Incident():
                self._extras.show_incident()
            case menu.Problem():
                lines = self._roster.configuration.problem.splitlines()
                text = "; ".join(line.strip() for line in lines)
                self._tell(say("The last good configuration stays in force"), text)
            case _:
                return False
        return True

    def _alert(self, action: menu.Action) -> bool:
        match action:
            case menu.Mute():
                self._controls.mute()
            case menu.Tell(cls, on):
                self._controls.tell(cls, on)
            case menu.Snooze(seconds):
                self._extras.snooze(seconds)
            case menu.Wake():
                self._extras.wake()
            case menu.HeedQuiet(on):
                self._extras.heed_quiet(on)
            case menu.Held():
                self._extras.show_held()
            case _:
                return False
        return True

    def _wire(self, action: menu.Action) -> bool:
        """Nothing is written before it was shown; what is written is told."""
        agents = self._extras.agents
        if agents is None:
            return False
        match action:
            case menu.ShowAgents():
                agents.show()
            case menu.ReviewWiring(agent, connect):
                agents.review(agent, connect=connect)
            case menu.Write(agent, digest):
                self._tell("", agents.take(agent, digest))
            case menu.Probe(agent):
                agents.probe(agent)
            case _:
                return False
        self._face.show()
        return True

    def _set(self, action: menu.Action) -> None:
        extras = self._extras
        match action:
            case menu.StartAtLogin(on):
                self._start_at_login(on)
            case menu.OpenConfiguration():
                extras.open_configuration()
            case menu.OpenPage() if extras.open_page:
                extras.open_page()
            case menu.Doctor() if extras.doctor:
                extras.doctor()
            case menu.Quit():
                extras.quit()

    def _start_at_login(self, on: bool) -> None:
        """Said only after it was read back."""
        if self._extras.login is None:
            return
        self._extras.login.turn(on)
        done = say("Hooktray starts when you log in") if on else say("Hooktray no longer starts when you log in")
        self._tell("", done)
        self._face.show()

    def _review(self, key: str, digest: str) -> None:
        standing = next((one for one in self._roster.standings if (one.key, one.digest) == (key, digest)), None)
        if standing is None:
            raise HooktrayError(say("this hook changed again"), hint=say("open the menu once more"))
        if not digest:
            self._tell(standing.hook.name, standing.trouble)
            return
        self._open_file(written(standing, self._copies, os.environ, self._reviews))

    def _reason(self, record_id: str) -> None:
        """On its own page; where none can be had, in an alert."""
        if self._extras.open_decision:
            with contextlib.suppress(HooktrayError):
                self._extras.open_decision(record_id)
                return
        record = next((one for one in self._face.recent if one.id == record_id), None)
        if record is None:
            return
        title = " · ".join(part for part in (record.agent, record.event, record.project) if part)
        self._tell(title, said(record))
