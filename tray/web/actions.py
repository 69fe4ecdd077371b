"""What a person can do on the page: what loosens a gate is read first and confirmed with a slip of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from tray.approvals.batch import ApprovalBatch, render_batch, summary_lines
from tray.approvals.catalog import REMOVED, HookState
from tray.approvals.confirmations import Setting
from tray.approvals.consent import ApprovalRequest
from tray.approvals.controls import Controls
from tray.approvals.review import review
from tray.errors import HooktrayError
from tray.language import count, phrase, say
from tray.web.review_diff import FileDiff, hook_id, review_diff
from tray.web.services import PageServices
from tray.web.templating import sentence
from tray.web.tokens import OneTimeTokens, TokenError

WAY = "page"
CONFIRMATION_LIFETIME = 900.0  # seconds that a confirmation stays good: long enough to read a script
PAUSES: Mapping[str, tuple[float | None, str]] = {
    "30m": (1800.0, phrase("Pause all hooks for 30 minutes?")),
    "1h": (3600.0, phrase("Pause all hooks for 1 hour?")),
    "tomorrow": (None, phrase("Pause all hooks until tomorrow?")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAction:
    """One act on exactly one thing, as it was shown."""

    action: str
    key: str = ""
    digest: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """What a confirmation shows; `yes` is the button's label, `back` where the other one leads."""

    title: str
    button: str
    token: str
    back_link: str
    text: str = ""
    notes: tuple[str, ...] = ()
    changes: tuple[FileDiff, ...] = ()
    digest: str = ""
    is_destructive: bool = True


class PageActions:
    """Asks, and does what was confirmed. Every act goes through the same controls as the menu's."""

    def __init__(self, parts: PageServices) -> None:
        self._services = parts
        self._tokens: OneTimeTokens[PageAction] = OneTimeTokens(CONFIRMATION_LIFETIME)

    def question(self, act: str, target: str) -> PageQuestion | None:
        """The question before an act; None when there is no such act or nothing to do it to."""
        if act == BATCH:
            return self._about_batch(self._services.controls.batch)
        if act in HOOKS:
            one = self.find_hook(target)
            possible_now = possible_actions(one, self._services.controls.state.hooks_off) if one else ()
            return self._about_hook(act, one) if one and act in possible_now else self._about_setting(act, target)
        if act in SWITCH:
            return self._about_switch(act, target)
        if act in REQUESTS:
            return self._about_request(act, target)
        return None

    def confirm(self, token: str) -> PageAction:
        """Do what this slip was written for. Raises HooktrayError when it is void."""
        wish = self._tokens.redeem(token)
        if isinstance(wish, TokenError):
            raise HooktrayError(say(TOKEN_ERRORS[wish]), hint=say("go back, read it again and confirm"))
        ACTIONS[wish.action](self._services.controls, wish)
        return wish

    def perform_immediately(self, act: str) -> bool:
        """What only tightens or quietens needs no confirmation; False when there is no such act."""
        work = IMMEDIATE.get(act)
        if work:
            work(self._services.controls)
        return work is not None

    def find_hook(self, target: str) -> HookState | None:
        return next((one for one in self._services.roster.states if hook_id(one.key) == target), None)

    def pending_settings(self) -> tuple[Setting, ...]:
        return tuple(one for one in self._services.roster.settings() if one.waiting)

    def _about_hook(self, act: str, one: HookState) -> PageQuestion:
        reads = act in ("approve", "deny")
        wish = PageAction(action=act, key=one.key, digest=one.digest if reads else "")
        words = _removal_texts(act) if reads and one.digest == REMOVED else HOOKS[act]
        text = review(one, self._services.copies, os.environ) if one.digest and reads else ""
        return self._question(
            wish, say(words[0], name=one.hook.name), say(words[1]), back=f"/hooks/{hook_id(one.key)}", text=text,
            notes=(say(words[2]), *([sentence(one.health)] if one.health else [])),
            changes=review_diff(one, self._services.copies) if reads else (),
        )  # fmt: skip

    def _about_batch(self, found: ApprovalBatch) -> PageQuestion | None:
        if not found:
            return None
        number = len(found.hooks)
        return self._question(
            PageAction(action=BATCH, digest=found.digest),
            count("Approve {n} unchanged hook?", "Approve {n} unchanged hooks?", number), say("Approve all"),
            back="/hooks", text=render_batch(found, self._services.copies, os.environ), notes=summary_lines(found),
        )  # fmt: skip

    def _about_switch(self, act: str, target: str) -> PageQuestion | None:
        if act == "off":
            return self._question(
                PageAction(action="off"), say("Switch all hooks off?"), say("Switch off"),
                say("No guard runs until you switch them on again. Alerts stay."), back="/switch",
            )  # fmt: skip
        if target not in PAUSES:
            return None
        seconds, words = PAUSES[target]
        return self._question(
            PageAction(action="pause", seconds=seconds), say(words), say("Pause"),
            say("No guard runs until the pause is over. Alerts stay."), back="/switch",
        )  # fmt: skip

    def _about_setting(self, act: str, target: str) -> PageQuestion | None:
        one = next((one for one in self.pending_settings() if hook_id(one.key) == target), None)
        if one is None or act not in ("approve", "deny"):
            return None
        title, word = SETTINGS[act]
        return self._question(
            PageAction(action=act, key=one.key, digest=one.digest), say(title), say(word), back="/hooks",
            text=f"{one.text}\n", notes=(say("It loosens a gate, so it counts only once you have said so."),),
        )  # fmt: skip

    def _about_request(self, act: str, target: str) -> PageQuestion | None:
        request = next((one for one in self._services.controls.requests if one.id == target), None)
        if request is None:
            return None
        undo = request.is_undo and act == "allow"
        title = say("Undo “{what}”?", what=request.summary) if undo else say("{what}?", what=request.summary)
        yes = say(REQUESTS[act][request.is_undo])
        return self._question(
            PageAction(action=act, key=request.id), title, yes, back="/hooks", notes=_request_notes(request)
        )

    def _question(
        self,
        wish: PageAction,
        title: str,
        yes: str,
        *more: str,
        back: str,
        text: str = "",
        notes: tuple[str, ...] = (),
        changes: tuple[FileDiff, ...] = (),
    ) -> PageQuestion:
        return PageQuestion(
            title=title, button=yes, token=self._tokens.issue(wish), back_link=back, text=text, notes=(*more, *notes),
            changes=changes, digest=wish.digest if wish.digest != REMOVED else "",
            is_destructive=wish.action in DESTRUCTIVE,
        )  # fmt: skip


