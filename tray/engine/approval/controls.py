"""What a person can do: switch, pause, mute, approve, deny, revoke, grant. The menu and the door both end here."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from tray.engine.approval.batch import Batch
from tray.engine.approval.confirming import Setting
from tray.engine.approval.consent import Consent, Request
from tray.engine.approval.roster import REMOVED, Roster, Standing
from tray.errors import HooktrayError
from tray.language import count, say
from tray.store.switch import State, Switch
from tray.text import sanitise

TERMINAL = "terminal (weak)"  # the way of what was typed at a terminal; a tray's click is the strong one
UNDO = "undo"

Back = Callable[[], None]  # takes back what was done; raises HooktrayError when it has been decided anew


class Controls:
    """Does what was decided, then says so: `switched` raises the alert, `changed` redraws the tray.

    `approved` gets each hook that was approved, as it was before, with what takes the approval back.

    What loosens or takes something away comes with its way back.
    """

    def __init__(
        self,
        *,
        switch: Switch,
        consent: Consent,
        roster: Roster,
        switched: Callable[[str, str, Back | None], None],
        changed: Callable[[], None],
        approved: Callable[[Standing, Back], None] = lambda standing, back: None,
    ) -> None:
        self._switch = switch
        self._consent = consent
        self._roster = roster
        self._switched = switched
        self._changed = changed
        self._approved = approved

    @property
    def requests(self) -> tuple[Request, ...]:
        return self._consent.requests

    @property
    def state(self) -> State:
        return self._switch.state()

    def turn(self, on: bool, way: str) -> None:
        before = self._switch.state()
        self._switch.turn(on, way)
        said = say("Hooks are on") if on else say("Hooks are off")
        tightens = on and way != TERMINAL
        self._said(said, way, None if tightens else lambda: self._switch.restore(before, UNDO))

    def toggle(self, way: str) -> None:
        self.turn(not self._switch.state().enabled, way)

    def pause(self, seconds: float | None, way: str, *, agent: str = "", session: str = "") -> float:
        """Pause hooks for so many seconds, or until tomorrow, for everybody or for some; returns until when."""
        until = tomorrow(time.time()) if seconds is None else time.time() + seconds
        before = self._switch.state()
        self._switch.pause(until, agent=agent, session=session, way=way)
        clock = time.strftime("%H:%M", time.localtime(until))
        if whom := " ".join(filter(None, (agent, sanitise(session, 60)))):
            said = say("Hooks of {agent} are paused until {time}", agent=whom, time=clock)
        else:
            said = say("Hooks are paused until {time}", time=clock)
        self._said(said, way, lambda: self._switch.restore(before, UNDO))
        return until

    def resume(self, way: str) -> None:
        self._switch.resume(way)
        self._said(say("Hooks run again"), way)

    def hook(self, key: str, on: bool, way: str) -> None:
        """Let one approved hook run, or not."""
        self._switch.hook(key, on, way)
        name = next((one.hook.name for one in self._roster.standings if one.key == key), key)
        if on:
            self._said(say("{name} runs again", name=name), way)
        else:
            self._said(say("{name} is switched off", name=name), way, lambda: self._switch.hook(key, True, UNDO))

    def tell(self, cls: str, on: bool) -> None:
        self._switch.tell(cls, on)
        self._changed()

    def mute(self) -> None:
        self._switch.mute(not self._switch.state().muted)
        self._changed()

    def approve(self, key: str, digest: str, way: str) -> None:
        """Approve a hook's exact bytes, or confirm a setting."""
        if key.startswith("setting:"):
            self._consent.confirm(key, digest, way, yes=True)
            said = say("{setting} is confirmed", setting=key.removeprefix("setting:"))
            self._said(said, way, self._taking_back())
            return
        standing = self._consent.approve(key, digest, way)
        name = standing.hook.name
        if digest == REMOVED:
            said = say("{name} is revoked", name=name)
        else:
            said = say("{name} is approved ({digest})", name=name, digest=digest[:8])
        undo = self._taking_back()
        self._said(said, way, undo)
        if digest != REMOVED:
            self._approved(standing, self._way_back(said, "", undo))

    @property
    def batch(self) -> Batch:
        return self._consent.batch

    def approve_batch(self, digest: str, way: str) -> None:
        """Approve the hooks that were approved before with the same content; one Undo takes back all of them."""
        approved = self._consent.approve_batch(digest, way)
        done = count("{n} hook is approved again", "{n} hooks are approved again", len(approved))
        self._said(done, way, lambda: self._undo_all([version for _, version in approved]))
        for standing, version in approved:
            one = say("{name} is approved ({digest})", name=standing.hook.name, digest=standing.digest[:8])
            self._approved(standing, self._way_back(one, "", partial(self._consent.undo, version, UNDO)))

    def deny(self, key: str, digest: str, way: str) -> None:
        if key.startswith("setting:"):
            self._consent.confirm(key, digest, way, yes=False)
            name = key.removeprefix("setting:")
        else:
            name = self._consent.deny(key, digest, way).hook.name
        self._said(say("{name} is denied", name=name), way, self._taking_back())

    def revoke(self, key: str, way: str) -> None:
        standing = self._consent.revoke(key, way)
        self._said(say("{name} is revoked", name=standing.hook.name), way, self._taking_back())

    def ask(self, what: str, who: str, grant: Callable[[], None]) -> None:
        self._consent.ask(what, who, grant)
        self._changed()

    def answer(self, request: str, *, yes: bool) -> None:
        self._consent.answer(request, yes=yes)
        self._changed()

    def find(self, word: str) -> list[Standing]:
        self._roster.refresh()
        return self._roster.find(word)

    def hooks(self) -> tuple[Standing, ...]:
        self._roster.refresh()  # a tray that has just started may not have looked yet
        return self._roster.standings

    def setting(self, word: str) -> Setting | None:
        """The setting of this name that needs a person's word."""
        return next((one for one in self._roster.settings() if one.key == f"setting:{word}"), None)

    def _taking_back(self) -> Back:
        version = self._consent.version
        return lambda: self._consent.undo(version, UNDO)

    def _undo_all(self, versions: Sequence[int]) -> None:
        """Undo each approval that was not decided anew since; raises HooktrayError when none can be undone."""
        refused: HooktrayError | None = None
        done = 0
        for version in versions:
            try:
                self._consent.undo(version, UNDO)
                done += 1
            except HooktrayError as error:
                refused = error
        if refused is not None and not done:
            raise refused

    def _said(self, what: str, way: str, undo: Back | None = None) -> None:
        self._switched(what, way, self._way_back(what, way, undo) if undo else None)
        self._changed()

    def _way_back(self, what: str, way: str, undo: Back) -> Back:
        """Said once it was gone. What was typed at a terminal stands in the menu, too, and is taken back once."""

        def back() -> None:
            undo()
            self._said(say("Taken back: {what}", what=what), "")

        if way != TERMINAL:
            return back
        request = self._consent.done(what, say("a terminal"), back)
        return lambda: self._once(request)

    def _once(self, request: str) -> None:
        if self._consent.answer(request, yes=True) is None:
            raise HooktrayError(say("It can no longer be taken back"))


def tomorrow(now: float) -> float:
    """The next local midnight after `now`, in seconds since the epoch."""
    day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=1)).timestamp()


def seconds(text: str) -> float | None:
    """`30m`, `1h` or `90s` in seconds; None = until tomorrow. Raises HooktrayError."""
    if text == "tomorrow":
        return None
    found = re.fullmatch(r"(\d{1,4})([smh])", text)
    if not found or int(found[1]) == 0:
        raise HooktrayError(
            say("`{length}` is no length of time", length=text), hint=say("write 30m, 1h or tomorrow")
        )
    return int(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]
