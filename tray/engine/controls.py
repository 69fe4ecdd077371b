"""What a person can do: switch, pause, mute, approve, deny, revoke, grant. The menu and the door both end here."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from tray.engine.consent import Consent, Request
from tray.engine.roster import REMOVED, Roster, Standing
from tray.language import say
from tray.store.switch import State, Switch


class Controls:
    """Does what was decided, then says so: `switched` raises the alert, `changed` redraws the tray."""

    def __init__(
        self,
        *,
        switch: Switch,
        consent: Consent,
        roster: Roster,
        switched: Callable[[str, str], None],
        changed: Callable[[], None],
    ) -> None:
        self._switch = switch
        self._consent = consent
        self._roster = roster
        self._switched = switched
        self._changed = changed

    @property
    def requests(self) -> tuple[Request, ...]:
        return self._consent.requests

    @property
    def state(self) -> State:
        return self._switch.state()

    def turn(self, on: bool, way: str) -> None:
        self._switch.turn(on, way)
        self._said(say("Hooks are on") if on else say("Hooks are off"), way)

    def toggle(self, way: str) -> None:
        self.turn(not self._switch.state().enabled, way)

    def pause(self, seconds: float | None, way: str, *, agent: str = "", session: str = "") -> float:
        """Pause hooks for so many seconds, or until tomorrow, for everybody or for some; returns until when."""
        until = tomorrow(time.time()) if seconds is None else time.time() + seconds
        self._switch.pause(until, agent=agent, session=session, way=way)
        clock = time.strftime("%H:%M", time.localtime(until))
        if agent:
            self._said(say("Hooks of {agent} are paused until {time}", agent=agent, time=clock), way)
        else:
            self._said(say("Hooks are paused until {time}", time=clock), way)
        return until

    def resume(self, way: str) -> None:
        self._switch.resume(way)
        self._said(say("Hooks run again"), way)

    def hook(self, key: str, on: bool, way: str) -> None:
        """Let one approved hook run, or not."""
        self._switch.hook(key, on, way)
        name = next((one.hook.name for one in self._roster.standings if one.key == key), key)
        self._said(say("{name} runs again", name=name) if on else say("{name} is switched off", name=name), way)

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
            self._said(say("{setting} is confirmed", setting=key.removeprefix("setting:")), way)
            return
        standing = self._consent.approve(key, digest, way)
        name = standing.hook.name
        if digest == REMOVED:
            self._said(say("{name} is revoked", name=name), way)
        else:
            self._said(say("{name} is approved ({digest})", name=name, digest=digest[:8]), way)

    def deny(self, key: str, digest: str, way: str) -> None:
        if key.startswith("setting:"):
            self._consent.confirm(key, digest, way, yes=False)
        else:
            self._consent.deny(key, digest, way)
        self._changed()

    def revoke(self, key: str, way: str) -> None:
        standing = self._consent.revoke(key, way)
        self._said(say("{name} is revoked", name=standing.hook.name), way)

    def ask(self, what: str, who: str, grant: Callable[[], None]) -> None:
        self._consent.ask(what, who, grant)
        self._changed()

    def answer(self, request: str, *, yes: bool) -> None:
        self._consent.answer(request, yes=yes)
        self._changed()

    def find(self, word: str) -> list[Standing]:
        self._roster.refresh()
        return self._roster.find(word)

    def _said(self, what: str, way: str) -> None:
        self._switched(what, way)
        self._changed()


def tomorrow(now: float) -> float:
    """The next local midnight after `now`, in seconds since the epoch."""
    day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=1)).timestamp()
