"""What a person can do on the page: what loosens a gate is read first and confirmed with a slip of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from tray.engine.approval.batch import Batch, facts, text
from tray.engine.approval.confirming import Setting
from tray.engine.approval.consent import Request
from tray.engine.approval.controls import Controls
from tray.engine.approval.review import review
from tray.engine.approval.roster import REMOVED, Standing
from tray.errors import HooktrayError
from tray.language import count, phrase, say
from tray.page.changes import Change, changes, name
from tray.page.parts import Parts
from tray.page.passes import Passes, Void
from tray.page.words import sentence

WAY = "page"
READING = 900.0  # seconds that a confirmation stays good: long enough to read a script
PAUSES: Mapping[str, tuple[float | None, str]] = {
    "30m": (1800.0, phrase("Pause all hooks for 30 minutes?")),
    "1h": (3600.0, phrase("Pause all hooks for 1 hour?")),
    "tomorrow": (None, phrase("Pause all hooks until tomorrow?")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One act on exactly one thing, as it was shown."""

    act: str
    key: str = ""
    digest: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a confirmation shows; `yes` is the button's label, `back` where the other one leads."""

    title: str
    yes: str
    slip: str
    back: str
    text: str = ""
    notes: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    digest: str = ""
    grave: bool = True


class Acts:
    """Asks, and does what was confirmed. Every act goes through the same controls as the menu's."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._slips: Passes[Wish] = Passes(READING)

    def ask(self, act: str, target: str) -> Question | None:
        """The question before an act; None when there is no such act or nothing to do it to."""
        if act == BATCH:
            return self._about_batch(self._parts.controls.batch)
        if act in HOOKS:
            one = self.standing(target)
            possible_now = possible(one, self._parts.controls.state.off) if one else ()
            return self._about_hook(act, one) if one and act in possible_now else self._about_setting(act, target)
        if act in SWITCH:
            return self._about_switch(act, target)
        if act in REQUESTS:
            return self._about_request(act, target)
        return None

    def do(self, slip: str) -> Wish:
        """Do what this slip was written for. Raises HooktrayError when it is void."""
        wish = self._slips.take(slip)
        if isinstance(wish, Void):
            raise HooktrayError(say(VOID[wish]), hint=say("go back, read it again and confirm"))
        PERFORM[wish.act](self._parts.controls, wish)
        return wish

    def at_once(self, act: str) -> bool:
        """What only tightens or quietens needs no confirmation; False when there is no such act."""
        work = AT_ONCE.get(act)
        if work:
            work(self._parts.controls)
        return work is not None

    def standing(self, target: str) -> Standing | None:
        return next((one for one in self._parts.roster.standings if name(one.key) == target), None)

    def settings(self) -> tuple[Setting, ...]:
        return tuple(one for one in self._parts.roster.settings() if one.waiting)

    def _about_hook(self, act: str, one: Standing) -> Question:
        reads = act in ("approve", "deny")
        wish = Wish(act=act, key=one.key, digest=one.digest if reads else "")
        words = _removal(act) if reads and one.digest == REMOVED else HOOKS[act]
        text = review(one, self._parts.copies, os.environ) if one.digest and reads else ""
        return self._question(
            wish, say(words[0], name=one.hook.name), say(words[1]), back=f"/hooks/{name(one.key)}", text=text,
            notes=(say(words[2]), *([sentence(one.health)] if one.health else [])),
            changes=changes(one, self._parts.copies) if reads else (),
        )  # fmt: skip

    def _about_batch(self, found: Batch) -> Question | None:
        if not found:
            return None
        number = len(found.hooks)
        return self._question(
            Wish(act=BATCH, digest=found.digest),
            count("Approve {n} unchanged hook?", "Approve {n} unchanged hooks?", number), say("Approve all"),
            back="/hooks", text=text(found, self._parts.copies, os.environ), notes=facts(found),
        )  # fmt: skip

    def _about_switch(self, act: str, target: str) -> Question | None:
        if act == "off":
            return self._question(
                Wish(act="off"), say("Switch all hooks off?"), say("Switch off"),
                say("No guard runs until you switch them on again. Alerts stay."), back="/switch",
            )  # fmt: skip
        if target not in PAUSES:
            return None
        seconds, words = PAUSES[target]
        return self._question(
            Wish(act="pause", seconds=seconds), say(words), say("Pause"),
            say("No guard runs until the pause is over. Alerts stay."), back="/switch",
        )  # fmt: skip

    def _about_setting(self, act: str, target: str) -> Question | None:
        one = next((one for one in self.settings() if name(one.key) == target), None)
        if one is None or act not in ("approve", "deny"):
            return None
        title, word = SETTINGS[act]
        return self._question(
            Wish(act=act, key=one.key, digest=one.digest), say(title), say(word), back="/hooks",
            text=f"{one.text}\n", notes=(say("It loosens a gate, so it counts only once you have said so."),),
        )  # fmt: skip

    def _about_request(self, act: str, target: str) -> Question | None:
        request = next((one for one in self._parts.controls.requests if one.id == target), None)
        if request is None:
            return None
        undo = request.done and act == "allow"
        title = say("Undo “{what}”?", what=request.what) if undo else say("{what}?", what=request.what)
        yes = say(REQUESTS[act][request.done])
        return self._question(Wish(act=act, key=request.id), title, yes, back="/hooks", notes=_asked(request))

    def _question(
        self,
        wish: Wish,
        title: str,
        yes: str,
        *more: str,
        back: str,
        text: str = "",
        notes: tuple[str, ...] = (),
        changes: tuple[Change, ...] = (),
    ) -> Question:
        return Question(
            title=title, yes=yes, slip=self._slips.mint(wish), back=back, text=text, notes=(*more, *notes),
            changes=changes, digest=wish.digest if wish.digest != REMOVED else "", grave=wish.act in GRAVE,
        )  # fmt: skip


def possible(one: Standing, off: Collection[str] = ()) -> tuple[str, ...]:
    """What can be done about a hook as it stands, as in the menu; `off` are those that were switched off."""
    proposed = one.digest not in ("", one.approved)
    words = []
    if proposed:
        words.append("approve")
    if proposed and one.waiting:
        words.append("deny")
    if one.approved and one.digest != REMOVED:
        words.append("revoke")
    if one.approved:
        words.append("enable" if one.key in off else "disable")
    return tuple(words)


def _removal(act: str) -> tuple[str, str, str]:
    if act == "approve":
        return (
            phrase("Revoke {name}?"), phrase("Revoke it"),
            phrase("It is no longer declared. Nothing of it runs from then on."),
        )  # fmt: skip
    return (
        phrase("Keep {name}?"), phrase("Keep it"),
        phrase("It is no longer declared; its approved copy goes on running."),
    )  # fmt: skip


def _asked(request: Request) -> tuple[str, ...]:
    if request.done:
        return (say("It was done at {who}.", who=request.who),)
    return (say("Asked by {who}. Allow it only if that was you.", who=request.who),)


VOID: Mapping[Void, str] = {
    Void.USED: phrase("this confirmation was used already"),
    Void.OLD: phrase("this confirmation is too old"),
    Void.UNKNOWN: phrase("the tray does not know this confirmation"),
}
BATCH = "batch"  # the act that approves together what was approved before
GRAVE = frozenset({"revoke", "deny", "disable", "off", "pause", "allow"})
HOOKS = {
    "approve": (
        phrase("Approve {name}?"),
        phrase("Approve"),
        phrase("What runs is a private copy of exactly these bytes."),
    ),
    "deny": (
        phrase("Deny {name}?"),
        phrase("Deny"),
        phrase("What was approved before goes on running; a new hook stays out."),
    ),
    "disable": (
        phrase("Switch off {name}?"),
        phrase("Switch off"),
        phrase("It stays approved, but is not asked until you switch it on again."),
    ),
    "enable": (
        phrase("Switch on {name}?"),
        phrase("Switch on"),
        phrase("Its approved copy is asked again from then on."),
    ),
    "revoke": (
        phrase("Revoke {name}?"), phrase("Revoke"),
        phrase("Nothing of this hook runs from then on."),
    ),
}  # fmt: skip
SETTINGS = {
    "approve": (phrase("Approve this setting?"), phrase("Approve")),
    "deny": (phrase("Deny this setting?"), phrase("Deny")),
}
REQUESTS = {
    "allow": (phrase("Allow"), phrase("Undo")),
    "dismiss": (phrase("Dismiss"), phrase("Keep")),
}  # what was asked for, what was done already
SWITCH = frozenset({"off", "pause"})
PERFORM: Mapping[str, Callable[[Controls, Wish], object]] = {
    "allow": lambda controls, wish: controls.answer(wish.key, yes=True),
    "approve": lambda controls, wish: controls.approve(wish.key, wish.digest, WAY),
    "batch": lambda controls, wish: controls.approve_batch(wish.digest, WAY),
    "deny": lambda controls, wish: controls.deny(wish.key, wish.digest, WAY),
    "disable": lambda controls, wish: controls.hook(wish.key, False, WAY),
    "dismiss": lambda controls, wish: controls.answer(wish.key, yes=False),
    "enable": lambda controls, wish: controls.hook(wish.key, True, WAY),
    "off": lambda controls, wish: controls.turn(False, WAY),
    "pause": lambda controls, wish: controls.pause(wish.seconds, WAY),
    "revoke": lambda controls, wish: controls.revoke(wish.key, WAY),
}
AT_ONCE: Mapping[str, Callable[[Controls], object]] = {
    "on": lambda controls: controls.turn(True, WAY),
    "resume": lambda controls: controls.resume(WAY),
}
