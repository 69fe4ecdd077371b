"""The tray's face: draws the icon and the menu from how things stand, and does what a click asks for."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from tray.desktop import menu
from tray.desktop.artwork import IconState
from tray.desktop.icon import Icon
from tray.desktop.words import clock
from tray.engine.account import said
from tray.engine.controls import Controls
from tray.engine.review import written
from tray.engine.roster import REMOVED, Roster, Standing
from tray.errors import HooktrayError
from tray.model.decision import Record
from tray.model.hook import State
from tray.store.copies import Copies
from tray.text import sanitise

WAY = "tray"


class Face:
    """What the user sees of the tray. `tell` raises an information alert, `open_file` shows a text.

    All of it runs on one thread; `soon` brings work there.
    """

    def __init__(
        self,
        *,
        controls: Controls,
        roster: Roster,
        copies: Copies,
        reviews: Path,
        recent: Iterable[Record],
        lost: Callable[[], int] = int,
        tell: Callable[[str, str], None],
        open_file: Callable[[Path], None],
        soon: Callable[[Callable[[], None]], None],
        open_page: Callable[[], None],
    ) -> None:
        self._controls = controls
        self._roster = roster
        self._copies = copies
        self._reviews = reviews
        self._recent = deque(recent, maxlen=10)
        self._running: dict[str, str] = {}
        self._lost = lost
        self._tell = tell
        self._open_file = open_file
        self._soon = soon
        self._open_page = open_page
        self._icon: Icon | None = None
        self._resume: threading.Timer | None = None

    def wear(self, icon: Icon) -> None:
        """From here on, `icon` shows this face."""
        self._icon = icon
        self.show()

    def add(self, record: Record) -> None:
        """Keep it for the next drawing."""
        self._recent.appendleft(record)

    def running(self, turn: str, text: str) -> None:
        """A hook runs and wants this shown."""
        self._running[turn] = text
        self.show()

    def ended(self, turn: str) -> None:
        if self._running.pop(turn, None) is not None:
            self.show()

    def show(self) -> None:
        """Draw how things stand now."""
        if self._icon is None:
            return
        state = self.state(time.time())
        look = _look(state)
        self._icon.show(look, _tooltip(look, state), menu.menu(state))
        self._watch_pause(state)

    def state(self, now: float) -> menu.MenuState:
        switch = self._controls.state
        paused = switch.paused_until if switch.paused_until and switch.paused_until > now else None
        return menu.MenuState(
            now=now,
            enabled=switch.enabled,
            paused_until=paused,
            muted=switch.muted,
            status=_status(self._recent[0] if self._recent else None, now, self._lost()),
            running=next(reversed(self._running.values()), ""),
            problem=self._roster.configuration.problem,
            recent=tuple(self._recent),
            approvals=tuple(self._approvals()),
            requests=tuple(
                menu.Request(id=one.id, what=one.what, who=one.who, done=one.done) for one in self._controls.requests
            ),
        )

    def act(self, action: menu.Action) -> None:
        """Do what was clicked; what cannot be done is said."""
        try:
            self._act(action)
        except HooktrayError as error:
            self._tell(error.message, error.hint)

    def close(self) -> None:
        if self._resume:
            self._resume.cancel()

    def _act(self, action: menu.Action) -> None:
        controls = self._controls
        match action:
            case menu.Toggle():
                controls.toggle(WAY)
            case menu.Pause(seconds):
                controls.pause(seconds, WAY)
            case menu.Resume():
                controls.resume(WAY)
            case menu.Mute():
                controls.mute()
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
            case menu.Review(key, digest):
                self._review(key, digest)
            case menu.Reason(record):
                self._reason(record)
            case menu.Problem():
                lines = self._roster.configuration.problem.splitlines()
                self._tell("The last good configuration stays in force", "; ".join(line.strip() for line in lines))
            case menu.OpenPage():
                self._open_page()
            case menu.Quit():
                if self._icon:
                    self._icon.stop()

    def _review(self, key: str, digest: str) -> None:
        standing = next((one for one in self._roster.standings if (one.key, one.digest) == (key, digest)), None)
        if standing is None:
            raise HooktrayError("this hook changed again", hint="open the menu once more")
        if not digest:
            self._tell(standing.hook.name, standing.health)
            return
        self._open_file(written(standing, self._copies, os.environ, self._reviews))

    def _reason(self, record_id: str) -> None:
        record = next((one for one in self._recent if one.id == record_id), None)
        if record is None:
            return
        title = " · ".join(part for part in (record.agent, record.event, record.project) if part)
        self._tell(title, said(record))

    def _approvals(self) -> Iterable[menu.Approval]:
        yield from (_approval(one) for one in self._roster.standings if one.waiting)
        for setting in self._roster.settings():
            if setting.waiting:
                yield menu.Approval(
                    key=setting.key, name=setting.text, event="", state=State.PENDING,
                    digest=setting.digest, kind="setting",
                )  # fmt: skip

    def _watch_pause(self, state: menu.MenuState) -> None:
        """A pause ends by itself; the icon has to say so."""
        if self._resume:
            self._resume.cancel()
            self._resume = None
        if state.paused_until is not None:
            self._resume = threading.Timer(
                max(0.0, state.paused_until - time.time()) + 0.05, self._soon, (self.show,)
            )
            self._resume.daemon = True
            self._resume.start()


def _approval(one: Standing) -> menu.Approval:
    return menu.Approval(
        key=one.key,
        name=one.hook.name,
        event=one.hook.match.event,
        state=one.state,
        digest=one.digest,
        removed=one.digest == REMOVED,
        missing=not one.digest and "there is no such" in one.health,
    )


def _look(state: menu.MenuState) -> IconState:
    if not state.enabled:
        return IconState.OFF
    if state.paused_until is not None:
        return IconState.PAUSED
    return IconState.ATTENTION if state.approvals or state.requests or state.problem else IconState.ON


def _tooltip(look: IconState, state: menu.MenuState) -> str:
    words = {
        IconState.OFF: "hooks are off",
        IconState.PAUSED: f"hooks are paused until {clock(state.paused_until or 0, state.now)}",
        IconState.ATTENTION: "something waits for you",
        IconState.ON: "hooks are on",
    }
    usual = look in (IconState.ON, IconState.ATTENTION)
    return f"Hooktray: {(usual and sanitise(state.running, menu.STATUS_LIMIT)) or words[look]}"


def _status(record: Record | None, now: float, lost: int) -> str:
    gone = f"{lost} not written down" if lost else ""
    if record is None:
        return gone or "No event yet"
    parts = (gone, record.agent, record.event, record.project, clock(record.at, now))
    return " · ".join(part for part in parts if part)