def possible_actions(one: HookState, off: Collection[str] = ()) -> tuple[str, ...]:
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


def _removal_texts(act: str) -> tuple[str, str, str]:
    if act == "approve":
        return (
            phrase("Revoke {name}?"), phrase("Revoke it"),
            phrase("It is no longer declared. Nothing of it runs from then on."),
        )  # fmt: skip
    return (
        phrase("Keep {name}?"), phrase("Keep it"),
        phrase("It is no longer declared; its approved copy goes on running."),
    )  # fmt: skip


def _request_notes(request: ApprovalRequest) -> tuple[str, ...]:
    if request.is_undo:
        return (say("It was done at {who}.", who=request.requester),)
    return (say("Asked by {who}. Allow it only if that was you.", who=request.requester),)


TOKEN_ERRORS: Mapping[TokenError, str] = {
    TokenError.USED: phrase("this confirmation was used already"),
    TokenError.EXPIRED: phrase("this confirmation is too old"),
    TokenError.UNKNOWN: phrase("the tray does not know this confirmation"),
}
BATCH = "batch"  # the act that approves together what was approved before
DESTRUCTIVE = frozenset({"revoke", "deny", "disable", "off", "pause", "allow"})
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
ACTIONS: Mapping[str, Callable[[Controls, PageAction], object]] = {
    "allow": lambda controls, wish: controls.resolve(wish.key, accept=True),
    "approve": lambda controls, wish: controls.approve(wish.key, wish.digest, WAY),
    "batch": lambda controls, wish: controls.approve_batch(wish.digest, WAY),
    "deny": lambda controls, wish: controls.deny(wish.key, wish.digest, WAY),
    "disable": lambda controls, wish: controls.set_hook(wish.key, False, WAY),
    "dismiss": lambda controls, wish: controls.resolve(wish.key, accept=False),
    "enable": lambda controls, wish: controls.set_hook(wish.key, True, WAY),
    "off": lambda controls, wish: controls.set_enabled(False, WAY),
    "pause": lambda controls, wish: controls.pause(wish.seconds, WAY),
    "revoke": lambda controls, wish: controls.revoke(wish.key, WAY),
}
IMMEDIATE: Mapping[str, Callable[[Controls], object]] = {
    "on": lambda controls: controls.set_enabled(True, WAY),
    "resume": lambda controls: controls.resume(WAY),
}
